import { expect } from 'chai';
import { addDays } from '../../services/advertising/calendar.js';
import { COMPANY_METRIC_NAMES, METRIC_NAMES } from '../../services/advertising/metrics.js';
import { MAX_POINTS, parseReportParams } from '../../services/advertising/report-params.js';
import { SeriesBuilder, type SeriesRow, seriesParts } from '../../services/advertising/series.js';
import { fromJson } from '../../services/shared/json.js';

const scopeOf = (end_date: string, granularity: 'daily' | 'monthly' = 'daily', metrics = METRIC_NAMES) =>
  parseReportParams({ start_date: '2025-01-14', end_date, granularity }, metrics, 'org', {
    now: Date.parse('2026-11-21'),
    provisionalDays: 7,
  });
const idsOf = (count: number) => Array.from({ length: count }, (_, index) => `c${index}`);

/** Rows as the store returns them: unordered, with most periods of every item. */
function rowsOf(ids: readonly string[], start: string, days: number): SeriesRow[] {
  return ids.flatMap((id, item) =>
    Array.from({ length: days }, (_, day) => ({
      id,
      day: addDays(start, days - 1 - day),
      impressions: item + day,
      ad_spend: `${day}.5`,
    })),
  );
}

describe('time series of advertising', () => {
  it('are equal in parts and as a whole', async () => {
    for (const [items, granularity] of [
      [3, 'daily'],
      [150, 'daily'],
      [150, 'monthly'],
    ] as const) {
      const report = scopeOf('2026-04-30', granularity);
      const ids = idsOf(items);
      const rows = rowsOf(ids, '2025-02-01', granularity === 'daily' ? 300 : 1);
      const whole = new SeriesBuilder(report, ids);
      await whole.append(report.range, rows);
      const split = new SeriesBuilder(report, ids);
      for (const { range } of seriesParts(report, items)) {
        await split.append(
          range,
          rows.filter(({ day }) => day >= range.start && day <= range.end),
        );
      }
      for (const id of ids) expect(split.seriesOf(id)).to.equal(whole.seriesOf(id));
    }
  });

  it('are queried ten thousand rows at a time, or a month of a full page', () => {
    expect(seriesParts(scopeOf('2026-05-28'), 200)).to.have.length(16);
    expect(seriesParts(scopeOf('2026-05-28'), 20).map(({ range }) => range)).to.deep.equal([
      { start: '2025-01-14', end: '2026-05-28' },
    ]);
    expect(seriesParts(scopeOf('2035-01-21'), 200).map(({ range }) => range.end.slice(0, 7))).to.have.length(
      120,
    );
    expect(seriesParts(scopeOf('2035-01-21', 'monthly'), 200)).to.have.length(3);
  });

  it('yield to the event loop while a hundred thousand points are built', async () => {
    const report = scopeOf(addDays('2025-01-14', 499), 'daily', COMPANY_METRIC_NAMES);
    const ids = idsOf(200);
    const builder = new SeriesBuilder(report, ids);
    let building = true;
    let others = 0;
    const other = () => {
      others++;
      if (building) setImmediate(other);
    };
    setImmediate(other);
    await builder.append(report.range, rowsOf(ids, '2025-01-14', 500));
    building = false;
    expect(ids.reduce((points, id) => points + fromJson(builder.seriesOf(id)).length, 0)).to.equal(
      MAX_POINTS,
    );
    expect(others).to.be.greaterThan(0);
  });

  it('stop when the request is aborted', async () => {
    const report = scopeOf(addDays('2025-01-14', 499));
    const ids = idsOf(200);
    const aborted = AbortSignal.abort(new Error('the client left'));
    const built = new SeriesBuilder(report, ids).append(
      report.range,
      rowsOf(ids, '2025-01-14', 500),
      aborted,
    );
    expect(await built.catch((error: Error) => error.message)).to.equal('the client left');
  });
});
