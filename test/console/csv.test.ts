import { expect } from 'chai';
import { csvRows } from '../../services/console/csv.js';

describe('Rows of CSV in the console', () => {
  it('takes a row of empty cells for a row, whatever the delimiter, and an empty line for none', () => {
    for (const delimiter of [',', ';', '\t']) {
      const empty = delimiter.repeat(2);
      const text = [
        `id${delimiter}name${delimiter}city`,
        empty,
        '',
        `1${delimiter}Ada${delimiter}Oslo`,
        '',
      ].join('\n');
      expect(csvRows(text).map(({ line, text: row }) => [line, row])).to.deep.equal([
        [1, `id${delimiter}name${delimiter}city`],
        [2, empty],
        [3, `\n1${delimiter}Ada${delimiter}Oslo`],
      ]);
    }
  });

  it('reads a million empty lines in one pass, for which a pass per line would never end', () => {
    const empty = 1_000_000;
    const rows = csvRows(`id,name\n1,Ada\n${'\n'.repeat(empty)}2,Bob\n${'\n'.repeat(empty)}`);
    expect(rows.map(({ line }) => line)).to.deep.equal([1, 2, 3]);
    expect(rows[2]?.text).to.have.lengthOf(empty + '2,Bob'.length);
  });
});
