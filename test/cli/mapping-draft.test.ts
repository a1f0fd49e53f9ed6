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
});
