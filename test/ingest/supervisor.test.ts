import { expect } from 'chai';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { STREAM_NAMES } from '../../ingest/streams/index.js';
import type { IngestStores } from '../../ingest/streams/stream.js';
import { superviseWorker } from '../../ingest/worker/supervisor.js';
import type { Worker } from '../../ingest/worker/worker.js';
import { until } from '../support/until.js';
import { KAFKA_CONFIG } from './memory-cluster.js';

/** A worker that ends on request. */
class TestWorker implements Worker {
  isStopped = false;
  fail: (error: Error) => void = () => undefined;
  readonly failed = new Promise<Error>((resolve) => {
    this.fail = resolve;
  });
  readonly ping = async () => undefined;
  readonly failing = () => [];
  readonly stop = async () => {
    this.isStopped = true;
  };
}

describe('The supervisor of a worker', () => {
  const supervise = (start: () => Promise<Worker>, restartMs = 1) =>
    superviseWorker(KAFKA_CONFIG, {} as IngestStores, new Registry(), pino({ level: 'silent' }), {
      start,
      restartMs,
    });

  it('restarts a worker that failed, after it has stopped', async () => {
    const workers: TestWorker[] = [];
    const supervisor = supervise(async () => {
      workers.push(new TestWorker());
      return workers.at(-1) as TestWorker;
    });
    await until(() => workers.length === 1, 'the worker is started');
    workers[0]?.fail(new Error('a consumer that failed does not end'));
    await until(() => workers.length === 2, 'the worker is started again');
    await until(() => supervisor.failing().length === 0, 'its streams run');
    expect(workers.map(({ isStopped }) => isStopped)).to.deep.equal([true, false]);
    await supervisor.stop();
    expect(workers.map(({ isStopped }) => isStopped)).to.deep.equal([true, true]);
  });

  it('tries again while Kafka is unavailable', async () => {
    let starts = 0;
    const supervisor = supervise(async () => {
      if (++starts < 3) throw new Error('Kafka does not answer');
      return new TestWorker();
    });
    await until(() => starts === 3, 'the worker is started');
    await supervisor.stop();
  });

  it('stops at once while a worker is still connecting', async () => {
    const supervisor = supervise(() => new Promise(() => undefined));
    await supervisor.stop();
  });

  it('stops at once while it waits for a restart', async () => {
    let starts = 0;
    const supervisor = supervise(async () => {
      starts++;
      throw new Error('Kafka does not answer');
    }, 60_000);
    await until(() => starts === 1, 'the worker is started');
    expect(supervisor.failing()).to.deep.equal(STREAM_NAMES);
    await supervisor.stop();
    expect(starts).to.equal(1);
  });
});
