import { expect } from 'chai';
import fc from 'fast-check';
import { type MetricSums, metricPrinter } from '../../services/advertising/metric-values.js';
import { RATE_NAMES, RATES, type Rate, SUMMED_METRICS } from '../../services/advertising/metrics.js';
import { runs } from '../support/random.js';

const rateOf = (rate: Rate, sums: MetricSums) =>
  JSON.parse(`{${metricPrinter([rate])(sums)}}`)[rate] as number | null;

const PICO = 10n ** 12n;
const plain = (value: bigint) => {
  const fraction = (value % PICO).toString().padStart(12, '0').replace(/0+$/, '');
  return `${value / PICO}${fraction === '' ? '' : `.${fraction}`}`;
};
const aCount = fc.oneof(
  fc.integer({ min: 0, max: 50 }),
  fc.integer({ min: 0, max: 10_000_000 }),
  fc.maxSafeNat(),
);
/** Amounts in units of 10^-12. */
const anAmount = fc.oneof(
  fc.bigInt({ min: 0n, max: 100_000n }).map((cents) => cents * 10n ** 10n),
  fc.bigInt({ min: 0n, max: 10n ** 38n }),
);

describe('rates', () => {
  it('equal exact arithmetic, whatever the size of the figures', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...RATE_NAMES),
        aCount,
        aCount,
        anAmount,
        anAmount,
        (rate, one, two, money, other) => {
          const { numerator, denominator, factor } = RATES[rate];
          const value = (name: keyof typeof SUMMED_METRICS, count: number, amount: bigint) =>
            SUMMED_METRICS[name].kind === 'money'
              ? { shown: plain(amount), exact: amount }
              : { shown: count, exact: BigInt(count) * PICO };
          const above = value(numerator, one, money);
          const below = value(denominator, two, other);
          const actual = rateOf(rate, { [numerator]: above.shown, [denominator]: below.shown });
          if (below.exact === 0n) {
            expect(actual).to.equal(null);
            return;
          }
          const scaled = above.exact * BigInt(factor) * 1_000_000n;
          const millionths = scaled / below.exact + ((scaled % below.exact) * 2n >= below.exact ? 1n : 0n);
          expect(actual).to.equal(Number(plain(millionths * 1_000_000n)));
        },
      ),
      { numRuns: runs(500) },
    );
  });
});
