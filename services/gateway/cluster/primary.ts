/** Runs several gateway workers on one port with `node:cluster`. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AggregatorRegistry } from 'prom-client';
import type { FromPrimary, FromWorker, MetricValues } from './messages.js';

export interface Primary {
  url: string;
  /** Graceful shutdown of all workers; resolves when all have exited. */
  stop(): Promise<void>;
  /** Resolves when no worker listens and one keeps crashing on start, after all have stopped; the worker has logged the reason. */
  failed: Promise<void>;
}

const BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;
/** Consecutive starts of one slot that exited before listening. */
const MAX_FAILED_STARTS = 5;
/** A worker that ran for less increases the backoff, but is not a failed start. */
const STABLE_MS = 10_000;
const COLLECT_TIMEOUT_MS = 1000;

/**
 * Forks `count` workers, which run this program again, and restarts those that exit. Resolves once all listen; null when the first one
 * exits before it listens, having logged the reason.
 */
export async function startPrimary(
  count: number,
  logger: Logger,
  { backoffMs = BACKOFF_MS } = {},
): Promise<Primary | null> {
  const serving = new Set<Worker>();
  const all = new Set<Worker>();
  let stopping = false;
  let fail: () => void;
  const failed = new Promise<void>((resolve) => {
    fail = resolve;
  });
  const collect = collector(serving);

  function start(): Worker {
    const worker = cluster.fork();
    all.add(worker);
    worker.once('exit', () => {
      all.delete(worker);
      serving.delete(worker);
    });
    // A message to a worker that was just killed; `exit` handles it.
    worker.on('error', () => undefined);
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'listening') serving.add(worker);
      else if (message.type === 'taken') {
        for (const other of serving) if (other !== worker) send(other, message);
      } else if (message.type === 'render') {
        void collect().then((text) => send(worker, { type: 'rendered', id: message.id, text }));
      }
    });
    return worker;
  }

  /** Its URL once it listens; null when it exits before. */
  function listens(worker: Worker): Promise<string | null> {
    return new Promise((resolve) => {
      worker.on('message', (message: FromWorker) => message.type === 'listening' && resolve(message.url));
      worker.once('exit', () => resolve(null));
    });
  }

  /** Restarts the worker of this slot whenever it exits; gives up after too many failed starts in a row while none serves. */
  async function supervise(slot: number, first: Worker): Promise<void> {
    let failedStarts = 0;
    let shortRuns = 0;
    for (let worker = first; ; worker = start()) {
      const began = performance.now();
      const { pid } = worker.process;
      const exit = once(worker, 'exit');
      const listened = (await listens(worker)) !== null;
      const [code, signal] = (await exit) as [number | null, string | null];
      if (stopping) return;
      failedStarts = listened ? 0 : failedStarts + 1;
      shortRuns = listened && performance.now() - began >= STABLE_MS ? 0 : shortRuns + 1;
      const ended = { slot, pid, code, signal };
      if (failedStarts >= MAX_FAILED_STARTS && serving.size === 0) {
        logger.fatal(
          ended,
          `a gateway process exited before listening, ${failedStarts} times in a row, and none listens; stopping`,
        );
        await stop();
        return fail();
      }
      // The first exit after a stable run is restarted at once.
      const delayMs = shortRuns === 0 ? 0 : Math.min(MAX_BACKOFF_MS, backoffMs * 2 ** shortRuns);
      logger.error(ended, `a gateway process exited; restarting it in ${delayMs} ms`);
      await pause(delayMs);
      if (stopping) return;
    }
  }

  async function stop(): Promise<void> {
    stopping = true;
    const ends = [...all].map((worker) => once(worker, 'exit'));
    for (const worker of all) worker.process.kill('SIGTERM');
    await Promise.all(ends);
  }

  const first = start();
  const supervised = supervise(0, first);
  const url = await listens(first);
  if (url === null) {
    stopping = true;
    await supervised;
    return null;
  }
  const others = Array.from({ length: count - 1 }, start);
  for (const [index, worker] of others.entries()) void supervise(index + 1, worker);
  await Promise.all(others.map(listens));
  return { url, failed, stop };
}

function send(worker: Worker, message: FromPrimary): void {
  if (worker.isConnected()) worker.send(message);
}

/** Sums the metrics of all serving workers; leaves out workers that do not answer within a second. */
function collector(serving: ReadonlySet<Worker>): () => Promise<string> {
  let lastId = 0;
  return async () => {
    const id = ++lastId;
    const values = await Promise.all([...serving].map((worker) => collectFrom(worker, id)));
    return AggregatorRegistry.aggregate(values.filter((each) => each !== null)).metrics();
  };
}

function collectFrom(worker: Worker, id: number): Promise<MetricValues | null> {
  return new Promise((resolve) => {
    const settle = (values: MetricValues | null) => {
      clearTimeout(timer);
      worker.off('message', receive);
      resolve(values);
    };
    const receive = (message: FromWorker) => {
      if (message.type === 'collected' && message.id === id) settle(message.values);
    };
    const timer = setTimeout(settle, COLLECT_TIMEOUT_MS, null);
    worker.on('message', receive);
    send(worker, { type: 'collect', id });
  });
}
