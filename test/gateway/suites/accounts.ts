import { expect } from 'chai';
import { issueKey, MAX_ANCESTORS, makeKey, parseKey, RUN_KEY_NAME } from '../../../services/accounts/keys.js';
import { type Answer, gatewaySuite, useGateway } from '../../support/gateway.js';
import { responseCheck } from '../../support/schema-check.js';
import { until } from '../../support/until.js';

type Body = Record<string, unknown>;
interface Status {
  organization_id: string;
  streams: Record<string, Body>;
  stores: object;
  version: string;
}
interface ListedKey {
  key_id: string;
  name: string | null;
  scopes: string[];
  revoked_at: string | null;
}

export const accounts = gatewaySuite('The keys and credits of an organization', (start) => {
  const gateway = useGateway(undefined, start);

  async function ask(path: string, key: string, body: Body = {}): Promise<Answer['body']> {
    const answer = await gateway.call(path, body, { key });
    expect(answer.status, answer.text).to.equal(200);
    expect(responseCheck.get(path)?.(answer.body)).to.deep.equal([]);
    return answer.body;
  }

  async function keysOf(key: string, body: Body = {}): Promise<ListedKey[]> {
    const { keys, total_count } = await ask('/api/keys/list', key, body);
    if (Object.keys(body).length === 0) expect(keys).to.have.lengthOf(total_count as number);
    return keys as ListedKey[];
  }

  it('are made, listed without their secrets, and revoked', async () => {
    const admin = await gateway.keyFor('org_keys', ['keys:write', 'contacts:read']);
    const request = { name: 'Export', scopes: ['contacts:read'], expires_at: '2999-01-01T00:00:00Z' };
    const made = await ask('/api/keys/create', admin, request);
    const { key, api_key } = made as { key: string; api_key: ListedKey & { expires_at: string } };
    expect(api_key).to.include({ name: 'Export', revoked_at: null, expires_at: '2999-01-01T00:00:00.000Z' });
    const described = await gateway.call('/api/key', undefined, { key, method: 'GET' });
    expect(described.body).to.deep.include({ key_id: api_key.key_id, scopes: ['contacts:read'] });

    const [newest, ...others] = await keysOf(admin);
    expect(newest).to.include({ key_id: api_key.key_id }).and.not.to.have.any.keys('secret_hash', 'key');
    expect(others).to.have.lengthOf(1);

    const revoked = await ask('/api/keys/revoke', admin, { key_id: api_key.key_id });
    const again = await ask('/api/keys/revoke', admin, { key_id: api_key.key_id });
    const moment = (answer: Body) => (answer.api_key as ListedKey).revoked_at;
    expect(moment(revoked)).to.be.a('string');
    expect(moment(again)).to.equal(moment(revoked));
    expect((await keysOf(admin))[0]).to.include({ key_id: api_key.key_id, revoked_at: moment(revoked) });
  });

  it('are listed page by page, the newest first', async () => {
    const admin = await gateway.keyFor('org_pages', ['keys:write']);
    for (const name of ['a', 'b', 'c', 'd']) {
      await ask('/api/keys/create', admin, { name, scopes: ['keys:write'] });
    }
    const all = await keysOf(admin);
    expect(all.map(({ name }) => name)).to.have.members(['a', 'b', 'c', 'd', null]);
    const paged: ListedKey[] = [];
    let cursor: unknown = null;
    do {
      const page = await ask('/api/keys/list', admin, { limit: 2, cursor });
      paged.push(...(page.keys as ListedKey[]));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(paged).to.deep.equal(all);
  });

  it('are listed without those of past runs of the command line', async () => {
    const { records } = gateway.stores;
    const run = { organizationId: 'org_runs', name: RUN_KEY_NAME };
    await issueKey(records, run);
    await records.revokeKey(parseKey(await issueKey(records, run))?.id as string, new Date().toISOString());
    const names = (await keysOf(await gateway.keyFor('org_runs', ['keys:write']))).map(({ name }) => name);
    expect(names).to.have.members([RUN_KEY_NAME, null]);
    const admin = await gateway.keyFor('org_runs', ['keys:write']);
    const answer = await gateway.call('/api/keys/create', { name: RUN_KEY_NAME }, { key: admin });
    expect((answer.body.errors as Body[])[0]).to.include({ pointer: '/name', code: 'reserved_name' });
  });

  it('give no key more than the key that makes it has', async () => {
    const admin = await gateway.keyFor('org_narrow', ['keys:write', 'contacts:read']);
    for (const [scopes, missing] of [
      [['contacts:erase'], ['contacts:erase']],
      [['*'], ['*']],
      [
        ['contacts:read', 'visits:read', 'ingest:write'],
        ['visits:read', 'ingest:write'],
      ],
    ]) {
      const answer = await gateway.call('/api/keys/create', { scopes }, { key: admin });
      expect(answer.status, answer.text).to.equal(403);
      expect(answer.body).to.deep.include({
        code: 'insufficient_scope',
        required_scope: missing?.[0],
      });
      for (const scope of missing ?? []) expect(answer.body.detail).to.contain(scope);
    }
    const { api_key } = await ask('/api/keys/create', admin);
    expect((api_key as ListedKey).scopes).to.deep.equal(['contacts:read']);
    const past = { expires_at: '2020-01-01T00:00:00Z', scopes: ['contacts:read'] };
    const answer = await gateway.call('/api/keys/create', past, { key: admin });
    expect(answer.body).to.deep.include({ code: 'validation_failed', status: 422 });
    expect((answer.body.errors as Body[])[0]).to.include({ pointer: '/expires_at', code: 'in_the_past' });
  });

  it('end with the key that made them, which they name, unless it is revoked without them', async () => {
    const root = await gateway.keyFor('org_lineage', ['keys:write']);
    const rootId = parseKey(root)?.id as string;
    const make = async (maker: string, body: Body = {}) =>
      (await ask('/api/keys/create', maker, { scopes: ['keys:write'], ...body })) as unknown as {
        key: string;
        api_key: ListedKey & { created_by: string | null; expires_at: string | null };
      };
    const status = async (key: string) =>
      (await gateway.call('/api/key', undefined, { key, method: 'GET' })).status;
    const child = await make(root);
    const grandchild = await make(child.key);
    const sibling = await make(root);
    expect([child, grandchild].map(({ api_key }) => api_key.created_by)).to.deep.equal([
      rootId,
      child.api_key.key_id,
    ]);
    const listed = (await keysOf(root)) as (ListedKey & { created_by: string | null })[];
    expect(listed.find(({ key_id }) => key_id === rootId)).to.include({ created_by: null });
    expect(listed.find(({ key_id }) => key_id === grandchild.api_key.key_id)).to.include({
      created_by: child.api_key.key_id,
    });

    const kept = { key_id: child.api_key.key_id, keep_descendants: true };
    expect(await ask('/api/keys/revoke', root, kept)).to.include({ revoked_descendants: 0 });
    expect(await ask('/api/keys/revoke', grandchild.key, { key_id: rootId })).to.include({
      revoked_descendants: 2,
    });
    const all = [root, child.key, grandchild.key, sibling.key];
    await until(
      async () => (await Promise.all(all.map(status))).every((each) => each === 401),
      'no key of the family works',
    );
    const other = await gateway.keyFor('org_lineage', ['keys:write']);
    const { revoked_at } = (await keysOf(other)).find(({ key_id }) => key_id === rootId) ?? {};
    expect(revoked_at).to.be.a('string');
    const ended = (await keysOf(other)).find(({ key_id }) => key_id === grandchild.api_key.key_id);
    expect(ended).to.include({ revoked_at });
  });

  it('are made by no key that is revoked, also while the gateway still takes it', async () => {
    const { records } = gateway.stores;
    for (const keepDescendants of [true, false]) {
      const maker = await gateway.keyFor('org_late', ['keys:write']);
      const create = () => gateway.call('/api/keys/create', { scopes: ['keys:write'] }, { key: maker });
      expect((await create()).status).to.equal(200);
      const { total } = await records.listKeys({ organizationId: 'org_late', limit: 1, now: Date.now() });
      await records.revokeKey(parseKey(maker)?.id as string, new Date().toISOString(), keepDescendants);
      const { status, body } = await create();
      expect({ status, code: body.code }).to.deep.equal({ status: 401, code: 'invalid_api_key' });
      const after = await records.listKeys({ organizationId: 'org_late', limit: 1, now: Date.now() });
      expect(after.total).to.equal(total);
    }
  });

  it('expire with the key that made them at the latest', async () => {
    const { records } = gateway.stores;
    const expiresAt = '2999-01-01T00:00:00.000Z';
    const request = { organizationId: 'org_expiry', scopes: ['keys:write'], expiresAt };
    const maker = await issueKey(records, request);
    const asked = (body: Body) =>
      gateway.call('/api/keys/create', { scopes: ['keys:write'], ...body }, { key: maker });
    const expiry = async (body: Body) => ((await asked(body)).body.api_key as Body).expires_at;
    expect(await expiry({})).to.equal(expiresAt);
    expect(await expiry({ expires_at: null })).to.equal(expiresAt);
    expect(await expiry({ expires_at: '2998-12-31T00:00:00Z' })).to.equal('2998-12-31T00:00:00.000Z');
    const later = await asked({ expires_at: '2999-01-01T00:00:00.001Z' });
    expect(later.status).to.equal(422);
    expect((later.body.errors as Body[])[0]).to.include({ pointer: '/expires_at', code: 'after_maker' });
  });

  it('are made with a scope at least, and in a chain of a bounded length', async () => {
    const maker = await gateway.keyFor('org_scopeless', ['keys:write']);
    for (const body of [{}, { scopes: [] }, { scopes: null }]) {
      const answer = await gateway.call('/api/keys/create', body, { key: maker });
      expect(answer.status, JSON.stringify(body)).to.equal(422);
      expect((answer.body.errors as Body[])[0]).to.include({ pointer: '/scopes', code: 'too_few_items' });
    }
    const ancestors = Array.from({ length: MAX_ANCESTORS }, (_, index) => `older${index}`);
    const { key, stored } = makeKey({ organizationId: 'org_scopeless', scopes: ['keys:write'] });
    await gateway.stores.records.insertKey({ ...stored, ancestors });
    const answer = await gateway.call('/api/keys/create', { scopes: ['keys:write'] }, { key });
    expect((answer.body.errors as Body[])[0]).to.include({ code: 'too_many_ancestors' });
  });

  it('stay those of one organization', async () => {
    const ours = await gateway.keyFor('org_ours', ['keys:write']);
    const theirs = await gateway.keyFor('org_theirs', ['keys:write']);
    const [own] = await keysOf(ours);
    const answer = await gateway.call('/api/keys/revoke', { key_id: own?.key_id }, { key: theirs });
    expect(answer.status).to.equal(404);
    expect(answer.body).to.include({ code: 'key_not_found' });
    expect((await keysOf(ours))[0]).to.include({ revoked_at: null });
    expect(await keysOf(theirs)).to.have.lengthOf(1);
  });

  it('tell the balance of a metered organization', async () => {
    const key = await gateway.keyFor('org_metered', ['contacts:read']);
    expect(await ask('/api/credits/get', key)).to.include({ credit_balance: null });
    await gateway.stores.records.setCredits('org_metered', 7);
    expect(await ask('/api/credits/get', key)).to.include({ credit_balance: 7 });
  });

  it('show what ingest rejected, to that organization alone', async () => {
    const key = await gateway.keyFor('org_rejected', ['ingest:write']);
    await gateway.ingest('contacts', [{ contact_id: 'c' }, { contact_id: '!' }], { key });
    await gateway.ingest('audiences', [{ id: 'a' }], { key });
    const list = async (body: Body = {}) =>
      (await ask('/api/rejections/list', key, body)).rejections as Body[];
    expect(await list()).to.have.lengthOf(2);
    const [contact, ...others] = await list({ stream: 'contacts' });
    expect(others).to.deep.equal([]);
    expect(contact).to.include({ stream: 'contacts', line: 2, pointer: '/contact_id' });
    expect(contact).not.to.have.any.keys('organization_id', 'sequence');
    expect(await list({ limit: 1 })).to.have.lengthOf(1);
    const other = await gateway.keyFor('org_b', ['ingest:write']);
    expect(await ask('/api/rejections/list', other)).to.include({ total_count: 0 });
  });

  it('come with a status that names the ingested records, of that organization alone', async () => {
    const startedAt = Date.now();
    const createdAt = '2026-11-05T10:00:00.000Z';
    await gateway.ingest('contacts', [{ contact_id: 'c1' }, { contact_id: 'c2' }, { contact_id: '!' }]);
    await gateway.ingest('website-visits', [{ id: 'v', createdAt }]);
    const delivery = { campaign_id: 'cam', creative_id: 'cre', date: '2026-11-01', impressions: 1 };
    await gateway.ingest('network-a-deliveries', [delivery, { ...delivery, clicks: 1 }]);
    const { streams, stores, version } = (await ask('/api/status', gateway.key)) as unknown as Status;
    const records = Object.fromEntries(
      Object.entries(streams).map(([name, stream]) => [name, stream.records]),
    );
    expect(records).to.deep.equal({
      contacts: 2,
      audiences: 0,
      'website-visits': 1,
      'network-a-campaigns': 0,
      'network-a-creatives': 0,
      'network-a-companies': 0,
      'network-a-deliveries': 1,
      'currency-rates': 0,
    });
    for (const name of ['contacts', 'website-visits', 'network-a-deliveries']) {
      expect(Date.parse(streams[name]?.last_accepted_at as string), name).to.be.within(startedAt, Date.now());
    }
    expect(streams.audiences?.last_accepted_at).to.equal(null);
    expect(streams['website-visits']?.last_created_at).to.equal(createdAt);
    expect(streams['network-a-deliveries']).to.include({ last_date: '2026-11-01' });
    expect(streams['network-a-deliveries']?.provisional_from).to.match(/^\d{4}-\d\d-\d\d$/);
    expect(stores).to.deep.equal({ records: 'ok', analytics: 'ok' });
    expect(version).to.match(/^\d+\.\d+\.\d+/);

    const key = await gateway.keyFor('org_b', ['ingest:write']);
    const other = (await ask('/api/status', key)) as unknown as Status;
    expect(other.organization_id).to.equal('org_b');
    for (const stream of Object.values(other.streams)) {
      expect(stream).to.include({ records: 0, last_accepted_at: null });
    }
  });
});
