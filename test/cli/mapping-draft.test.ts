/** Drafts of mappings for exports that no preset loads (test/data/presets/unknown), tried with --dry-run. */
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { MappingFile } from '../../ingest/mapping/mapping-file.js';
import { run } from './support.js';

const DATA = 'test/data/presets/unknown';

type Edit = (mapping: MappingFile) => void;

/** What a user changes in the draft of a file, at most three times. */
const EDITS: Record<string, Edit[]> = {};

describe('A draft of a mapping', function () {
  this.timeout(60_000);
  const folder = mkdtempSync(join(tmpdir(), 'reachline-draft-'));

  for (const name of readdirSync(DATA)) {
    const [source = '', stream = ''] = name.split('.');
    const edits = EDITS[source] ?? [];
    it(`of ${source} loads every record after ${edits.length} edits`, async () => {
      expect(edits.length).to.be.at.most(3);
      const file = join(DATA, name);
      const ingest = (...options: string[]) =>
        run(['ingest', stream, file, '--organization', 'org_a', '--dry-run', ...options]);
      const unknown = await ingest('--preset', 'auto');
      expect(unknown.stderr).to.contain(`reachline mapping draft ${file} --stream ${stream}`);
      const draft = await run(['mapping', 'draft', file, '--stream', stream]);
      expect(draft.code, draft.stderr).to.equal(0);
      const mapping = JSON.parse(draft.stdout) as MappingFile;
      for (const edit of edits) edit(mapping);
      const path = join(folder, `${source}.json`);
      writeFileSync(path, JSON.stringify(mapping));
      const tried = await ingest('--map', path);
      expect(tried.code, `${draft.stdout}\n${tried.stderr}`).to.equal(0);
      expect(tried.stdout).to.match(/ 0 rejected/);
    });
  }
});
