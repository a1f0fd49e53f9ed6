import { expect } from 'chai';
import type { ContextRow } from '../../services/advertising/context-query.js';
import { METRIC_NAMES } from '../../services/advertising/metrics.js';
import { parseReportParams } from '../../services/advertising/report-params.js';
import { type WarningFacts, warningsOf } from '../../services/advertising/warnings.js';

const report = (start_date: string, end_date: string, granularity: 'daily' | 'monthly' = 'daily') =>
  parseReportParams({ start_date, end_date, granularity }, METRIC_NAMES, 'org', {
    now: Date.parse('2026-11-21T00:00:00Z'),
    provisionalDays: 7,
  });
const context: ContextRow = { first_date: '2026-01-01', last_date: '2026-11-20' };
const codes = (facts: Partial<WarningFacts>) =>
  warningsOf({
    report: report('2026-10-01', '2026-10-31'),
    context,
    filters: {},
    sparse: false,
    ...facts,
  }).map((warning) => warning.split(': ')[0]);

describe('advertising warnings', () => {
  it('are empty for a complete, final range', () => {
    expect(codes({})).to.deep.equal([]);
  });

  it('name days without deliveries, except today', () => {
    const late = { ...context, last_date: '2026-10-30' };
    expect(codes({ context: late })).to.deep.equal(['data_delayed']);
    expect(codes({ context: { ...context, last_date: '2026-10-31' } })).to.deep.equal([]);
    expect(codes({ context: { first_date: null, last_date: null } })).to.deep.equal(['data_delayed']);
    expect(
      codes({ context: { first_date: null, last_date: null }, report: report('2026-12-01', '2026-12-02') }),
    ).to.deep.equal(['data_provisional', 'range_includes_future']);
  });

  it('name the first values that matched nothing, and count the rest', () => {
    const filters = { campaign_ids: ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'known'] };
    const [warning] = warningsOf({
      report: report('2026-10-01', '2026-10-31'),
      context: { ...context, campaign_ids: ['known'] },
      filters,
      sparse: false,
    });
    expect(warning).to.equal('unknown_campaign_ids: No campaign has the id: a, b, c, d, e and 2 more.');
  });

  it('name several currencies only when money is shown or ordered by', () => {
    const currencies = ['EUR', 'USD'];
    expect(codes({ currencies, money: true })).to.deep.equal(['mixed_currencies']);
    expect(codes({ currencies, sortedByAmount: true })).to.deep.equal(['mixed_currencies']);
    expect(codes({ currencies })).to.deep.equal([]);
    expect(codes({ currencies: ['EUR'], money: true })).to.deep.equal([]);
  });
});
