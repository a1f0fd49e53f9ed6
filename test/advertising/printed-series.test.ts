import { expect } from 'chai';
import type { AnalyticsStore } from '../../services/advertising/analytics-store.js';
import {
  COMPANY_METRIC_NAMES,
  METRIC_NAMES,
  SUMMED_METRICS,
  SUMMED_NAMES,
} from '../../services/advertising/metrics.js';
import { parseReportParams } from '../../services/advertising/report-params.js';
import { parsePrintedRow, rowPrinter, type SeriesRow } from '../../services/advertising/series.js';
import { printedFigures } from '../../services/advertising/series-query.js';
import { Random } from '../support/random.js';
import { openTemporaryStore } from './helper.js';

const ROWS = 1500;
const COUNTS = ['0', '1', '3', '7', '100', '4503599627370497', '9007199254740993', '18446744073709551615'];
const MONEY = [
  '0',
  '0.01',
  '1.1',
  '12345.678901',
  '0.000000000001',
  '9999999999999999.99',
  '10000000000000000',
  `${'9'.repeat(30)}.5`,
];

describe('points printed by the store', () => {
  let store: AnalyticsStore;
  let dispose: () => Promise<void>;
  before(async () => {
    ({ store, dispose } = await openTemporaryStore());
  });
  after(() => dispose());

  for (const metrics of [
    METRIC_NAMES,
    COMPANY_METRIC_NAMES,
    ['cpm'],
    ['return_on_ad_spend', 'clicks'],
  ] as const) {
    it(`have the bytes of those made from rows, or are told apart: ${metrics.length} metrics`, async () => {
      const random = new Random(7);
      const some = (values: string[], limit: number) =>
        random.chance(0.3) ? random.pick(values) : String(Math.floor(random.next() ** 4 * limit));
      const cells = Array.from({ length: ROWS }, (_, row) => [
        `'i${row % 3}'`,
        "'2026-01-31'",
        ...SUMMED_NAMES.map((name) =>
          SUMMED_METRICS[name].kind === 'money' ? `'${some(MONEY, 1e9)}'` : some(COUNTS, 1e6),
        ),
      ]);
      const columns = SUMMED_NAMES.map(
        (name) => `${name} ${SUMMED_METRICS[name].kind === 'money' ? 'Decimal(76, 12)' : 'UInt64'}`,
      );
      const ids = ['i2', 'i0', 'i1'];
      const query = {
        name: 'test',
        sql: `SELECT * FROM values('id String, day Date, ${columns.join(', ')}', ${cells.map((row) => `(${row.join(', ')})`).join(', ')})`,
        params: { ids },
      };
      const range = { start_date: '2026-01-01', end_date: '2026-01-31' };
      const report = parseReportParams({ ...range, metrics }, METRIC_NAMES, 'org', {
        now: 0,
        provisionalDays: 7,
      });
      const { rows } = await store.query<SeriesRow>(query);
      const lines = await store.queryLines(printedFigures(query, report.metrics));
      const print = rowPrinter(report.metrics);
      let printed = 0;
      lines.forEach((line, index) => {
        const row = parsePrintedRow(line, ids);
        if (row === null) return;
        expect(row).to.deep.equal(print(rows[index] as SeriesRow));
        printed++;
      });
      expect(lines).to.have.length(ROWS);
      expect(printed).to.be.greaterThan(ROWS / 10);
    });
  }
});
