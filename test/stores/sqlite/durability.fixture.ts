/** Writes to the store of a folder until it is killed, and prints each acknowledged write. */

import { execFileSync } from 'node:child_process';
import { StoreUnavailableError } from '../../../services/shared/store-errors.js';
import { openSqliteStore } from '../../../services/stores/sqlite/store.js';
import { asked, newContact, T0 } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';

const [dataDir, mode] = process.argv.slice(2) as [string, string];
const print = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
const store = await openSqliteStore({ dataDir, searchThreads: 1 });
await store.upsertAudiences(accepted([{ organization_id: 'org', id: 'aud', name: 'A' }], T0));

async function create(id: string): Promise<void> {
  await store.createContact({
    contact: newContact('org', id, { first_name: 'Ann', job_title: 'Manager of words '.repeat(60) }),
    audienceId: 'aud',
    requiredCredits: 0,
    onDuplicate: 'create',
    dryRun: false,
  });
}

async function load(start: number): Promise<void> {
  await store.upsertContacts(
    accepted(
      Array.from({ length: 300 }, (_, index) => ({
        organization_id: 'org',
        contact_id: `bulk_${start + index}`,
        first_name: 'Bob',
      })),
      T0,
    ),
  );
}

async function writeForever(): Promise<void> {
  const creating = async () => {
    for (let number = 0; ; number++) {
      await create(`c${number}`);
      print({ created: `c${number}` });
    }
  };
  const loading = async () => {
    for (let start = 0; ; start += 300) {
      await load(start);
      print({ loaded: start + 300 });
    }
  };
  await Promise.all([creating(), loading()]);
}

async function writeUntilFull(): Promise<void> {
  let acknowledged = 0;
  let error: unknown;
  while (error === undefined) {
    try {
      await create(`c${acknowledged}`);
      acknowledged++;
    } catch (thrown) {
      error = thrown;
    }
  }
  const search = asked('org', { query: 'ann manager', limit: 1 });
  const during = await store.searchContacts(search);
  execFileSync('prlimit', ['--pid', String(process.pid), '--fsize=unlimited']);
  await create('after');
  const after = await store.searchContacts(search);
  print({
    acknowledged,
    isUnavailable: error instanceof StoreUnavailableError,
    during: during.total,
    after: after.total,
  });
  await store.close();
}

await (mode === 'forever' ? writeForever() : writeUntilFull());
