import { expect } from 'chai';
import fc from 'fast-check';
import { gatewaySuite, type TestGateway } from '../../support/gateway.js';
import { runs, SEED } from '../../support/random.js';

type Json = Record<string, unknown>;

/** `?import_id=` and `?audience_id=` of ingest, `imports/list` and `imports/undo` (contract 6.2h). */
export const imports = gatewaySuite('Imports of contacts', (start) => {
  let gateway: TestGateway;
  let organizations = 0;
  before(async function () {
    this.timeout(60_000);
    gateway = await start();
  });
  after(() => gateway.close());

  /** An organization without contacts. */
  async function newOrganization() {
    organizations++;
    const organization_id = `org_imports_${organizations}`;
    const key = await gateway.keyFor(organization_id);
    const ask = async (path: string, body: object = {}, options: { key?: string } = {}) =>
      (await gateway.call(path, { organization_id, ...body }, { key, ...options })).body as Json;
    const load = async (query: string, records: readonly object[]) => {
      const raw = records.map((record) => JSON.stringify(record)).join('\n');
      const headers = { 'Content-Type': 'application/x-ndjson' };
      const answer = await gateway.call(`/api/ingest/contacts${query}`, undefined, { key, raw, headers });
      return { status: answer.status, ...(answer.body as Json) } as Json;
    };
    const undo = async (import_id: string) => {
      const total = { deleted: 0, left: 0 };
      let cursor: unknown;
      do {
        const answer = await ask('/api/imports/undo', { import_id, ...(cursor ? { cursor } : {}) });
        expect(answer, JSON.stringify(answer)).to.have.property('next_cursor');
        total.deleted += Number(answer.deleted_count);
        total.left += Number(answer.left_count);
        cursor = answer.next_cursor;
      } while (cursor);
      return total;
    };
    const list = async () =>
      ((await ask('/api/imports/list')).imports as Json[]).map((each) => [
        each.import_id,
        each.contacts_count,
        each.unchanged_count,
      ]);
    const all = async () => {
      const { contacts } = await ask('/api/contacts/search', { limit: 1000 });
      const found = contacts as { contact_id: string; data_import_id: string; audience_ids: string[] }[];
      return found.sort((a, b) => (a.contact_id < b.contact_id ? -1 : 1));
    };
    const ids = async () => (await all()).map(({ contact_id }) => contact_id);
    return { organization_id, key, ask, load, undo, list, all, ids };
  }

  const rows = (...ids: string[]) =>
    ids.map((id) => ({ contact_id: id, work_emails: [`${id}@acme.example`] }));

  it('names the contacts that the request creates, and none that exists', async () => {
    const { load, all, list } = await newOrganization();
    await load('', rows('old'));
    await load('', [{ contact_id: 'other', data_import_id: 'crm' }]);
    const answer = await load('?import_id=webinar', [
      ...rows('new'),
      { contact_id: 'old', city: 'Oslo', data_import_id: 'webinar' },
      { contact_id: 'other', city: 'Oslo', data_import_id: 'webinar' },
      { contact_id: 'own', data_import_id: 'mine' },
    ]);
    expect(answer).to.include({ status: 200, accepted: 4, rejected: 0 });
    const found = await all();
    expect(found.map(({ contact_id, data_import_id }) => [contact_id, data_import_id])).to.deep.equal([
      ['new', 'webinar'],
      ['old', null],
      ['other', 'crm'],
      ['own', 'webinar'],
    ]);
    expect(Object.keys(found[0] as object)).not.to.include('import_id');
    expect(await list()).to.deep.equal([
      ['webinar', 2, 2],
      ['crm', 1, 0],
    ]);
  });

  it('adds all contacts of a request to an audience', async () => {
    const { ask, load, all } = await newOrganization();
    const { audience_id } = await ask('/api/audiences/create', { name: 'Webinar' });
    await load('', rows('old'));
    await load('', [{ contact_id: 'twin', work_emails: ['twin@acme.example'] }]);
    const answer = await load(`?audience_id=${audience_id}&on_duplicate=update`, [
      ...rows('new', 'old'),
      { contact_id: 'crm-7', work_emails: ['TWIN@acme.example'] },
    ]);
    expect(answer).to.include({ accepted: 3, created: 1, updated: 1, matched: 1 });
    expect((await all()).map(({ contact_id, audience_ids }) => [contact_id, ...audience_ids])).to.deep.equal(
      ['new', 'old', 'twin'].map((id) => [id, audience_id]),
    );
  });

  it('stores nothing if the audience is unknown, in a dry run too', async () => {
    const { load, all } = await newOrganization();
    for (const query of ['?audience_id=nowhere', '?audience_id=nowhere&dry_run=true']) {
      expect(await load(query, rows('a'))).to.include({
        status: 404,
        code: 'audience_not_found',
        audience_id: 'nowhere',
      });
    }
    expect(await all()).to.deep.equal([]);
  });

  it('takes both parameters for contacts only, and an audience only from who may write audiences', async () => {
    const { key, organization_id, ask } = await newOrganization();
    const { audience_id } = await ask('/api/audiences/create', { name: 'Webinar' });
    for (const [name, value] of Object.entries({ import_id: 'x', audience_id: String(audience_id) })) {
      const answer = await gateway.ingest('audiences', [{ id: 'a', name: 'A' }], { key });
      expect(answer.status).to.equal(200);
      const options = {
        key,
        raw: '{"id":"b","name":"B"}',
        headers: { 'Content-Type': 'application/x-ndjson' },
      };
      const refused = await gateway.call(`/api/ingest/audiences?${name}=${value}`, undefined, options);
      expect(refused.status).to.equal(422);
      expect((refused.body.errors as Json[])[0]).to.include({ pointer: `?${name}`, code: 'not_for_stream' });
    }
    const sender = await gateway.keyFor(organization_id, ['ingest:write']);
    const options = {
      key: sender,
      raw: '{"contact_id":"c"}',
      headers: { 'Content-Type': 'application/x-ndjson' },
    };
    const refused = await gateway.call(`/api/ingest/contacts?audience_id=${audience_id}`, undefined, options);
    expect(refused.body).to.include({ code: 'insufficient_scope', required_scope: 'audiences:write' });
    expect((await gateway.call('/api/ingest/contacts?import_id=x', undefined, options)).status).to.equal(200);
    const reader = await gateway.keyFor(organization_id, ['contacts:read']);
    expect(await ask('/api/imports/undo', { import_id: 'x' }, { key: reader })).to.include({
      code: 'insufficient_scope',
      required_scope: 'contacts:write',
    });
    expect(await ask('/api/imports/list', {}, { key: sender })).to.include({
      code: 'insufficient_scope',
      required_scope: 'contacts:read',
    });
  });

  it('undo deletes what the import created and leaves what anybody has changed', async () => {
    const { ask, load, undo, list, ids } = await newOrganization();
    await gateway.stores.records.setCredits(`org_imports_${organizations}`, 7);
    const { audience_id } = await ask('/api/audiences/create', { name: 'Webinar' });
    await load('', rows('before'));
    await load(
      `?import_id=webinar&audience_id=${audience_id}`,
      rows('before', 'plain', 'edited', 'joined', 'left', 'synced', 'again', 'deleted'),
    );
    await ask('/api/contacts/update', { contact_id: 'edited', city: 'Oslo' });
    const { audience_id: other } = await ask('/api/audiences/create', { name: 'Customers' });
    await ask('/api/audiences/contacts/add', { audience_id: other, contact_id: 'joined' });
    await ask('/api/audiences/contacts/remove-many', { audience_id, contact_ids: ['left'] });
    await load('', [{ contact_id: 'synced', city: 'Oslo' }]);
    await load('?import_id=another', rows('again'));
    await ask('/api/contacts/delete', { contact_id: 'deleted' });
    expect(await list()).to.deep.equal([['webinar', 6, 1]]);
    expect(await undo('webinar')).to.deep.equal({ deleted: 1, left: 5 });
    expect(await ids()).to.deep.equal(['again', 'before', 'edited', 'joined', 'left', 'synced']);
    expect(await undo('webinar')).to.deep.equal({ deleted: 0, left: 5 });
    expect(await undo('another')).to.deep.equal({ deleted: 0, left: 0 });
    expect(await undo('never')).to.deep.equal({ deleted: 0, left: 0 });
    expect(await ask('/api/credits/get')).to.include({ credit_balance: 7 });
  });

  it('undo counts an edit that was taken back as a change', async () => {
    const { ask, load, undo } = await newOrganization();
    await load('?import_id=webinar', [{ contact_id: 'a', city: 'Oslo' }]);
    await ask('/api/contacts/update', { contact_id: 'a', city: 'Bergen' });
    await ask('/api/contacts/update', { contact_id: 'a', city: 'Oslo' });
    expect(await undo('webinar')).to.deep.equal({ deleted: 0, left: 1 });
  });

  it('undo deletes contacts of rows with times of their own, which no clock tells from a change', async () => {
    const { ask, load, undo, ids } = await newOrganization();
    const times = { created_at: '2020-01-01T00:00:00Z', updated_at: '2021-01-01T00:00:00Z' };
    const same = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' };
    const soon = { updated_at: new Date(Date.now() + 3_600_000).toISOString() };
    const { audience_id } = await ask('/api/audiences/create', { name: 'Customers' });
    await load('?import_id=webinar', [
      { contact_id: 'old', ...times },
      { contact_id: 'same', ...same },
      { contact_id: 'soon', ...soon },
      { contact_id: 'joined-soon', ...soon },
    ]);
    await load('', [{ contact_id: 'same', ...same, city: 'Oslo' }]);
    await ask('/api/audiences/contacts/add', { audience_id, contact_id: 'joined-soon' });
    expect(await undo('webinar')).to.deep.equal({ deleted: 2, left: 2 });
    expect(await ids()).to.deep.equal(['joined-soon', 'same']);
  });

  it('rows of the same import, sent again or for the same person, change nothing for undo', async () => {
    const { load, undo, ids } = await newOrganization();
    const again = [...rows('a', 'b'), { contact_id: 'a', city: 'Oslo' }];
    await load('?import_id=webinar', again);
    await load('?import_id=webinar', again);
    await load('?import_id=webinar&on_duplicate=update', [
      { contact_id: 'crm-7', work_emails: ['b@acme.example'], city: 'Rome' },
    ]);
    expect(await undo('webinar')).to.deep.equal({ deleted: 2, left: 0 });
    expect(await ids()).to.deep.equal([]);
  });

  it('a contact that is restored after its deletion is not what the import created', async () => {
    const { ask, load, undo } = await newOrganization();
    await load('?import_id=webinar', rows('a'));
    const { deleted_contacts } = await ask('/api/contacts/delete', { contact_id: 'a', return_deleted: true });
    const [{ updated_at: _, ...deleted }] = deleted_contacts as [Json];
    await load('', [deleted]);
    expect(await undo('webinar')).to.deep.equal({ deleted: 0, left: 1 });
  });

  it('rows that are loaded again after undo are stored, although their times are older than the undo', async () => {
    const { load, undo, ids } = await newOrganization();
    const dated = rows('a', 'b').map((row) => ({ ...row, updated_at: '2026-01-01T00:00:00Z' }));
    await load('?import_id=crm', dated);
    expect(await undo('crm')).to.deep.equal({ deleted: 2, left: 0 });
    expect(await load('?import_id=crm', dated)).to.include({ accepted: 2, stale: 0 });
    expect(await ids()).to.deep.equal(['a', 'b']);
    expect(await undo('crm')).to.deep.equal({ deleted: 2, left: 0 });
  });

  it('a record that is too old to change the contact keeps it from undo, unless it is of the import', async () => {
    const { load, undo, ids, list } = await newOrganization();
    await load('?import_id=new', rows('a', 'b', 'c'));
    const old = (id: string) => [{ contact_id: id, city: 'Oslo', updated_at: '2020-01-01T00:00:00Z' }];
    await load('', old('a'));
    await load('?import_id=other', old('b'));
    await load('?import_id=new', old('c'));
    expect(await list()).to.deep.equal([['new', 3, 1]]);
    expect(await undo('new')).to.deep.equal({ deleted: 1, left: 2 });
    expect(await ids()).to.deep.equal(['a', 'b']);
  });

  it('a row with an import_id and a data_import_id moves no contact to another import', async () => {
    const { load, undo, all, list } = await newOrganization();
    await load('?import_id=one', rows('a', 'b'));
    await load('', [
      { contact_id: 'a', import_id: 'one', data_import_id: 'two' },
      { contact_id: 'b', import_id: 'one', data_import_id: null },
      { contact_id: 'c', import_id: 'one', data_import_id: 'two' },
    ]);
    expect((await all()).map((each) => each.data_import_id)).to.deep.equal(['one', 'one', 'one']);
    expect(await list()).to.deep.equal([['one', 3, 3]]);
    expect(await undo('two')).to.deep.equal({ deleted: 0, left: 0 });
    expect(await undo('one')).to.deep.equal({ deleted: 3, left: 0 });
  });

  it('the deletion of an audience is no change of its contacts', async () => {
    const { ask, load, undo } = await newOrganization();
    const { audience_id } = await ask('/api/audiences/create', { name: 'Webinar' });
    await load(`?import_id=webinar&audience_id=${audience_id}`, rows('a', 'b'));
    await ask('/api/audiences/delete', { audience_id });
    expect(await undo('webinar')).to.deep.equal({ deleted: 2, left: 0 });
  });

  it('another organization neither lists nor undoes an import', async () => {
    const ours = await newOrganization();
    await ours.load('?import_id=webinar', rows('a'));
    const other = await newOrganization();
    expect(await other.list()).to.deep.equal([]);
    expect(await other.undo('webinar')).to.deep.equal({ deleted: 0, left: 0 });
    const foreign = { organization_id: ours.organization_id };
    for (const [path, body] of [
      ['/api/imports/list', {}],
      ['/api/imports/undo', { import_id: 'webinar' }],
    ] as const) {
      expect(await other.ask(path, { ...foreign, ...body })).to.include({ code: 'organization_mismatch' });
    }
    expect(await ours.list()).to.deep.equal([['webinar', 1, 1]]);
  });

  it('undoes in steps, whose cursor belongs to the import', async function () {
    this.timeout(60_000);
    const { ask, load, undo, ids } = await newOrganization();
    const many = rows(...Array.from({ length: 2500 }, (_, index) => `c${index}`));
    await load('?import_id=webinar', many);
    await load('', [{ contact_id: 'c7', city: 'Oslo' }]);
    const first = await ask('/api/imports/undo', { import_id: 'webinar' });
    expect(Number(first.deleted_count) + Number(first.left_count)).to.equal(1000);
    expect(await ask('/api/imports/undo', { import_id: 'other', cursor: first.next_cursor })).to.include({
      code: 'validation_failed',
    });
    expect(await undo('webinar')).to.deep.equal({ deleted: 2499 - Number(first.deleted_count), left: 1 });
    expect(await ids()).to.deep.equal(['c7']);
  });

  it('lists the 100 newest imports, newest first', async function () {
    this.timeout(60_000);
    const { load, list } = await newOrganization();
    for (let number = 0; number < 103; number++) await load(`?import_id=i${number}`, rows(`c${number}`));
    await load('?import_id=i0', rows('more'));
    const listed = await list();
    expect(listed).to.have.length(100);
    expect(listed.slice(0, 2)).to.deep.equal([
      ['i0', 2, 2],
      ['i102', 1, 1],
    ]);
    expect(listed.at(-1)).to.deep.equal(['i4', 1, 1]);
  });

  it('of two imports at once, each undoes what it created, and together they leave what both had', async function () {
    this.timeout(60_000);
    const { load, undo, all, ids } = await newOrganization();
    const shared = rows(...Array.from({ length: 300 }, (_, index) => `shared${index}`));
    const own = (name: string) => rows(...Array.from({ length: 50 }, (_, index) => `${name}${index}`));
    const answers = await Promise.all(
      ['one', 'two'].map((name) => load(`?import_id=${name}&on_duplicate=update`, [...shared, ...own(name)])),
    );
    for (const answer of answers) {
      const { accepted, rejected, stale, created, updated, matched } = answer as Record<string, number>;
      expect([accepted, rejected]).to.deep.equal([350, 0]);
      expect((created ?? 0) + (updated ?? 0) + (matched ?? 0) + (stale ?? 0)).to.equal(350);
    }
    const creators = new Map((await all()).map((each) => [each.contact_id, each.data_import_id]));
    expect([...creators.values()].every((each) => each === 'one' || each === 'two')).to.equal(true);
    const first = await undo('one');
    const second = await undo('two');
    const left = await ids();
    expect(left.filter((id) => !id.startsWith('shared'))).to.deep.equal([]);
    expect(first.deleted + second.deleted + left.length).to.equal(400);
    expect(first.left + second.left).to.equal(left.length);
  });

  it('undo during the import leaves nothing of it once it is repeated after the end', async function () {
    this.timeout(60_000);
    const { load, undo, ids } = await newOrganization();
    const many = rows(...Array.from({ length: 5000 }, (_, index) => `c${index}`));
    const loading = load('?import_id=webinar', [...many, ...many]);
    let running = true;
    void loading.finally(() => {
      running = false;
    });
    while (running) await undo('webinar');
    expect(await loading).to.include({ accepted: 10_000 });
    await undo('webinar');
    expect(await ids()).to.deep.equal([]);
  });

  it('undo deletes exactly what a model of all changes says', async function () {
    this.timeout(120_000);
    const ID = fc.constantFrom('a', 'b', 'c', 'd');
    const IMPORT = fc.constantFrom('one', 'two');
    const step = fc.oneof(
      fc.record({
        kind: fc.constant('load' as const),
        id: ID,
        importId: fc.option(IMPORT, { nil: undefined }),
        fields: fc.constantFrom(
          {},
          { city: 'Oslo' },
          { data_import_id: 'one' },
          { created_at: '2020-01-01T00:00:00Z' },
        ),
      }),
      fc.record({ kind: fc.constantFrom('edit', 'join', 'leave', 'delete'), id: ID }),
      fc.record({ kind: fc.constant('undo' as const), importId: IMPORT }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
        const { ask, load, undo, ids } = await newOrganization();
        const { audience_id } = await ask('/api/audiences/create', { name: 'Audience' });
        interface Model {
          importId: string | null;
          isAsImported: boolean;
          isMember: boolean;
        }
        const model = new Map<string, Model>();
        for (const each of steps) {
          if (each.kind === 'load') {
            const { id, importId, fields } = each;
            await load(importId === undefined ? '' : `?import_id=${importId}`, [
              { contact_id: id, ...fields },
            ]);
            const { data_import_id: given } = fields as { data_import_id?: string };
            const known = model.get(id);
            if (!known) {
              const name = importId ?? given ?? null;
              model.set(id, { importId: name, isAsImported: importId !== undefined, isMember: false });
              continue;
            }
            if (importId === undefined || importId !== known.importId) known.isAsImported = false;
            if (importId === undefined && given !== undefined) known.importId = given;
          } else if (each.kind === 'undo') {
            const ofImport = [...model].filter(([, { importId }]) => importId === each.importId);
            const gone = ofImport.filter(([, { isAsImported }]) => isAsImported);
            expect(await undo(each.importId)).to.deep.equal({
              deleted: gone.length,
              left: ofImport.length - gone.length,
            });
            for (const [id] of gone) model.delete(id);
          } else {
            const known = model.get(each.id);
            if (each.kind === 'edit') {
              await ask('/api/contacts/update', { contact_id: each.id, city: 'Rome' });
              if (known) known.isAsImported = false;
            } else if (each.kind === 'delete') {
              await ask('/api/contacts/delete', { contact_id: each.id });
              model.delete(each.id);
            } else {
              const change = each.kind === 'join' ? 'add' : 'remove';
              await ask(`/api/audiences/contacts/${change}`, { audience_id, contact_id: each.id });
              const isMember = each.kind === 'join';
              if (known && known.isMember !== isMember)
                Object.assign(known, { isMember, isAsImported: false });
            }
          }
        }
        expect(await ids()).to.deep.equal([...model.keys()].sort());
      }),
      { seed: SEED, numRuns: runs(25) },
    );
  });
});
