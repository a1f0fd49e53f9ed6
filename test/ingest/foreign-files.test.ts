/**
 * Files as other tools and spreadsheets write them (test/data/foreign). `<file>.expected.ndjson` beside each has the stream and the mapping
 * on its first line, then what becomes of each record: the record that is stored, `skipped`, or the code and sentence of its rejection.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { FOREIGN_FILES, type Load, loadForeign } from './foreign-files.js';

const EXPECTED = '.expected.ndjson';

describe('A file of another tool', () => {
  for (const beside of readdirSync(FOREIGN_FILES).filter((name) => name.endsWith(EXPECTED))) {
    const [head, ...expected] = readFileSync(`${FOREIGN_FILES}/${beside}`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const { file = beside.slice(0, -EXPECTED.length), ...given } = head as Load & { file?: string };
    it(`${file} gives the records of ${beside}`, async () => {
      expect(await loadForeign(file, given)).to.deep.equal(expected);
    });
  }
});
