import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../../services/shared/config.js';
import type { SearchStore } from '../../services/stores/common/search-store.js';
import { openStores } from '../../services/stores/open-stores.js';
import { run } from '../cli/support.js';
import { startTestGateway, temporaryFolder } from '../support/gateway.js';
import { parsed } from '../support/parsed-store.js';

const FIELDS = ['first_name', 'city', 'job_title', 'work_emails'] as const;
type Line = { contact_id: string } & Partial<Record<(typeof FIELDS)[number], string | string[]>>;

/** Whole contacts, then changes of the last of them and of the first. */
function fileOf(lines: number, changes: number): Line[] {
  const contacts = lines - changes;
  const whole = Array.from({ length: contacts }, (_, index) => ({
    contact_id: `c${index}`,
    first_name: `Ann${index}`,
    city: 'Oslo',
    work_emails: [`ann${index}@first.example`],
  }));
  const later = Array.from({ length: changes }, (_, index): Line => {
    const contact_id = `c${index % 2 === 0 ? contacts - 1 - index : index}`;
    return index % 3 === 0
      ? { contact_id, city: `Rome ${index}` }
      : { contact_id, job_title: `Chief ${index}` };
  });
  return [...whole, ...later];
}

/** The contacts as a reader of one line after another makes them. */
function readLineByLine(lines: readonly Line[]): Map<string, Record<string, unknown>> {
  const contacts = new Map<string, Record<string, unknown>>();
  for (const line of lines) {
    const before = contacts.get(line.contact_id) ?? {
      first_name: null,
      city: null,
      job_title: null,
      work_emails: [],
    };
    contacts.set(line.contact_id, { ...before, ...line });
  }
  return contacts;
}

async function expectStored(search: SearchStore, lines: readonly Line[]): Promise<void> {
  const store = parsed(search);
  for (const [id, expected] of readLineByLine(lines)) {
    expect(await store.getContact('org_a', id)).to.deep.include(expected);
  }
}

describe('A file whose last lines change its earlier ones', () => {
  for (const [lines, changes] of [
    [1050, 50],
    [2101, 101],
    [150, 70],
  ] as const) {
    const file = fileOf(lines, changes);
    const text = file.map((line) => JSON.stringify(line)).join('\n');

    it(`is stored as if read line by line, over HTTP: ${lines} lines`, async () => {
      const gateway = await startTestGateway();
      try {
        const answer = await gateway.ingest('contacts', file);
        expect(answer.body).to.include({ accepted: lines, rejected: 0 });
        await expectStored(gateway.stores.search, file);
      } finally {
        await gateway.close();
      }
    });

    it(`is stored as if read line by line, from the command line: ${lines} lines`, async () => {
      const folder = await temporaryFolder();
      const env = { REACHLINE_DATA_DIR: join(folder.path, 'data') };
      const path = join(folder.path, 'contacts.ndjson');
      await writeFile(path, text);
      const { code, stderr } = await run(['ingest', 'contacts', path, '--organization', 'org_a'], { env });
      expect(code, stderr).to.equal(0);
      const stores = await openStores(loadConfig(env), { analyticsOnDemand: true });
      await expectStored(stores.search, file).finally(() => stores.close());
      await folder.remove();
    });
  }
});
