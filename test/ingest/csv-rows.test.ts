import { Readable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { csvRows } from '../../ingest/sources/csv-rows.js';

const MAX_BYTES = 64;

/** Cells as they are written: bare, or in quotation marks with everything that quotation marks allow. */
const cell = (minLength: number, maxLength: number) => {
  const bare = fc.string({ unit: fc.constantFrom('a', 'b', ' ', "'"), minLength: minLength + 1, maxLength });
  const quoted = fc
    .string({ unit: fc.constantFrom('a', '"', '\n', '\r\n', ',', 'é'), minLength, maxLength })
    .map((value) => ({ value, text: `"${value.replaceAll('"', '""')}"` }));
  return fc.oneof(
    bare.map((value) => ({ value, text: value })),
    // A quotation mark inside a bare cell is an ordinary character.
    bare.map((value) => ({ value: `x"${value}`, text: `x"${value}` })),
    quoted,
  );
};
const short = fc
  .array(cell(0, 12), { minLength: 1, maxLength: 3 })
  .map((cells) => ({ cells, isLong: false }));
const long = fc
  .tuple(cell(0, 12), cell(MAX_BYTES + 1, 5 * MAX_BYTES), cell(0, 12))
  .map((cells) => ({ cells, isLong: true }));

const newlinesIn = (text: string) => text.split('\n').length - 1;

describe('Rows of CSV', () => {
  it('are all read, whichever of them are too long, and those come back byte for byte', async () => {
    const rows = fc.array(
      fc.record({
        row: fc.oneof({ arbitrary: short, weight: 3 }, long),
        end: fc.constantFrom('\n', '\r\n', '\n\n', '\r\n\r\n'),
      }),
      { maxLength: 12 },
    );
    await fc.assert(
      fc.asyncProperty(rows, fc.integer({ min: 1, max: 300 }), fc.boolean(), async (given, size, isEnded) => {
        let text = '';
        const expected: object[] = [];
        for (const { row, end } of given) {
          const own = row.cells.map((each) => each.text).join(',');
          const line = newlinesIn(text) + 1;
          const isLast = !isEnded && row === given.at(-1)?.row;
          const bytes = end.startsWith('\r') && !isLast ? `${own}\r` : own;
          expected.push(
            row.isLong ? { line, long: bytes } : { line, cells: row.cells.map(({ value }) => value) },
          );
          text += isLast ? own : own + end;
        }
        const whole = Buffer.from(text);
        async function* chunks() {
          for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
        }
        const found: object[] = [];
        let pieces: Buffer[] = [];
        const options = { delimiter: ',', maxCells: 10, maxBytes: MAX_BYTES };
        for await (const some of csvRows(chunks(), options)) {
          for (const row of some) {
            if (!('overlong' in row)) {
              const cells = row.cells.map((each) => Buffer.from(each, 'latin1').toString());
              found.push({ line: row.line, cells });
              continue;
            }
            pieces.push(row.bytes);
            if (row.overlong === 'piece') continue;
            found.push({ line: row.line, long: String(Buffer.concat(pieces)).replace(/^[\r\n]+/, '') });
            pieces = [];
          }
        }
        expect(found).to.deep.equal(expected);
      }),
      { numRuns: 500 },
    );
  });

  it('end in an error where a mark is never closed, also behind a row that is too long', async () => {
    for (const text of ['a\n"never', `a\n${'x'.repeat(200)}\nb\n"never`, `a\n"never${'x\n'.repeat(200)}`]) {
      const read = async () => {
        const options = { delimiter: ',', maxCells: 10, maxBytes: MAX_BYTES };
        for await (const _ of csvRows(Readable.from([Buffer.from(text)]), options));
      };
      const error = await read().catch((reason: Error) => reason);
      expect(error, text.slice(0, 20)).to.have.property('name', 'UnreadableInputError');
    }
  });
});
