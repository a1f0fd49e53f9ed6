import { expect } from 'chai';
import fc from 'fast-check';
import {
  type Acceptance,
  acceptanceClock,
  ONLY_SLOT,
  type OrderSlots,
  recordOrder,
  type SlotLease,
} from '../../services/shared/record-order.js';
import { StoreUnavailableError } from '../../services/shared/store-errors.js';

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
      acceptedAt: fc.oneof(fc.nat(3), fc.integer({ min: 0, max: 4_999_999_999_999 })),
      sequence: fc.oneof(fc.nat(3), fc.integer({ min: 0, max: 9_999_999_999 })),
    });
    /** A time in one of few milliseconds, with further digits, accepted before the year 2080. */
    const fine = fc.record({
      time: fc
        .tuple(
          fc.constantFrom('000', '001'),
          fc.constantFrom('', '0', '1', '5', '05', '001', '999', '500', '9990', '001999'),
        )
        .map(([ms, more]) => `2026-11-01T00:00:00.${ms}${more}Z`),
      acceptedAt: fc.integer({ min: Date.parse('2002-01-01'), max: Date.parse('2080-01-01') }),
      sequence: fc.oneof(fc.nat(3), fc.integer({ min: 0, max: 9_999_999 })),
    });
    const compared = <T extends bigint | number | string>(left: T, right: T) =>
      left === right ? 0 : left < right ? -1 : 1;
    fc.assert(
      fc.property(fc.oneof(fc.tuple(parts, parts), fc.tuple(fine, fine)), ([left, right]) => {
        const order = [left, right].map(({ time, acceptedAt, sequence }) =>
          recordOrder(time, acceptedAt, sequence),
        ) as [string, string];
        const spokenOf = [left, right].map(({ time, acceptedAt }) =>
          // Microseconds; further digits are cut off.
          time === null
            ? acceptedAt * 1000
            : Date.parse(time) * 1000 + Number((/\.\d{3}(\d{1,3})/.exec(time)?.[1] ?? '').padEnd(3, '0')),
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
      { numRuns: 2000 },
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

/** Leases of a slot each, a few milliseconds long, as a store gives them to processes whose clocks differ. */
function sharedSlots(leaseMs: number) {
  const ends = new Map<number, { owner: object; until: number }>();
  return (): OrderSlots => {
    const owner = {};
    let held: SlotLease | undefined;
    return {
      async leaseSlot(now) {
        if (held && ends.get(held.slot)?.owner === owner) {
          held = { ...held, until: Math.max(held.until, now + leaseMs) };
        } else {
          let slot = 1;
          while ((ends.get(slot)?.until ?? 0) > now) slot++;
          held = { slot, from: ends.get(slot)?.until ?? 0, until: now + leaseMs };
        }
        ends.set(held.slot, { owner, until: held.until });
        return held;
      },
    };
  };
}

describe('the acceptance of requests', () => {
  it('orders every line of a request before those of the next, whatever the clock does', async () => {
    const steps = fc.array(fc.constantFrom(0, 0, 0, 1, 1000, -5000), { minLength: 1, maxLength: 400 });
    await fc.assert(
      fc.asyncProperty(steps, async (moves) => {
        let time = Date.parse('2026-08-01T12:00:00Z');
        const accept = acceptanceClock(ONLY_SLOT, { now: () => time });
        let last = '';
        for (const move of moves) {
          const acceptance = await accept();
          for (const line of [1, 2, 999_999, 1_000_000, 25_000_001]) {
            const { acceptedAt, sequence } = acceptance.at(line);
            const order = recordOrder(null, acceptedAt, sequence);
            expect(order > last).to.equal(true);
            last = order;
            time += move;
          }
        }
      }),
    );
  });

  it('gives processes whose clocks differ, stand still or jump no order twice', async () => {
    const step = fc.record({
      process: fc.nat(3),
      move: fc.constantFrom(0, 0, 0, 0, 1, 20, 60_000, -60_000),
      /** Whether an earlier request continues, though its process may have been paused since. */
      goesOn: fc.boolean(),
      restarts: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 200 }), async (schedule) => {
        const slots = sharedSlots(1000);
        const times = [0, 0, 0, 0].map(() => Date.parse('2026-08-01T12:00:00Z'));
        const start = (process: number) => acceptanceClock(slots(), { now: () => times[process] as number });
        const processes = times.map((_, process) => start(process));
        const running: { acceptance: Acceptance; lines: number }[] = [];
        const given = new Set<string>();
        for (const { process, move, goesOn, restarts } of schedule) {
          times[process] = (times[process] as number) + move;
          if (restarts) processes[process] = start(process);
          const accept = processes[process] as () => Promise<Acceptance>;
          if (!goesOn || running.length === 0) running.push({ acceptance: await accept(), lines: 0 });
          for (const request of running) {
            const { acceptedAt, sequence } = request.acceptance.at(++request.lines);
            const order = recordOrder(null, acceptedAt, sequence);
            expect(given.has(order), order).to.equal(false);
            given.add(order);
          }
        }
      }),
    );
  });

  it('follows the time at which a record is read', async () => {
    let time = 1000;
    const accept = acceptanceClock(ONLY_SLOT, { now: () => time });
    const [first, second] = [await accept(), await accept()];
    expect([first.at(1).acceptedAt, second.at(1).acceptedAt]).to.deep.equal([1000, 1000]);
    expect(first.at(2).sequence).not.to.equal(second.at(2).sequence);
    time = 1010;
    expect([first.at(3).acceptedAt, (await accept()).at(1).acceptedAt]).to.deep.equal([1010, 1010]);
  });

  it('gives more requests of a millisecond than it has digits the times after it', async () => {
    const accept = acceptanceClock(ONLY_SLOT, { now: () => 1000 });
    const times: number[] = [];
    for (let request = 0; request < 25; request++) times.push((await accept()).at(1).acceptedAt);
    expect(times).to.deep.equal([...Array(10).fill(1000), ...Array(10).fill(1001), ...Array(5).fill(1002)]);
  });

  it('goes on with what is left of its lease, and refuses requests once that has lapsed', async () => {
    let time = 1000;
    let lease = { slot: 7, from: 0, until: 1500 };
    const slots: OrderSlots = {
      async leaseSlot(now) {
        if (now >= lease.until) throw new StoreUnavailableError('records');
        return lease;
      },
    };
    const accept = acceptanceClock(slots, { now: () => time });
    const running = await accept();
    time = 9000;
    expect(running.at(1)).to.deep.equal({ acceptedAt: 1000, sequence: 70_000_001 });
    expect(() => running.at(1_000_000)).to.throw(StoreUnavailableError);
    const refused = await accept().catch((error: unknown) => error);
    expect(refused).to.be.instanceOf(StoreUnavailableError);
    lease = { slot: 8, from: 9500, until: 10_000 };
    expect((await accept()).at(1)).to.deep.equal({ acceptedAt: 9500, sequence: 80_000_001 });
  });
});
