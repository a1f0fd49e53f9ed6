import { expect } from 'chai';
import { gatewaySuite, useGateway } from '../../support/gateway.js';
import { Random, runs, SEED } from '../../support/random.js';

const LISTS: [path: string, body: object][] = [
  ['/api/contacts/search', {}],
  ['/api/contacts/search', { sort_by: 'updated_at' }],
  ['/api/contacts/search', { sort_by: 'last_name' }],
  ['/api/contacts/search', { sort_by: 'company_name', sort_direction: 'desc' }],
  ['/api/contacts/search', { query: 'ann lee' }],
  ['/api/contacts/search', { query: 'ann lee zzzz', match: 'best' }],
  ['/api/audiences/contacts/search', { audience_id: 'aud' }],
  ['/api/website-visits/search', {}],
  ['/api/contacts/erasures', {}],
  ['/api/keys/list', {}],
  ['/api/rejections/list', {}],
  ['/api/advertising/network_a/records', { stream: 'network-a-deliveries' }],
];

const EXTREMES = [
  ...[
    0,
    1,
    -1,
    0.5,
    2 ** 31,
    2 ** 53 - 1,
    1 - 2 ** 53,
    2 ** 63,
    8.64e15,
    8.64e15 + 1,
    -8.64e15,
    253402300800000,
  ],
  ...['', 'x', "'", '\u0000', '\ud800', 'a'.repeat(900), '{"a":1}', null, true, [], {}],
  ...[
    { sorted: null },
    { sorted: 8.64e15 },
    { sorted: 'z\u0000' },
    { sorted: 1, other: 1 },
    { fallback: true },
    { fallback: 0 },
    { fallback: 9 },
  ],
  ...[{ partial: { weight: 17, weights: [17, 0] } }, { partial: { weight: 1, weights: [] } }],
];

export const cursors = gatewaySuite('A forged cursor', (start) => {
  const gateway = useGateway(async ({ ingest, keyFor, call }) => {
    await keyFor('org_a');
    const contacts = Array.from({ length: 7 }, (_, index) => ({
      ...{ contact_id: `c${index}`, first_name: 'Ann', last_name: 'Lee', audience_ids: ['aud'] },
      ...{ work_emails: [`c${index}@x.example`] },
    }));
    await ingest('audiences', [{ id: 'aud', name: 'Aud' }]);
    await ingest('contacts', contacts);
    await ingest('contacts', [{ contact_id: 5 }, { contact_id: 6 }]);
    const visit = (id: string) => ({ id, createdAt: '2026-11-05T00:00:00Z' });
    const days = ['2026-11-05', '2026-11-06', '2026-11-07'];
    await ingest(
      'network-a-deliveries',
      days.map((date) => ({ date, campaign_id: 'm1', creative_id: 'k1' })),
    );
    await ingest('website-visits', ['v1', 'v2', 'v3'].map(visit));
    for (const contact_id of ['c5', 'c6'])
      await call('/api/contacts/erase', { organization_id: 'org_a', contact_id });
  }, start);

  it(`is refused at /cursor, or answered as a place in the list, whatever it holds (seed ${SEED})`, async () => {
    const random = new Random(SEED);
    const statuses = new Map<number, number>();
    for (const [path, filters] of LISTS) {
      const body = { organization_id: 'org_a', ...filters, limit: 1 };
      const first = await gateway.call(path, body);
      expect(first.status, `${path} ${first.text}`).to.equal(200);
      const { next_cursor } = first.body as { next_cursor: string };
      expect(next_cursor, `${path} ${JSON.stringify(filters)}`).to.be.a('string');
      const issued = JSON.parse(Buffer.from(next_cursor, 'base64url').toString()) as unknown[];
      expect((await gateway.call(path, { ...body, cursor: next_cursor })).status).to.equal(200);
      for (let run = 0; run < runs(15); run++) {
        const fields = issued.map((field, index) =>
          index > 0 && random.chance(0.4) ? random.pick(EXTREMES) : field,
        );
        if (random.chance(0.3)) fields.push(random.pick(EXTREMES));
        const cursor = Buffer.from(JSON.stringify(fields)).toString('base64url');
        if (cursor.length > 2048) continue;
        const answer = await gateway.call(path, { ...body, cursor });
        const sent = `${path} ${JSON.stringify(filters)} ${JSON.stringify(fields).slice(0, 200)}: ${answer.text}`;
        expect(answer.status, sent).to.be.oneOf([200, 422]);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        if (answer.status !== 422) continue;
        const errors = answer.body.errors as { code: string; pointer: string }[];
        expect(errors, sent).to.have.lengthOf(1);
        expect(errors[0], sent).to.include({ code: 'invalid_cursor', pointer: '/cursor' });
      }
    }
    expect(statuses.get(200), 'answered').to.be.greaterThan(0);
    expect(statuses.get(422), 'refused').to.be.greaterThan(0);
  });

  it('of another organization is refused', async () => {
    const key = await gateway.keyFor('org_b');
    for (const [path, filters] of LISTS) {
      const body = { ...filters, limit: 1 };
      const { next_cursor: cursor } = (await gateway.call(path, { ...body, organization_id: 'org_a' })).body;
      const answer = await gateway.call(path, { ...body, organization_id: 'org_b', cursor }, { key });
      const { errors } = answer.body as { errors: object[] };
      expect(answer.status, answer.text).to.equal(422);
      expect(errors[0]).to.include({ code: 'cursor_mismatch', pointer: '/cursor' });
    }
  });
});
