import { expect } from 'chai';
import fc from 'fast-check';
import { ClockComparison, ClockSkewError } from '../../services/shared/clock-comparison.js';
import { ClockMemory } from '../../services/shared/clock-memory.js';

const T0 = Date.parse('2026-08-01T12:00:00Z');
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** A data folder that processes open one after another, with a clock that a test sets. */
function folder(notedMs: number | null = T0) {
  const state = { notedMs, wallMs: T0, monotonicMs: 0 };
  const note = {
    read: () => state.notedMs,
    write: (milliseconds: number) => {
      state.notedMs = milliseconds;
    },
  };
  const clock = { now: () => state.wallMs };
  const monotonic = () => state.monotonicMs;
  const run = (milliseconds: number) => {
    state.wallMs += milliseconds;
    state.monotonicMs += milliseconds;
  };
  return {
    state,
    run,
    start: () => new ClockMemory(note, clock, monotonic),
    compare: () => {
      const clocks = new ClockComparison(clock, monotonic);
      clocks.remember(note);
      return clocks;
    },
  };
}

const isAllowed = (clocks: ClockComparison) =>
  clocks.requireRightClock().then(
    () => true,
    (error: unknown) => {
      if (error instanceof ClockSkewError) return false;
      throw error;
    },
  );

describe('The clock of an embedded server', () => {
  it('is believed up to 30 days after the time that the data folder noted, and not beyond', async () => {
    for (const [leapMs, allowed] of [
      [0, true],
      [30 * DAY_MS, true],
      [30 * DAY_MS + 1, false],
      [3650 * DAY_MS, false],
      [-3650 * DAY_MS, true],
    ] as const) {
      const { state, compare } = folder();
      state.wallMs += leapMs;
      expect(await isAllowed(compare()), String(leapMs)).to.equal(allowed);
      expect(state.notedMs, 'a time that is not believed is not noted').to.equal(
        allowed && leapMs > 0 ? T0 + leapMs : T0,
      );
    }
  });

  it('is believed in a new folder, which notes it', async () => {
    const { state, compare } = folder(null);
    expect(await isAllowed(compare())).to.equal(true);
    expect(state.notedMs).to.equal(T0);
  });

  it('is believed once it has run for a day, and a new process begins that day again', async () => {
    const { state, run, compare } = folder();
    state.wallMs += 400 * DAY_MS;
    let clocks = compare();
    run(DAY_MS - 1);
    expect(await isAllowed(clocks)).to.equal(false);
    expect(clocks.problems()[0]).to.match(
      /^The clock of this process is 400 days ahead of 2026-08-01T12:00:00/,
    );
    clocks = compare();
    run(DAY_MS - 1);
    expect(await isAllowed(clocks)).to.equal(false);
    run(1);
    expect(await isAllowed(clocks)).to.equal(true);
    expect(state.notedMs).to.equal(state.wallMs);
    expect(await isAllowed(compare())).to.equal(true);
  });

  it('is not believed when it is set while the process runs, until a day after that', async () => {
    const { state, run, compare } = folder();
    const clocks = compare();
    for (let hour = 0; hour < 100; hour++) {
      run(HOUR_MS);
      expect(await isAllowed(clocks)).to.equal(true);
    }
    const before = state.wallMs;
    state.wallMs += 365 * DAY_MS;
    expect(clocks.corrected.now()).to.equal(before);
    expect(await isAllowed(clocks)).to.equal(false);
    run(HOUR_MS);
    expect(clocks.corrected.now()).to.equal(before + HOUR_MS);
    state.wallMs -= 365 * DAY_MS;
    expect(await isAllowed(clocks)).to.equal(true);
    expect(state.notedMs).to.equal(state.wallMs);
  });

  it('is believed at once where somebody has noted the time', async () => {
    const { state, compare } = folder();
    state.wallMs += 400 * DAY_MS;
    const clocks = compare();
    expect(await isAllowed(clocks)).to.equal(false);
    state.notedMs = state.wallMs;
    expect(await isAllowed(clocks)).to.equal(true);
    expect(clocks.problems()).to.deep.equal([]);
  });

  it('that was wrong for long is forgotten a day after it was set right', async () => {
    const { state, run, compare } = folder(T0 + 400 * DAY_MS);
    const clocks = compare();
    await clocks.compare();
    expect(state.notedMs).to.equal(T0 + 400 * DAY_MS);
    run(DAY_MS);
    await clocks.compare();
    expect(state.notedMs).to.equal(T0 + DAY_MS);
  });

  it('counts as the noted time and what passed since, while it is not believed, whatever is started and set', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('run' as const), ms: fc.integer({ min: 1, max: 12 * HOUR_MS }) }),
      fc.record({ kind: fc.constant('set' as const), ms: fc.integer({ min: -50_000, max: 50_000 }) }),
      fc.constant({ kind: 'start' as const, ms: 0 }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const { state, run, start } = folder();
        let memory = start();
        let steadyMs = 0;
        for (const { kind, ms } of steps) {
          if (kind === 'run') {
            run(ms);
            steadyMs += ms;
          } else {
            if (kind === 'set') state.wallMs = T0 + ms * DAY_MS;
            steadyMs = 0;
            memory = start();
          }
          memory.check();
          const leapMs = memory.leapMs();
          const believedMs = state.wallMs - leapMs;
          const isLarge = state.wallMs - (state.notedMs ?? 0) > 30 * DAY_MS && steadyMs < DAY_MS;
          expect(leapMs > 0).to.equal(isLarge);
          if (isLarge) expect(believedMs).to.equal((state.notedMs ?? 0) + steadyMs);
        }
      }),
    );
  });
});
