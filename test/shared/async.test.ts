import { setTimeout as pause } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { KeyedMutex, Mutex, untilAborted } from '../../services/shared/async.js';

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

describe('a source until a signal', () => {
  it('ends when the signal is aborted while the source waits', async () => {
    const abort = new AbortController();
    async function* source() {
      yield 1;
      await new Promise(() => {});
    }
    const read: number[] = [];
    for await (const value of untilAborted(source(), abort.signal)) {
      read.push(value);
      setTimeout(() => abort.abort(), 1);
    }
    expect(read).to.deep.equal([1]);
  });

  it('passes on the error of the source', async () => {
    async function* source() {
      yield 1;
      throw new Error('unreadable');
    }
    const read = async () => {
      for await (const _ of untilAborted(source(), new AbortController().signal));
    };
    expect(await read().catch((error: Error) => error.message)).to.equal('unreadable');
  });

  it('keeps nothing of what was read', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const kept: WeakRef<object>[] = [];
    async function* source() {
      for (let index = 0; index < 100; index++) {
        const value = { index };
        kept.push(new WeakRef(value));
        yield value;
      }
    }
    let count = 0;
    for await (const _ of untilAborted(source(), new AbortController().signal)) {
      if (++count < 100) continue;
      await pause(1);
      collect();
      expect(kept.filter((value) => value.deref() !== undefined).length).to.be.at.most(3);
    }
    expect(count).to.equal(100);
  });
});
