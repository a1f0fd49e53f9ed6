import { expect } from 'chai';
import fc from 'fast-check';
import {
  addDays,
  countPeriods,
  daysBetween,
  lastOfMonth,
  periodsOf,
  previousRange,
  splitByMonths,
} from '../../services/advertising/calendar.js';

const aDay = fc
  .integer({ min: Date.parse('0001-01-01') / 86_400_000, max: Date.parse('9990-12-31') / 86_400_000 })
  .map((days) => new Date(days * 86_400_000).toISOString().slice(0, 10));
const aRange = fc
  .tuple(aDay, fc.integer({ min: 0, max: 1200 }))
  .map(([start, days]) => ({ start, end: addDays(start, days) }));

describe('the calendar of advertising', () => {
  it('knows the last day of a month, leap years and far years included', () => {
    expect(lastOfMonth('2024-02-03')).to.equal('2024-02-29');
    expect(lastOfMonth('1900-02-01')).to.equal('1900-02-28');
    expect(lastOfMonth('2026-12-31')).to.equal('2026-12-31');
    expect(lastOfMonth('0004-02-01')).to.equal('0004-02-29');
  });

  it('tiles every range with its periods, without gap or overlap, counts them, and splits them between months', () => {
    const granularities = fc.constantFrom('daily' as const, 'monthly' as const);
    fc.assert(
      fc.property(aRange, granularities, fc.integer({ min: 1, max: 500 }), (range, granularity, max) => {
        const periods = periodsOf(range, granularity);
        expect(periods[0]?.start).to.equal(range.start);
        expect(periods.at(-1)?.end).to.equal(range.end);
        periods.forEach(({ period, start, end }, index) => {
          expect(start <= end && start.startsWith(period) && end.startsWith(period)).to.equal(true);
          const before = periods[index - 1];
          if (before) expect([addDays(before.end, 1), before.period < period]).to.deep.equal([start, true]);
        });
        if (granularity === 'daily') expect(periods).to.have.length(daysBetween(range.start, range.end) + 1);
        expect(countPeriods(range, granularity)).to.equal(periods.length);
        const parts = splitByMonths(range, granularity, max);
        expect(parts.flatMap((part) => periodsOf(part, granularity))).to.deep.equal(periods);
        for (const part of parts) {
          const isOneMonth = countPeriods(part, 'monthly') === 1;
          expect(isOneMonth || countPeriods(part, granularity) <= max, part.start).to.equal(true);
        }
      }),
    );
  });

  it('compares with as many days before a range, or with the same days a month or a year earlier', () => {
    const leapYear = { start: '2024-02-29', end: '2024-03-01' };
    expect(previousRange(leapYear, 'previous_period')).to.deep.equal({
      start: '2024-02-27',
      end: '2024-02-28',
    });
    expect(previousRange(leapYear, 'previous_year')).to.deep.equal({
      start: '2023-02-28',
      end: '2023-03-01',
    });
    for (const [start, end, monthBefore] of [
      ['2026-11-01', '2026-11-25', '2026-10-01 2026-10-25'],
      ['2026-11-01', '2026-11-30', '2026-10-01 2026-10-31'],
      ['2026-03-30', '2026-03-31', '2026-02-28 2026-02-28'],
      ['2026-01-05', '2026-02-28', '2025-12-05 2026-01-31'],
    ] as const) {
      const range = previousRange({ start, end }, 'previous_month');
      expect(`${range.start} ${range.end}`).to.equal(monthBefore);
    }
  });
});
