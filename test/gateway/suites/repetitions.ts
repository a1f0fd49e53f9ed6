import { expect } from 'chai';
import { createClient, type OperationPath, type ReachlineProblem } from '../../../services/client/index.js';
import { endpoints } from '../../../services/gateway/api.js';
import { repetitionOf } from '../../../services/http/idempotency.js';
import { startProxy } from '../../client/proxy.js';
import { callerOf, gatewaySuite, useGateway } from '../../support/gateway.js';

type Json = Record<string, unknown>;

const ids = Array.from({ length: 6 }, (_, index) => `c${index}`);

/** A request of every operation that writes, on the records that each organization gets. */
const BODIES: Record<string, (organization: { keyId: string }) => Json> = {
  '/api/contacts/create': () => ({ audience_id: 'aud_a', first_name: 'New' }),
  '/api/contacts/update': () => ({ contact_id: 'c0', city: 'Oslo' }),
  '/api/contacts/delete': () => ({ contact_ids: ['c0', 'none', 'c1'], return_deleted: true }),
  '/api/imports/undo': () => ({ import_id: 'imp_a' }),
  '/api/contacts/erase': () => ({ contact_id: 'c2' }),
  '/api/audiences/contacts/add': () => ({ audience_id: 'aud_b', contact_id: 'c0' }),
  '/api/audiences/contacts/remove': () => ({ audience_id: 'aud_a', contact_id: 'c0' }),
  '/api/audiences/contacts/add-many': () => ({ audience_id: 'aud_b', filter: {}, return_changed: true }),
  '/api/audiences/contacts/remove-many': () => ({
    ...{ audience_id: 'aud_a', contact_ids: ['c0', 'c5', 'c1'], return_changed: true },
  }),
  '/api/audiences/create': () => ({ name: 'New' }),
  '/api/audiences/update': () => ({ audience_id: 'aud_a', name: 'Other' }),
  '/api/audiences/delete': () => ({ audience_id: 'aud_a', return_deleted: true }),
  '/api/filters/save': () => ({ contacts: { country: 'DE' }, name: 'Germans' }),
  '/api/filters/delete': () => ({ view: 'contacts', name: 'Kept' }),
  '/api/keys/create': () => ({ name: 'CRM', scopes: ['contacts:read'] }),
  '/api/keys/revoke': ({ keyId }) => ({ key_id: keyId }),
};
const writing = endpoints.filter(repetitionOf).map(({ path }) => path);

/** Without values that differ between organizations: ids, times, and random ids and secrets. */
const comparable = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value)
      .replaceAll(/org_\w+/g, 'ORG')
      .replaceAll(/rl_live_\w+/g, 'KEY')
      .replaceAll(/"(con|aud|era)_[0-9a-z]{26}"/g, '"$1"')
      .replaceAll(/"(key_id|created_by)":"\w{8}"/g, '"$1":"ID"')
      .replaceAll(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"TIME"')
      .replaceAll(/"completed_at":(?:null|"TIME")/g, '"completed_at":0')
      .replaceAll(/"[0-9a-f]{64}"/g, '"HASH"'),
  );

/** The body with another valid last text. */
function otherwise(body: Json): Json {
  const [name, text] = Object.entries(body).findLast(
    ([field, value]) => typeof value === 'string' && field !== 'organization_id',
  ) ?? ['contact_ids', undefined];
  return { ...body, [name]: text === undefined ? ['c4'] : `${text}x` };
}

export const repetitions = gatewaySuite('A request that is repeated as its answer was lost', (start) => {
  const gateway = useGateway(undefined, start);
  let organizations = 0;

  async function newOrganization() {
    const organizationId = `org_repeated${organizations++}`;
    const apiKey = await gateway.keyFor(organizationId);
    const { call, ingest } = callerOf(gateway.url, apiKey);
    const ask = async (path: string, body: Json = {}, headers = {}) => {
      const answer = await call(path, { organization_id: organizationId, ...body }, { headers });
      expect(answer.status, answer.text).to.equal(200);
      return answer;
    };
    await ingest('audiences', [
      { id: 'aud_a', name: 'A' },
      { id: 'aud_b', name: 'B' },
    ]);
    await ingest(
      'contacts',
      ids.map((contact_id, index) => ({
        ...{ contact_id, work_emails: [`${contact_id}@person.example`] },
        ...(index < 3 && { import_id: 'imp_a' }),
        audience_ids: index % 2 ? ['aud_a'] : ['aud_a', 'aud_b'],
      })),
    );
    await ask('/api/filters/save', { name: 'Kept', contacts: {} });
    const { api_key } = (await ask('/api/keys/create', { name: 'old', scopes: ['visits:read'] })).body;
    return { organizationId, apiKey, call, ask, keyId: (api_key as { key_id: string }).key_id };
  }
  type Organization = Awaited<ReturnType<typeof newOrganization>>;

  /** Everything that the operations write. */
  async function everything({ ask }: Organization): Promise<unknown> {
    const lists = [
      '/api/contacts/search',
      '/api/audiences/search',
      '/api/keys/list',
      '/api/contacts/erasures',
    ];
    const answers = await Promise.all(lists.map(async (path) => (await ask(path)).body));
    const filters = (await ask('/api/filters/list', { view: 'contacts' })).body;
    return comparable([...answers, filters]);
  }

  it('is tried of every operation that writes', () => {
    expect(Object.keys(BODIES)).to.have.members(writing);
  });

  for (const path of writing) {
    it(`has one effect, and the answer that was lost: ${path}`, async () => {
      const bodyOf = BODIES[path] ?? expect.fail('there is no request of this operation');
      const plain = await newOrganization();
      const direct = await plain.ask(path, bodyOf(plain));
      const cut = await newOrganization();
      const proxy = await startProxy(gateway.url, ['cut after', 'cut after']);
      const client = createClient({ ...cut, url: proxy.url });
      const body = bodyOf(cut) as never;
      const answer = await client.call(path as OperationPath, body).finally(() => proxy.close());
      expect(proxy.seen.map(({ headers }) => headers['idempotency-key'])).to.have.length(3);
      expect(comparable(answer)).to.deep.equal(comparable(direct.body));
      expect(await everything(cut)).to.deep.equal(await everything(plain));
      if (path !== '/api/keys/create') return;
      const { key } = answer as { key: string };
      expect(
        (
          await callerOf(gateway.url, key).call('/api/contacts/search', {
            organization_id: cut.organizationId,
          })
        ).status,
      ).to.equal(200);
    });

    it(`is replayed with its key, in its organization, with its body: ${path}`, async () => {
      const bodyOf = BODIES[path] ?? expect.fail('there is no request of this operation');
      const [one, other] = [await newOrganization(), await newOrganization()];
      const headers = { 'Idempotency-Key': 'a-key-that-nobody-guesses' };
      const first = await one.ask(path, bodyOf(one), headers);
      const again = await one.ask(path, bodyOf(one), headers);
      expect(first.headers.has('Idempotency-Replayed')).to.equal(false);
      expect(again.headers.get('Idempotency-Replayed')).to.equal('true');
      expect(again.text).to.equal(first.text);
      const elsewhere = await other.ask(path, bodyOf(other), headers);
      expect(elsewhere.headers.has('Idempotency-Replayed')).to.equal(false);
      expect(comparable(elsewhere.body)).to.deep.equal(comparable(first.body));
      expect(await everything(one)).to.deep.equal(await everything(other));
      const body = { ...bodyOf(one), organization_id: one.organizationId };
      const reused = await one.call(path, otherwise(body), { headers });
      expect(reused.body, reused.text).to.include({ code: 'idempotency_key_reused' });
    });
  }

  it('needs a key that nobody guesses where the answer has a secret', async () => {
    const { organizationId, call } = await newOrganization();
    const headers = { 'Idempotency-Key': 'short' };
    const body = { organization_id: organizationId, scopes: ['contacts:read'] };
    const answer = await call('/api/keys/create', body, { headers });
    expect(answer.status, answer.text).to.equal(422);
    expect((answer.body.errors as Json[])[0]).to.include({ code: 'invalid_idempotency_key' });
  });

  it('is told as unknown once no attempt was answered', async () => {
    const { organizationId, apiKey } = await newOrganization();
    const fault = async (path: OperationPath, body: object) => {
      const proxy = await startProxy(gateway.url, ['cut after', 'cut after']);
      const client = createClient({ url: proxy.url, apiKey, organizationId, maxAttempts: 2 });
      const failed = client.call(path, body as never).then(
        () => expect.fail('it was answered'),
        (error: unknown) => error as ReachlineProblem,
      );
      return failed.finally(() => proxy.close());
    };
    expect(await fault('/api/keys/create', { scopes: ['contacts:read'] })).to.include({
      ...{ name: 'ConnectionError', outcomeUnknown: true },
    });
    expect(await fault('/api/contacts/search', {})).to.include({
      ...{ name: 'ConnectionError', outcomeUnknown: false },
    });
  });
});
