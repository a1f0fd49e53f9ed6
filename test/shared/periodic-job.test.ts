import { expect } from 'chai';
import { JobRuns } from '../../services/shared/job-runs.js';
import { PeriodicJob } from '../../services/shared/periodic-job.js';

/** Time that a test moves: `tick` ends the wait of the job, and resolves when it waits again. */
function simulatedTimers(random = 0.5) {
  const waits: number[] = [];
  let now = 0;
  let endWait: () => void = () => undefined;
  let onWait: () => void = () => undefined;
  return {
    waits,
    timers: {
      now: () => now,
      random: () => random,
      sleep: (ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => {
          waits.push(ms);
          endWait = () => {
            now += ms;
            resolve();
          };
          signal?.addEventListener('abort', () => resolve());
          if (signal?.aborted) resolve();
          onWait();
        }),
    },
    tick: () =>
      new Promise<void>((resolve) => {
        onWait = resolve;
        endWait();
      }),
  };
}

const OPTIONS = { name: 'job', intervalMs: 1000, failure: 'the job failed' };

describe('a periodic job', () => {
  it('runs after each wait, with jitter of a quarter', async () => {
    for (const [random, waitMs] of [
      [0, 750],
      [1, 1250],
    ] as const) {
      let runs = 0;
      const { waits, timers, tick } = simulatedTimers(random);
      const job = new PeriodicJob(async () => runs++, { ...OPTIONS, ...timers }).start();
      await tick();
      await tick();
      await job.stop();
      expect(runs).to.equal(2);
      expect(waits).to.deep.equal([waitMs, waitMs, waitMs]);
    }
  });

  it('may wait for another time before its first run, runs once however often it is started, and stops without a start', async () => {
    const { waits, timers, tick } = simulatedTimers();
    await new PeriodicJob(async () => undefined, OPTIONS).stop();
    const job = new PeriodicJob(async () => undefined, { ...OPTIONS, firstRunMs: 5, ...timers });
    job.start().start();
    await tick();
    await job.stop();
    expect(waits).to.deep.equal([5, 1000]);
  });

  it('logs a run that fails, and runs again', async () => {
    let runs = 0;
    const logged: unknown[] = [];
    const error = new Error('no');
    const work = async () => {
      if (++runs === 1) throw error;
    };
    const { timers, tick } = simulatedTimers();
    const log = { warn: (details: object, message: string) => logged.push([details, message]) };
    const job = new PeriodicJob(work, { ...OPTIONS, ...timers, log }).start();
    await tick();
    await tick();
    await job.stop();
    expect(runs).to.equal(2);
    expect(logged).to.deep.equal([[{ err: error }, 'the job failed']]);
  });

  it('logs repeated failures once in a while, with details that the job chooses', async () => {
    let runs = 0;
    const logged: unknown[] = [];
    const work = async () => {
      throw new Error(`run ${++runs}`);
    };
    const { timers, tick } = simulatedTimers();
    const job = new PeriodicJob(work, {
      ...OPTIONS,
      ...timers,
      logIntervalMs: 3000,
      log: { warn: (details) => logged.push(details) },
      details: (error) => ({ text: (error as Error).message }),
    }).start();
    for (let ticks = 0; ticks < 7; ticks++) await tick();
    await job.stop();
    expect(logged).to.deep.equal([{ text: 'run 1' }, { text: 'run 4' }, { text: 'run 7' }]);
  });

  it('resolves a stop once the run under way has ended, whose signal is aborted', async () => {
    const events: string[] = [];
    const { timers, tick } = simulatedTimers();
    let begun: () => void = () => undefined;
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const work = (signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        begun();
        signal.addEventListener('abort', () =>
          setImmediate(() => {
            events.push('run ended');
            resolve();
          }),
        );
      });
    const job = new PeriodicJob(work, { ...OPTIONS, ...timers }).start();
    void tick();
    await running;
    await job.stop();
    expect(events).to.deep.equal(['run ended']);
  });
  it('records its successes, and counts from its start until the first', async () => {
    let runs = 0;
    let now = 5000;
    const jobs = new JobRuns({ now: () => now });
    const work = async () => {
      now += 1000;
      if (++runs === 2) throw new Error('no');
    };
    const { timers, tick } = simulatedTimers();
    const job = new PeriodicJob(work, { ...OPTIONS, ...timers, runs: jobs, dueMs: 60_000 }).start();
    expect([...jobs.all()]).to.deep.equal([['job', { intervalMs: 60_000, succeededAt: 5000 }]]);
    await tick();
    expect([...jobs.all()]).to.deep.equal([['job', { intervalMs: 60_000, succeededAt: 6000 }]]);
    await tick();
    expect([...jobs.all()]).to.deep.equal([['job', { intervalMs: 60_000, succeededAt: 6000 }]]);
    await job.stop();
  });
});
