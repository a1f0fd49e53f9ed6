import { expect } from 'chai';
import fc from 'fast-check';
import { acceptanceClock, recordOrder } from '../../services/shared/record-order.js';

describe('the order of records', () => {
  it('compares event time, acceptance and sequence, as strings and as numbers', () => {
    const year = (text: string) => Date.parse(text);
    const parts = fc.record({
      time: fc.option(
        fc
          .date({
            min: new Date(year('0000-01-01T00:00:00Z')),
            max: new Date(year('9999-12-31T23:59:59.999Z')),
            noInvalidDate: true,
          })
          .filter((date) => /^\d{4}-/.test(date.toISOString()))
          .map((date) => date.toISOString()),
        { nil: null },
      ),
      acceptedAt: fc.oneof(fc.nat(3), fc.integer({ min: 0, max: 9_999_999_999_999 })),
      sequence: fc.oneof(fc.nat(3), fc.integer({ min: 0, max: 9_999_999_999 })),
    });
    const compared = <T extends bigint | number | string>(left: T, right: T) =>
      left === right ? 0 : left < right ? -1 : 1;
    fc.assert(
      fc.property(parts, parts, (left, right) => {
        const order = [left, right].map(({ time, acceptedAt, sequence }) =>
          recordOrder(time, acceptedAt, sequence),
        ) as [string, string];
        const spokenOf = [left, right].map(({ time, acceptedAt }) =>
          time === null ? acceptedAt : Date.parse(time),
        ) as [number, number];
        const expected =
          compared(spokenOf[0], spokenOf[1]) ||
          compared(left.acceptedAt, right.acceptedAt) ||
          compared(left.sequence, right.sequence);
        expect(compared(order[0], order[1])).to.equal(expected);
        expect(compared(BigInt(order[0]), BigInt(order[1]))).to.equal(expected);
        for (const each of order) {
          expect(each).to.match(/^1\d{38}$/);
          expect(BigInt(each) < 2n ** 128n).to.equal(true);
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('accepts records without a time, and offsets beyond ten digits', () => {
    expect(recordOrder(null, -1, 1)).to.equal(recordOrder(null, 0, 1));
    expect(recordOrder(null, 0, 12_345_678_901)).to.equal(recordOrder(null, 0, 2_345_678_901));
  });

  it('reads a leap second as the second after it', () => {
    expect(recordOrder('2016-12-31T23:59:60Z', 0, 0)).to.equal(recordOrder('2017-01-01T00:00:00Z', 0, 0));
  });
});

describe('the acceptance of requests', () => {
  it('orders every line of a request before those of the next, whatever the clock does', () => {
    const steps = fc.array(fc.constantFrom(0, 0, 0, 1, 1000, -5000), { minLength: 1, maxLength: 400 });
    fc.assert(
      fc.property(steps, (moves) => {
        let time = Date.parse('2026-08-01T12:00:00Z');
        const accept = acceptanceClock({ now: () => time });
        let last = '';
        for (const move of moves) {
          const acceptance = accept();
          for (const line of [1, 2, 99_999_999]) {
            const order = recordOrder(null, acceptance.now(), acceptance.sequence + line);
            expect(order > last).to.equal(true);
            last = order;
            time += move;
          }
        }
      }),
    );
  });

  it('gives each record its own time, and requests at once different sequences', () => {
    let time = 1000;
    const accept = acceptanceClock({ now: () => time });
    const [first, second] = [accept(), accept()];
    expect([first.now(), second.now()]).to.deep.equal([1000, 1000]);
    time = 1001;
    expect([first.now(), accept().now()]).to.deep.equal([1001, 1001]);
    expect(first.sequence).not.to.equal(second.sequence);
  });
});
