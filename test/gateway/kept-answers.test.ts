import { join } from 'node:path';
import { DatabaseSync } from '@photostructure/sqlite';
import { expect } from 'chai';
import { endpoints } from '../../services/gateway/api.js';
import { repetitionOf } from '../../services/http/idempotency.js';
import { callerOf, useGateway } from '../support/gateway.js';

type Json = Record<string, unknown>;

/**
 * A request of each operation that stores its response in a separate table, and the table that it reads first, except the table of keys,
 * without which no request is admitted.
 */
const REQUESTS: Record<string, { body: Json; reads?: string }> = {
  '/api/contacts/delete': { body: { email: 'ada@acme.example' }, reads: 'contacts' },
  '/api/contacts/erase': { body: { email: 'ada@acme.example' }, reads: 'contacts' },
  '/api/audiences/contacts/add-many': { body: { audience_id: 'aud', filter: {} }, reads: 'contacts' },
  '/api/audiences/contacts/remove-many': { body: { audience_id: 'aud', filter: {} }, reads: 'contacts' },
  '/api/imports/undo': { body: { import_id: 'list' }, reads: 'contacts' },
  '/api/filters/save': { body: { name: 'A', contacts: {} } },
  '/api/filters/delete': { body: { view: 'contacts', name: 'A' } },
  '/api/keys/create': { body: { name: 'new', scopes: ['contacts:read'] } },
  '/api/keys/revoke': { body: {} },
};
/** Tables of earlier outcomes, which accept writes even while the others do not. */
const ANSWERS = ['idempotency', 'answer_identifiers'];

describe('An idempotency key of a request that failed', () => {
  const gateway = useGateway();
  let organizations = 0;

  it('is tried of every operation that keeps its answer apart', () => {
    const apart = endpoints.filter((endpoint) => repetitionOf(endpoint) === 'answer');
    expect(Object.keys(REQUESTS)).to.have.members(apart.map(({ path }) => path));
  });

  async function prepare(path: string) {
    const organization_id = `org_failed${organizations++}`;
    const key = await gateway.keyFor(organization_id);
    const { call, ingest } = callerOf(gateway.url, key);
    await ingest('audiences', [{ id: 'aud', name: 'A' }]);
    const audience_ids = path.endsWith('remove-many') ? ['aud'] : [];
    await ingest('contacts', [
      { contact_id: 'ada', work_emails: ['ada@acme.example'], audience_ids, import_id: 'list' },
    ]);
    await call('/api/filters/save', REQUESTS['/api/filters/save']?.body ?? {});
    const made = await call('/api/keys/create', { organization_id, scopes: ['contacts:read'] });
    const { key_id } = made.body.api_key as Json;
    const body = { organization_id, ...(path.endsWith('revoke') ? { key_id } : REQUESTS[path]?.body) };
    const headers = { 'Idempotency-Key': 'a-key-that-nobody-guesses' };
    return () => call(path, body, { headers });
  }

  function change(sql: (database: InstanceType<typeof DatabaseSync>) => void): void {
    const database = new DatabaseSync(join(gateway.dataDir, 'reachline.db'));
    // The writer of the gateway may be busy.
    database.exec('PRAGMA busy_timeout = 10000');
    sql(database);
    database.close();
  }

  for (const [path, { reads }] of Object.entries(REQUESTS)) {
    if (reads !== undefined) {
      it(`works again where nothing was written: ${path}`, async () => {
        const send = await prepare(path);
        change((database) => database.exec(`ALTER TABLE ${reads} RENAME TO away`));
        const failed = await send().finally(() =>
          change((database) => database.exec(`ALTER TABLE away RENAME TO ${reads}`)),
        );
        expect(failed.status, failed.text).to.be.within(500, 503);
        const again = await send();
        expect(again.status, again.text).to.equal(200);
        expect(again.headers.has('Idempotency-Replayed')).to.equal(false);
      });
    }

    it(`says that the outcome is unknown where the write failed: ${path}`, async () => {
      const send = await prepare(path);
      let triggers: string[] = [];
      change((database) => {
        const tables = database
          .prepare("SELECT name FROM pragma_table_list WHERE type = 'table' AND schema = 'main'")
          .all() as { name: string }[];
        triggers = tables
          .map(({ name }) => name)
          .filter((name) => !name.startsWith('sqlite_') && !ANSWERS.includes(name))
          .flatMap((name) =>
            ['INSERT', 'UPDATE', 'DELETE'].map((event) => {
              const trigger = `fails_${event}_${name}`;
              database.exec(
                `CREATE TRIGGER ${trigger} BEFORE ${event} ON ${name} BEGIN SELECT RAISE(ABORT, 'no'); END`,
              );
              return trigger;
            }),
          );
      });
      const failed = await send().finally(() =>
        change((database) => {
          for (const trigger of triggers) database.exec(`DROP TRIGGER ${trigger}`);
        }),
      );
      expect(failed.status, failed.text).to.be.within(500, 503);
      const again = await send();
      expect(again.body, again.text).to.include({ code: 'outcome_unknown' });
    });
  }
});
