import { expect } from 'chai';
import { PRESETS } from '../../ingest/presets/index.js';
import { AUTO, presetsNamed, recognizePreset } from '../../ingest/presets/recognize.js';

const COLUMNS = 9990;
const ROWS = 40;
/** Cells of a row that suffice to recognize a preset: its marks, its conditions, and one of the columns that become rows. */
const MOST_CELLS = 25;

describe('Recognizing a table of thousands of columns', () => {
  const columns = [
    'Record ID',
    'First Name',
    ...Array.from({ length: COLUMNS }, (_, index) => `Col ${index}`),
  ];
  let reads = 0;
  const row = new Proxy(Object.fromEntries(columns.map((column) => [column, 'x'])), {
    get(target, name) {
      reads++;
      return Reflect.get(target, name);
    },
    ownKeys() {
      throw new Error('every column of a row is read');
    },
  });

  it('reads the cells that decide, however many columns there are', async () => {
    const samples = Array.from({ length: ROWS }, () => row);
    const found = await recognizePreset(presetsNamed(AUTO), 'contacts', { columns, samples });
    expect(found).to.have.property('reason');
    expect(reads).to.be.above(0);
    expect(reads).to.be.below(ROWS * Object.keys(PRESETS).length * MOST_CELLS);
  });
});
