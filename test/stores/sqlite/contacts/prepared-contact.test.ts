import { join } from 'node:path';
import { expect } from 'chai';
import type { ContactRecord } from '../../../../services/contacts/schema.js';
import type { OrderedRecord } from '../../../../services/shared/record-order.js';
import { SEARCH_FILE } from '../../../../services/stores/data-folder/layout.js';
import { Connection } from '../../../../services/stores/sqlite/connection.js';
import { openSqliteStore } from '../../../../services/stores/sqlite/store.js';
import { T0 } from '../../../contract/search-support.js';
import { accepted } from '../../../support/accepted.js';
import { realLines } from '../../../support/real-data.js';
import { tempFolder } from '../temp-folder.js';

type Records = OrderedRecord<ContactRecord>[];

/** Everything stored of contacts after the writes, which follow one another. */
async function storedAfter(writes: Records[]): Promise<Record<string, unknown[]>> {
  const dataDir = tempFolder();
  const store = await openSqliteStore({ dataDir, searchThreads: 1 });
  for (const records of writes) await store.upsertContacts(records);
  await store.close();
  const connection = new Connection(join(dataDir, SEARCH_FILE), { cacheMb: 1 });
  connection.exec(`CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, contact_terms, row)`);
  const rows = Object.fromEntries(
    [
      `id, created_ms, updated_ms, record_order, body FROM contacts ORDER BY id`,
      `term, doc, cnt FROM terms ORDER BY term`,
      `* FROM vocabulary ORDER BY word`,
      `id, contacts, contacts_accepted_ms FROM organizations ORDER BY id`,
      `c.id, a.id FROM memberships m JOIN contacts c USING (position) JOIN audiences a ON a.key = m.audience ORDER BY 1, 2`,
      `id, record_order FROM deleted_contacts ORDER BY id`,
    ].map((sql) => [sql, connection.rows(`SELECT ${sql}`)]),
  );
  connection.close();
  return rows;
}

describe('Prepared contacts', () => {
  it('are stored as they are without preparation, also among changes, deletions and records of an unknown organization', async () => {
    const real = realLines('contacts').map((line) => JSON.parse(line) as ContactRecord);
    const [first] = real as [ContactRecord];
    const { organization_id, contact_id } = first;
    const records = accepted<ContactRecord>(
      [
        { ...first, first_name: 'Zebulonia' },
        ...real,
        { organization_id, contact_id, deleted: true } as ContactRecord,
        ...real.slice(1, 90).map((record) => ({ ...record, audience_ids: ['aud_2', 'aud_1'] })),
        { ...first, first_name: 'Zebulonia' },
        { organization_id: 'org_unknown', contact_id: 'con_1', last_name: 'Quixote' },
        ...real.slice(90, 100),
      ],
      T0,
    );
    const single = records.map((record) => [record]);
    const [creation, ...others] = records as [OrderedRecord<ContactRecord>, ...Records];
    const half = others.slice(0, 300);
    const bulk = [[creation], half, others.slice(300)];
    expect(await storedAfter(bulk)).to.deep.equal(await storedAfter(single));
  });
});
