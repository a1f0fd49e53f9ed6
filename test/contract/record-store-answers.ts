import { expect } from 'chai';
import type { AnswerClaim, ClaimedAnswer } from '../../services/shared/idempotency.js';
import { DAY_MS } from '../../services/shared/time.js';
import { useOpened } from '../support/opened.js';
import { freshOrganization, load, type Open, T0, useClock } from './record-store-support.js';

export function recordStoreAnswers(open: Open): void {
  describe('answers that are kept apart from what was written (contract 3.4)', () => {
    let organization: string;
    let now = T0;
    const opened = useOpened(() => open());
    useClock(opened, () => now);
    beforeEach(() => {
      organization = freshOrganization();
    });

    const request = (key = 'k', fingerprint = 'f', organizationId = organization) => ({
      organizationId,
      idempotency: { route: '/api/contacts/delete', key, fingerprint },
    });
    const claim = (...of: Parameters<typeof request>) => opened.store.claimAnswer(request(...of));
    const claimed = (found: AnswerClaim): ClaimedAnswer => {
      if (found.kind !== 'claimed') expect.fail(`the key is ${found.kind}`);
      return found.claim;
    };

    it('one attempt has the key, and its answer is the answer of those behind it, in every process', async () => {
      const other = await opened.another();
      const attempts = await Promise.all([claim(), claim(), claim()]);
      expect(attempts.map(({ kind }) => kind).sort()).to.deep.equal([
        'claimed',
        'idempotency_in_progress',
        'idempotency_in_progress',
      ]);
      const own = attempts.find(({ kind }) => kind === 'claimed') as AnswerClaim;
      await claimed(own).keep({ sealed: 'c2VhbGVk', shown: [] });
      for (const store of [opened.store, other])
        expect(await store.claimAnswer(request())).to.deep.equal({ kind: 'kept', sealed: 'c2VhbGVk' });
      expect(await claim('k', 'g')).to.deep.equal({ kind: 'idempotency_key_reused' });
      await claimed(await claim('k', 'g', freshOrganization())).release();
      await claimed(await claim('l')).release();
      await other.close();
    });

    it('a key is free again where nothing was written, and after a day', async () => {
      await claimed(await claim()).release();
      await claimed(await claim('k', 'g')).keep({ sealed: 'YQ==', shown: [] });
      now += DAY_MS - 1000;
      expect(await claim('k', 'g')).to.deep.include({ kind: 'kept' });
      now += 2000;
      await claimed(await claim('k', 'h')).release();
    });

    it('an attempt that ends without an answer leaves the outcome unknown, as a process does that ends before it', async () => {
      await claimed(await claim()).leave();
      for (let attempt = 0; attempt < 2; attempt++)
        expect(await claim()).to.deep.equal({ kind: 'outcome_unknown' });
      const other = await opened.another();
      claimed(await other.claimAnswer(request('crash')));
      await other.close();
      now += 60_000;
      for (let attempt = 0; attempt < 2; attempt++)
        expect(await claim('crash')).to.deep.equal({ kind: 'outcome_unknown' });
    });

    it('an erasure deletes the answers that show the person, and no others', async () => {
      const email = `ann.${organization}@person.example`;
      await load(opened.store, organization, [{ work_emails: [email] }, {}]);
      await claimed(await claim('by id')).keep({ sealed: 'YQ==', shown: [{ kind: 'id', value: 'c0' }] });
      await claimed(await claim('by email')).keep({
        ...{ sealed: 'YQ==', shown: [{ kind: 'email', value: email }] },
      });
      await claimed(await claim('other')).keep({ sealed: 'YQ==', shown: [{ kind: 'id', value: 'c1' }] });
      const { proof } = await opened.store.eraseContacts({
        ...{ organizationId: organization, proofId: `${organization}_era`, keyId: 'k' },
        named: [{ kind: 'email', value: email }],
      });
      expect(proof.removed.idempotency_answers).to.equal(2);
      expect(await claim('other')).to.deep.include({ kind: 'kept' });
      for (const key of ['by id', 'by email']) await claimed(await claim(key)).release();
      // A response that comes while the person is suppressed.
      await claimed(await claim('late')).keep({ sealed: 'YQ==', shown: [{ kind: 'email', value: email }] });
      expect((await claim('late')).kind).not.to.equal('kept');
    });
  });
}
