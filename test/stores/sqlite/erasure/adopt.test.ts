import { copyFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Identifier } from '../../../../services/contacts/suppression.js';
import { fromJson } from '../../../../services/shared/json.js';
import type { RecordStore } from '../../../../services/stores/common/record-store.js';
import { SEARCH_FILE } from '../../../../services/stores/data-folder/layout.js';
import { Connection } from '../../../../services/stores/sqlite/connection.js';
import { adoptErasures } from '../../../../services/stores/sqlite/erasure/adopt.js';
import { openSqliteStore } from '../../../../services/stores/sqlite/store.js';
import { T0 } from '../../../contract/record-store-support.js';
import { accepted } from '../../../support/accepted.js';
import { filesWith } from '../../../support/files.js';
import { tempFolder } from '../../../support/temp-folder.js';

const organizationId = 'org_restored';
const ANN = 'ann@private.example';
const SECOND = 'second@private.example';
const BOB = 'bob@x.example';
const PROFILE = 'https://network-a.example/in/ann-second';

describe('Erasures that a restored database takes over', () => {
  const open = (dataDir: string) =>
    openSqliteStore({ dataDir, searchProcesses: 1, clock: { now: () => T0 } });

  const write = (store: RecordStore, records: object[], at: number) =>
    store.upsertContacts(
      accepted(
        records.map((fields) => ({ organization_id: organizationId, contact_id: '', ...fields })),
        at,
      ),
    );

  /**
   * The folders of a backup and of the store that continued: Ann was erased by her address after Bob had lost the value that he shared with
   * her.
   */
  async function prepare(named: Identifier): Promise<{ backup: string; newer: string }> {
    const [backup, newer] = [tempFolder(), tempFolder()];
    const before = await open(newer);
    const ann = { contact_id: 'ann', work_emails: [ANN, SECOND], network_a_url: PROFILE };
    const bob = { contact_id: 'bob', work_emails: [SECOND, BOB], network_a_url: PROFILE };
    const twin = { contact_id: 'twin', personal_emails: [ANN] };
    await write(before, [ann, bob, twin, { ...twin, contact_id: 'moved' }], T0);
    await before.close();
    for (const name of readdirSync(newer).filter((each) => each.startsWith(SEARCH_FILE)))
      copyFileSync(join(newer, name), join(backup, name));
    const after = await open(newer);
    const changed = [
      { contact_id: 'bob', work_emails: [BOB], network_a_url: '' },
      // The contact lacked the address when it was erased; in the backup it has the address.
      { contact_id: 'moved', personal_emails: ['moved@x.example'] },
    ];
    await write(after, changed, T0 + 1);
    await after.eraseContacts({ organizationId, proofId: 'era', keyId: 'key', named: [named] });
    expect(await after.getContact(organizationId, 'bob')).not.to.equal(null);
    await after.close();
    return { backup, newer };
  }

  const adopt = ({ backup, newer }: { backup: string; newer: string }) =>
    adoptErasures(backup, join(newer, SEARCH_FILE), T0 + 2);

  it('remove who was named, and of others only the addresses that were found with them', async () => {
    const folders = await prepare({ kind: 'email', value: ANN });
    const adopted = await adopt(folders);
    const store = await open(folders.backup);
    const bob = await store.getContact(organizationId, 'bob');
    expect(bob, 'a contact that nobody asked to erase').not.to.equal(null);
    if (bob !== null)
      expect(fromJson(bob))
        .to.include({ network_a_url: null })
        .and.deep.include({ work_emails: [BOB] });
    expect(adopted).to.deep.equal({ erasures: 1, removed: 3, changed: 1 });
    for (const id of ['ann', 'twin', 'moved'])
      expect(await store.getContact(organizationId, id)).to.equal(null);
    // Bob accepts changes as before.
    await write(store, [{ contact_id: 'bob', first_name: 'Bob' }], T0 + 3);
    await store.close();
    expect(filesWith(folders.backup, ['private.example', 'ann-second'])).to.deep.equal([]);
  });

  it('are refused from a database whose first start was cut short, in words', async () => {
    const backup = tempFolder();
    await (await open(backup)).close();
    const newer = tempFolder();
    new Connection(join(newer, SEARCH_FILE), { cacheMb: 2 }).close();
    const refused = await adopt({ backup, newer }).catch((error: Error) => error);
    expect(String(refused)).to.contain('lacks tables of this version: start a server on it once');
  });
});
