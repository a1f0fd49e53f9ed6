import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ChangePosition, ChangesResult } from '../../../services/contacts/change-feed.js';
import { sql } from '../../../services/shared/sql.js';
import { DAY_MS } from '../../../services/shared/time.js';
import { createBackup } from '../../../services/stores/backup/create-backup.js';
import { restoreBackup } from '../../../services/stores/backup/restore-backup.js';
import { SEARCH_FILE } from '../../../services/stores/data-folder/layout.js';
import { Connection } from '../../../services/stores/sqlite/connection.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { asked, erasure, load } from '../../contract/record-store-support.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';

describe('A position in the feed of changes', () => {
  let dataDir: string;
  let position: ChangePosition;

  /** Reads the feed of a data folder as a server would after a restart. */
  async function read(folder: string, after?: ChangePosition, changesDays?: number): Promise<ChangesResult> {
    const store = await openSqliteStore({ dataDir: folder, searchProcesses: 1, changesDays });
    try {
      return await store.readChanges({ organizationId: 'org', after, limit: 100 });
    } finally {
      await store.close();
    }
  }

  beforeEach(async () => {
    dataDir = tempFolder();
    const store = await openSqliteStore({ dataDir, searchProcesses: 1 });
    await load(store, 'org', [{ contact_id: 'c0' }, { contact_id: 'c1', country: 'FR' }]);
    await store.close();
    const page = await read(dataDir);
    if (page.kind !== 'page') throw new Error(page.kind);
    position = page.next;
  });

  const expectExpired = async (folder: string) => {
    expect(await read(folder, position)).to.include({ kind: 'expired' });
    const again = await read(folder);
    expect(again.kind === 'page' && again.changes.map(({ contactId }) => contactId)).to.deep.equal([
      'c0',
      'c1',
    ]);
  };

  it('survives a restart', async () => {
    expect(await read(dataDir, position)).to.deep.include({
      kind: 'page',
      changes: [],
      more: false,
      next: position,
    });
  });

  it('expires once the fields that filters use are derived by other rules', async () => {
    const connection = new Connection(join(dataDir, SEARCH_FILE), { cacheMb: 2 });
    connection.run(sql`UPDATE derived SET version = -1`);
    connection.close();
    await expectExpired(dataDir);
  });

  it('expires in a restored backup, whose numbers were given to other changes meanwhile', async () => {
    const backup = join(tempFolder(), 'backup');
    const restored = tempFolder();
    const onProgress = () => undefined;
    await createBackup({ dataDir, used: { records: true, analytics: false }, target: backup, onProgress });
    await restoreBackup({ backup, dataDir: restored, onProgress });
    await expectExpired(restored);
  });

  it('is of no use to a server that keeps no marks of deletions', async () => {
    expect(await read(dataDir, position, 0)).to.deep.equal({ kind: 'unavailable' });
  });

  it('expires if a contact was deleted after it while the server kept no marks', async () => {
    const store = await openSqliteStore({ dataDir, searchProcesses: 1, changesDays: 0 });
    await store.deleteContacts({ organizationId: 'org', contactIds: ['nobody'] });
    await store.close();
    expect(await read(dataDir, position)).to.deep.include({ kind: 'page', changes: [] });
    const without = await openSqliteStore({ dataDir, searchProcesses: 1, changesDays: 0 });
    await load(without, 'org', [{ contact_id: 'c2' }]);
    await without.deleteContacts({ organizationId: 'org', contactIds: ['c2'] });
    await without.close();
    await expectExpired(dataDir);
    const again = await read(dataDir);
    if (again.kind !== 'page') throw new Error(again.kind);
    expect(await read(dataDir, again.next)).to.deep.include({ kind: 'page', changes: [] });
  });

  it('names an erased contact for seven days, after which no byte of its id is left', async () => {
    const clock = { now: Date.now };
    const store = await openSqliteStore({ dataDir, searchProcesses: 1, clock });
    const isHeld = () =>
      ['', '-wal'].some((end) => {
        const path = join(dataDir, `${SEARCH_FILE}${end}`);
        return existsSync(path) && readFileSync(path).includes('quorvaxerased');
      });
    await load(store, 'org', [{ contact_id: 'quorvaxerased' }]);
    await store.eraseContacts(erasure('org', 'proof', ['quorvaxerased']));
    await store.deleteOldMarks();
    const page = await store.readChanges({ organizationId: 'org', after: position, limit: 10 });
    expect(page.kind === 'page' && page.changes).to.deep.equal([
      { organizationId: 'org', contactId: 'quorvaxerased', contact: null },
    ]);
    clock.now = () => Date.now() + 8 * DAY_MS;
    await store.deleteOldMarks();
    await until(() => !isHeld(), 'no byte of the id is left');
    await store.close();
  });

  it('leads to each change once, in pages of any size, among many organizations', async () => {
    const store = await openSqliteStore({ dataDir, searchProcesses: 1 });
    const organizations = ['org', 'org_b', 'org_c'];
    for (let index = 0; index < 60; index++)
      await load(store, organizations[index % 3] as string, [
        { contact_id: `d${index % 20}`, city: `${index}` },
      ]);
    for (const limit of [1, 7, 1000]) {
      for (const organizationId of [undefined, 'org_b']) {
        const found: string[] = [];
        let after: ChangePosition | undefined;
        for (let more = true; more; ) {
          const page = await store.readChanges({ organizationId, after, limit });
          if (page.kind !== 'page') throw new Error(page.kind);
          found.push(...page.changes.map((change) => `${change.organizationId}/${change.contactId}`));
          ({ next: after, more } = page);
        }
        const expected: string[] = [];
        for (const organization of organizationId ? [organizationId] : organizations) {
          const { items } = await store.searchContacts(asked(organization, { limit: 1000 }));
          for (const item of items)
            expected.push(`${organization}/${(JSON.parse(item) as { id: string }).id}`);
        }
        expect(found.sort()).to.deep.equal(expected.sort());
      }
    }
    await store.close();
  });
});
