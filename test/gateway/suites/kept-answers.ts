import { expect } from 'chai';
import { type Answer, gatewaySuite, useGateway } from '../../support/gateway.js';

const remaining = ({ headers }: Answer) => Number(/r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1]);

export const keptAnswers = gatewaySuite(
  'The answers that an organization keeps by idempotency keys',
  (start) => {
    const LIMIT = 100;
    const gateway = useGateway(undefined, () => start({ rateLimit: LIMIT }));

    it('cost a request for each KiB, so that their number of bytes has a bound; a replay costs one', async () => {
      const organization = { organization_id: 'org_a' };
      const { call } = gateway;
      await call('/api/audiences/create', { ...organization, id: 'aud', name: 'A' });
      const emails = Array.from(
        { length: 50 },
        (_, index) => `${'x'.repeat(60)}@${'y'.repeat(60)}.${'z'.repeat(60)}.a${index}.example`,
      );
      const contact = { ...organization, audience_id: 'aud', first_name: 'Ann', work_emails: emails };
      const headers = { 'Idempotency-Key': 'kept' };
      const made = await call('/api/contacts/create', contact, { headers });
      expect(made.status, made.text).to.equal(200);
      const kib = Math.ceil(made.text.length / 1024);
      expect(kib).to.be.greaterThan(8);
      const again = await call('/api/contacts/create', contact, { headers });
      expect(again.text).to.equal(made.text);
      // The bucket is refilled by two tokens a second meanwhile.
      const left = remaining(again);
      expect(left).to.be.lessThan(LIMIT - kib);

      let kept = kib;
      for (let round = 0; ; round++) {
        const answer = await call('/api/contacts/create', contact, {
          headers: { 'Idempotency-Key': `k${round}` },
        });
        if (answer.status === 429) break;
        expect(answer.status, answer.text).to.be.oneOf([200, 409]);
        kept += kib;
        expect(kept, 'KiB kept').to.be.lessThan(20 * LIMIT);
      }
    });
  },
);
