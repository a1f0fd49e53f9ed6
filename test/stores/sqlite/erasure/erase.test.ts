import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { Identifier } from '../../../../services/contacts/suppression.js';
import { sql } from '../../../../services/shared/sql.js';
import type { RecordStore } from '../../../../services/stores/common/record-store.js';
import { SEARCH_FILE } from '../../../../services/stores/data-folder/layout.js';
import { Connection } from '../../../../services/stores/sqlite/connection.js';
import { openSqliteStore } from '../../../../services/stores/sqlite/store.js';
import { mergeSegments } from '../../../../services/stores/sqlite/text/text-index.js';
import { load, newContact, T0 } from '../../../contract/record-store-support.js';
import { accepted } from '../../../support/accepted.js';
import { filesWith } from '../../../support/files.js';
import { tempFolder } from '../../../support/temp-folder.js';

describe('An erasure in SQLite', () => {
  const organizationId = 'org_erasing';
  let path: string;
  let store: RecordStore;
  let proofs = 0;

  beforeEach(async () => {
    const dataDir = tempFolder();
    path = join(dataDir, SEARCH_FILE);
    store = await openSqliteStore({ dataDir, searchProcesses: 1, clock: { now: () => T0 } });
  });
  afterEach(() => store.close());

  const erase = (contactIds: readonly string[], named: readonly Identifier[] = []) =>
    store.eraseContacts({
      organizationId,
      proofId: `era_${proofs++}`,
      keyId: 'key',
      named: [...named, ...contactIds.map((value) => ({ kind: 'id' as const, value }))],
    });

  const email = (value: string): Identifier => ({ kind: 'email', value });

  function inDatabase<T>(work: (connection: Connection) => T): T {
    const connection = new Connection(path, { cacheMb: 2 });
    try {
      return work(connection);
    } finally {
      connection.close();
    }
  }

  const answersLeft = () =>
    inDatabase((connection) => [
      connection.rows<[string]>(sql`SELECT key FROM idempotency ORDER BY key`).flat(),
      connection.rows<[string]>(sql`SELECT DISTINCT key FROM answer_identifiers ORDER BY key`).flat(),
    ]);

  async function create(contactId: string, address: string): Promise<void> {
    const { kind } = await store.createContact({
      contact: newContact(organizationId, contactId, { work_emails: [address] }),
      audienceId: 'audience',
      requiredCredits: 0,
      onDuplicate: 'create',
      dryRun: false,
      idempotency: { route: '/api/contacts/create', key: `key_${contactId}`, fingerprint: 'f' },
    });
    expect(kind).to.equal('done');
  }

  async function createTwo(): Promise<void> {
    await store.upsertAudiences(
      accepted([{ organization_id: organizationId, id: 'audience', name: 'A' }], T0),
    );
    await create('ann', 'ann@x.example');
    await create('bob', 'bob@x.example');
  }

  it('reads the kept answers of the person and no other', async () => {
    await createTwo();
    await store.deleteContacts({ organizationId, contactIds: ['ann'] });
    inDatabase((connection) =>
      connection.run(sql`UPDATE idempotency SET outcome = 'unreadable' WHERE key = 'key_bob'`),
    );
    const { proof } = await erase([], [email('ann@x.example')]);
    expect(proof.removed.idempotency_answers).to.equal(1);
    expect(answersLeft()).to.deep.equal([['key_bob'], ['key_bob']]);
  });

  it('overwrites the pages that it frees', async () => {
    const work_emails = Array.from({ length: 300 }, (_, number) => `zorblax${number}@erased.example`);
    await load(store, organizationId, [{ contact_id: 'ann', work_emails }, { contact_id: 'bob' }]);
    inDatabase((connection) => connection.exec(sql`PRAGMA wal_checkpoint(TRUNCATE)`));
    expect(filesWith(dirname(path), work_emails)).to.have.length.above(250);
    const { proof } = await erase(['ann']);
    expect(proof.completed_at).to.be.a('string');
    expect(filesWith(dirname(path), work_emails)).to.deep.equal([]);
  });

  it('is answered although what follows it fails', async () => {
    await load(store, organizationId, [{ contact_id: 'ann' }]);
    inDatabase((connection) =>
      connection.exec(
        sql`CREATE TRIGGER fail BEFORE UPDATE OF completed_at ON erasures BEGIN SELECT RAISE (ABORT, 'no space'); END`,
      ),
    );
    const { erased, proof } = await erase(['ann']);
    expect([erased, proof.completed_at]).to.deep.equal([['ann'], null]);
    expect(await store.getContact(organizationId, 'ann')).to.equal(null);
  });

  it('of an address that nobody has writes no more than the list and the proof, however many contacts there are', async () => {
    const others = Array.from({ length: 3000 }, (_, index) => ({
      contact_id: `other_${index}`,
      first_name: `Name${index}`,
      work_emails: [`other${index}@y.example`],
    }));
    await load(store, 'org_other', others);
    inDatabase((connection) => {
      // Otherwise the writer merges the loaded segments as soon as it is idle, before or after the erasure.
      while (mergeSegments(connection, 'contact_terms')) {}
      connection.exec(sql`PRAGMA wal_checkpoint(TRUNCATE)`);
    });
    expect(statSync(path).size).to.be.greaterThan(1_000_000);
    // A reader keeps the log, so that its size is the amount written.
    const reader = new Connection(path, { cacheMb: 2, readOnly: true });
    try {
      reader.exec(sql`BEGIN`);
      reader.row(sql`SELECT count(*) FROM contacts`);
      const before = statSync(`${path}-wal`).size;
      const { erased } = await erase([], [email('nobody@x.example')]);
      expect(erased).to.deep.equal([]);
      expect(statSync(`${path}-wal`).size - before).to.be.lessThan(200_000);
    } finally {
      reader.close();
    }
  });

  it('lets writes of other organizations pass between its steps', async () => {
    const address = 'everybody@shared.example';
    const people = Array.from({ length: 80 }, (_, index) => ({
      contact_id: `shared_${index}`,
      work_emails: [address, ...Array.from({ length: 30 }, (__, at) => `u${index}_${at}@d${at}.example`)],
    }));
    await load(store, organizationId, people);
    await load(store, 'org_passing', [{ contact_id: 'first' }]);
    const search = { organizationId, filters: [{ kind: 'email' as const, email: address }], limit: 1 };
    let isErased = false;
    const erasing = erase([], [email(address)]).finally(() => {
      isErased = true;
    });
    const left = new Set<number>();
    while (!isErased) {
      await load(store, 'org_passing', [{ contact_id: 'passing' }]);
      left.add((await store.searchContacts(search)).total);
    }
    const { erased, proof } = await erasing;
    expect(erased).to.have.length(80);
    expect(proof.removed.contacts).to.equal(80);
    expect([...left].filter((total) => total > 0 && total < 80)).to.have.length.above(1);
  });
});
