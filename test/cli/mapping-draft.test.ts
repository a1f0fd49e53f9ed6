/** Drafts of mappings for exports that no preset loads (test/data/presets/unknown), tried with --dry-run. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tempFolder } from '../support/temp-folder.js';
import { run } from './support.js';

const DATA = 'test/data/presets/unknown';

describe('A draft of a mapping', function () {
  this.timeout(60_000);
  let folder: string;
  before(() => {
    folder = tempFolder();
  });

  for (const name of readdirSync(DATA)) {
    const [source = '', stream = ''] = name.split('.');
    it(`of ${source} loads every record`, async () => {
      const file = join(DATA, name);
      const ingest = (...options: string[]) =>
        run(['ingest', stream, file, '--organization', 'org_a', '--dry-run', ...options]);
      const unknown = await ingest('--preset', 'auto');
      expect(unknown.stderr).to.contain(`reachline mapping draft ${file} --stream ${stream}`);
      const draft = await run(['mapping', 'draft', file, '--stream', stream]);
      expect(draft.code, draft.stderr).to.equal(0);
      const path = join(folder, `${source}.json`);
      writeFileSync(path, draft.stdout);
      const tried = await ingest('--map', path);
      expect(tried.code, `${draft.stdout}\n${tried.stderr}`).to.equal(0);
      expect(tried.stdout).to.match(/ 0 rejected/);
    });
  }

  const draftOf = async (stream: string, csv: string) => {
    const file = join(folder, 'export.csv');
    writeFileSync(file, csv);
    const { stdout, stderr } = await run(['mapping', 'draft', file, '--stream', stream]);
    return { fields: JSON.parse(stdout).fields, stderr };
  };

  it('takes a column that has the name of a field before one of which a part has it', async () => {
    const { fields } = await draftOf('contacts', 'Owner.id,Person Id,E-Mail\no1,p1,a@x.example\n');
    expect(fields.contact_id).to.equal('Person Id');
  });

  it('asks what tells rows of a day apart, of which otherwise the last alone would count', async () => {
    const { fields, stderr } = await draftOf(
      'network-a-deliveries',
      'Day,Campaign ID,Group,Cost\n2026-10-05,7,A,1.50\n2026-10-05,7,B,2.50\n',
    );
    expect(fields.creative_id).to.equal('TODO');
    expect(stderr).to.contain('TODO creative_id: rows have the same day and campaign');
  });
});
