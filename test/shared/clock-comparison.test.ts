import { expect } from 'chai';
import { ClockComparison, ClockSkewError } from '../../services/shared/clock-comparison.js';
import { PeriodicJob } from '../../services/shared/periodic-job.js';

const T0 = Date.parse('2026-08-01T12:00:00Z');
const DAY_MS = 86_400_000;

/** A server and a process, whose clocks a test moves apart. */
function clocks() {
  const state = { passed: 0, ahead: 0, isDown: false, reads: 0 };
  const comparison = new ClockComparison({ now: () => T0 + state.passed + state.ahead }, () => state.passed);
  comparison.add('records', async () => {
    state.reads++;
    if (state.isDown) throw new Error('the server is down');
    return T0 + state.passed;
  });
  return { state, comparison };
}

const outcome = (work: Promise<void>) =>
  work.then(
    () => 'allowed',
    (error: unknown) => (error instanceof ClockSkewError ? 'refused' : error),
  );

describe('The comparison of clocks', () => {
  it('refuses deletions to a process whose clock is more than 30 s ahead or behind, and says so', async () => {
    for (const [ahead, expected, problem] of [
      [0, 'allowed', undefined],
      [30_000, 'allowed', undefined],
      [-30_000, 'allowed', undefined],
      [30_001, 'refused', /30 s ahead of the records store/],
      [-DAY_MS, 'refused', /86400 s behind the records store/],
      [DAY_MS, 'refused', /86400 s ahead of the records store, so it deletes nothing/],
    ] as const) {
      const { state, comparison } = clocks();
      state.ahead = ahead;
      expect(await outcome(comparison.requireRightClock()), String(ahead)).to.equal(expected);
      if (problem) expect(comparison.problems()[0]).to.match(problem);
      else expect(comparison.problems()).to.deep.equal([]);
    }
  });

  it('asks a server once a minute, and at once after the clock has jumped', async () => {
    const { state, comparison } = clocks();
    for (let run = 0; run < 5; run++) await comparison.requireRightClock();
    expect(state.reads).to.equal(1);
    state.passed += 61_000;
    await comparison.requireRightClock();
    expect(state.reads).to.equal(2);
    state.ahead = DAY_MS;
    expect(await outcome(comparison.requireRightClock())).to.equal('refused');
    state.ahead = 0;
    expect(await outcome(comparison.requireRightClock())).to.equal('allowed');
  });

  it('refuses deletions before a server has told its time, and after a jump that it cannot tell', async () => {
    const { state, comparison } = clocks();
    state.isDown = true;
    expect(await outcome(comparison.requireRightClock())).to.equal('refused');
    state.isDown = false;
    await comparison.requireRightClock();
    state.isDown = true;
    state.passed += 61_000;
    expect(await outcome(comparison.requireRightClock())).to.equal('allowed');
    state.ahead = 5000;
    expect(await outcome(comparison.requireRightClock())).to.equal('refused');
  });

  it('gives the time of the server where the clock of the process is wrong', async () => {
    const { state, comparison } = clocks();
    state.ahead = DAY_MS;
    await comparison.compare();
    state.passed += 1000;
    expect(comparison.corrected.now()).to.equal(T0 + 1000);
  });

  it('leaves out the runs of a job that deletes, and no others', async () => {
    const { state, comparison } = clocks();
    state.ahead = DAY_MS;
    const ran: string[] = [];
    const warned: object[] = [];
    for (const deletes of [comparison, undefined]) {
      let waits = 0;
      let done: () => void = () => undefined;
      const ended = new Promise<void>((resolve) => {
        done = resolve;
      });
      const job = new PeriodicJob(async () => ran.push(deletes ? 'deletes' : 'reads'), {
        name: 'job',
        intervalMs: 1000,
        failure: 'failed',
        deletes,
        log: { warn: (details) => void warned.push(details) },
        sleep: async (_, signal) => {
          if (waits++ < 2) return;
          done();
          await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
        },
      }).start();
      await ended;
      await job.stop();
    }
    expect(ran).to.deep.equal(['reads', 'reads']);
    expect(warned).to.have.length(2);
  });
});
