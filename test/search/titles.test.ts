import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { rowsOf, TEXTS } from '../../services/search/equivalents.js';
import { DEPARTMENTS, SENIORITIES, titleClasses } from '../../services/search/titles.js';
import { packageRoot } from '../../services/shared/fs.js';

/** Titles with their seniority and department; `-` is null. */
const TITLES = readFileSync(join(packageRoot, 'test/search/titles.txt'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => {
    const [classes = '', title = ''] = line.split(' | ');
    const [seniority, department] = classes.split(' ').map((each) => (each === '-' ? null : each));
    return { title, seniority, department };
  });

describe('titleClasses', () => {
  it('knows titles of many languages, and says nothing of others', () => {
    const known = TITLES.map(({ title }) => ({ title, ...titleClasses(title) }));
    expect(known).to.deep.equal(TITLES);
    expect(titleClasses(null)).to.deep.equal({ seniority: null, department: null });
  });

  it('knows each class by a row, and no words by two', () => {
    for (const [text, classes] of [
      [TEXTS.seniority, SENIORITIES],
      [TEXTS.department, DEPARTMENTS],
    ] as const) {
      const rows = rowsOf(text).map((row) => row.split(': '));
      expect([...new Set(rows.map(([name]) => name))]).to.have.members(['none', 'end', ...classes]);
      const runs = rows.flatMap(([, listed = '']) => listed.split(', '));
      expect(new Set(runs).size).to.equal(runs.length);
    }
  });
});
