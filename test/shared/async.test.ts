import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { KeyedMutex, Mutex } from '../../services/shared/async.js';

/** Tasks that log when they start and end; `b` fails. */
function createTasks() {
  const log: string[] = [];
  const task = (name: string, milliseconds: number) => async () => {
    log.push(`${name} starts`);
    await pause(milliseconds);
    log.push(`${name} ends`);
    if (name === 'b') throw new Error('b failed');
    return name;
  };
  return { log, task };
}

const statuses = (outcomes: PromiseSettledResult<unknown>[]) => outcomes.map(({ status }) => status);

describe('a mutex', () => {
  it('runs tasks one at a time in the order of the calls, and goes on after a task that fails', async () => {
    const mutex = new Mutex();
    const { log, task } = createTasks();
    const outcomes = await Promise.allSettled(
      [task('a', 5), task('b', 2), task('c', 1)].map((each) => mutex.runExclusive(each)),
    );
    expect(log).to.deep.equal(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
    expect(statuses(outcomes)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
  });
});

describe('a keyed mutex', () => {
  it('runs tasks that share a key one at a time, and others concurrently', async () => {
    const mutex = new KeyedMutex();
    const { log, task } = createTasks();
    const outcomes = await Promise.allSettled([
      mutex.runExclusive(['1', '2'], task('a', 20)),
      mutex.runExclusive(['3'], task('b', 1)),
      mutex.runExclusive(['2'], task('c', 1)),
    ]);
    expect(log).to.deep.equal(['a starts', 'b starts', 'b ends', 'a ends', 'c starts', 'c ends']);
    expect(statuses(outcomes)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
  });
});
