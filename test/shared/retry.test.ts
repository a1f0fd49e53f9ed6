import { expect } from 'chai';
import { retry } from '../../services/shared/retry.js';

const failureOf = (work: Promise<unknown>) => work.then(() => null).catch((error: Error) => error);

const POLICY = { firstMs: 10, maxMs: 50 };

/** A clock that only moves while somebody sleeps. */
function simulatedTime(random = 1) {
  const waits: number[] = [];
  let now = 0;
  return {
    waits,
    timers: {
      now: () => now,
      random: () => random,
      async sleep(ms: number) {
        waits.push(ms);
        now += ms;
      },
    },
  };
}

/** Fails `times` times, then resolves with the number of its attempts. */
function failing(times: number) {
  const work = async () => {
    work.attempts++;
    if (work.attempts <= times) throw new Error(`attempt ${work.attempts}`);
    return work.attempts;
  };
  work.attempts = 0;
  return work;
}

describe('retry', () => {
  it('does not wait for work that succeeds', async () => {
    const { waits, timers } = simulatedTime();
    expect(await retry(POLICY, failing(0), timers)).to.equal(1);
    expect(waits).to.deep.equal([]);
  });

  it('doubles its waits up to the longest', async () => {
    const { waits, timers } = simulatedTime();
    expect(await retry(POLICY, failing(5), timers)).to.equal(6);
    expect(waits).to.deep.equal([10, 20, 40, 50, 50]);
  });

  it('takes up to half off each wait', async () => {
    const { waits, timers } = simulatedTime(0);
    await retry(POLICY, failing(3), timers);
    expect(waits).to.deep.equal([5, 10, 20]);
  });

  it('throws the last error after the last retry', async () => {
    const { waits, timers } = simulatedTime();
    const error = await failureOf(retry({ ...POLICY, retries: 2 }, failing(9), timers));
    expect(error?.message).to.equal('attempt 3');
    expect(waits).to.have.lengthOf(2);
  });

  it('throws the error of the first attempt that ends after the time limit', async () => {
    const { timers } = simulatedTime();
    const error = await failureOf(retry({ ...POLICY, timeoutMs: 65 }, failing(9), timers));
    expect(error?.message).to.equal('attempt 4');
  });

  it('throws an error that is not retriable at once', async () => {
    const work = failing(9);
    const { timers } = simulatedTime();
    const isRetriable = (error: unknown) => (error as Error).message !== 'attempt 2';
    expect((await failureOf(retry(POLICY, work, { ...timers, isRetriable })))?.message).to.equal('attempt 2');
    expect(work.attempts).to.equal(2);
  });

  it('reports each error that it retries', async () => {
    const reported: string[] = [];
    const { timers } = simulatedTime();
    const onRetry = (error: unknown) => reported.push((error as Error).message);
    await retry(POLICY, failing(2), { ...timers, onRetry });
    expect(reported).to.deep.equal(['attempt 1', 'attempt 2']);
  });

  it('starts nothing once its signal is aborted, and throws its reason', async () => {
    const work = failing(9);
    const controller = new AbortController();
    const { timers } = simulatedTime();
    const onRetry = () => controller.abort(new Error('stopped'));
    const error = await failureOf(retry(POLICY, work, { ...timers, onRetry, signal: controller.signal }));
    expect(error?.message).to.equal('stopped');
    expect(work.attempts).to.equal(1);
  });

  it('ends a wait when its signal is aborted', async () => {
    const controller = new AbortController();
    const outcome = retry({ firstMs: 3_600_000, maxMs: 3_600_000 }, failing(9), {
      signal: controller.signal,
    });
    setImmediate(() => controller.abort(new Error('stopped')));
    expect((await failureOf(outcome))?.message).to.equal('stopped');
  });
});
