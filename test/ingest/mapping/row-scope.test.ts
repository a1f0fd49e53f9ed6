import { expect } from 'chai';
import { dimensionCheck, notADay } from '../../../ingest/mapping/row-scope.js';

describe('A row of a source', () => {
  it('is about one day where its last day is its first, or the day after is the first behind it', () => {
    for (const [start, end, isAfter, last] of [
      ['2026-02-28', '2026-02-28', false, null],
      ['2026-02-28', '2026-02-28', true, null],
      ['2026-02-28', '2026-03-01', true, null],
      ['2026-02-28', '2026-03-01', false, '2026-03-01'],
      ['2026-02-28', '2026-03-02', true, '2026-03-01'],
      ['2026-02-28', '2026-02-27', false, '2026-02-27'],
    ] as const) {
      const outcome = notADay(start, end, isAfter);
      const expected =
        last && `not_a_day /date The row is about ${start} to ${last}; export the report by day.`;
      expect(outcome && `${outcome.code} ${outcome.pointer} ${outcome.detail}`).to.equal(expected);
    }
  });

  it('is a part of a record where a dimension has a value that the key lacks, or two values of one kind', () => {
    const check = dimensionCheck({ pivots: ['urn:campaign:*', 'ALL'], device: [] });
    const long = 'x'.repeat(65);
    for (const [source, named] of [
      [{}, null],
      [{ pivots: null, device: '' }, null],
      [{ pivots: '', device: 'tablet' }, 'device is "tablet"'],
      [{ pivots: 'ALL', device: 'tablet' }, 'device is "tablet"'],
      [{ pivots: 'ALL', device: ' – ' }, null],
      [{ pivots: 'urn:campaign:1, ALL' }, null],
      [{ pivots: ' urn:campaign:1 ,, - ' }, null],
      [{ pivots: ['urn:campaign:1', 'ALL'] }, null],
      [{ pivots: '["urn:campaign:1","ALL"]' }, null],
      [{ pivots: '[]' }, null],
      [{ pivots: 'urn:campaign:1,urn:campaign:2' }, 'pivots is "urn:campaign:2"'],
      [{ pivots: ['ALL', 'ALL'] }, 'pivots is "ALL"'],
      [{ pivots: 'ALLES' }, 'pivots is "ALLES"'],
      [{ pivots: 'x urn:campaign:1' }, 'pivots is "x urn:campaign:1"'],
      [{ pivots: '[broken' }, 'pivots is "[broken"'],
      [{ pivots: [{ a: 1 }] }, 'pivots is "an object"'],
      [{ device: 7 }, 'device is "7"'],
      [{ device: long }, `device is "${'x'.repeat(64)}…"`],
      [{ device: long.slice(1) }, `device is "${'x'.repeat(64)}"`],
    ] as const) {
      const outcome = check(source);
      const expected =
        named &&
        `finer_than_key The row is only a part of a day: its ${named}. Export the report without this breakdown.`;
      expect(outcome && `${outcome.code} ${outcome.detail}`, JSON.stringify(source)).to.equal(expected);
    }
  });
});
