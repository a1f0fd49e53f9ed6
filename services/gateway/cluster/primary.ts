/** Several gateway processes that share one port, on `node:cluster`. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AggregatorRegistry } from 'prom-client';
import type { Counts, FromGateway, ToGateway } from './messages.js';

export interface Processes {
  url: string;
  /** Has every process finish its requests and end; resolves when all have. */
  stop(): Promise<void>;
  /** Resolves when one of them could not be started again and again, once the others have been stopped; the log says why. */
  failed: Promise<void>;
}

const BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;
/** Starts of one slot, in a row, that ended before the process listened. */
const MAX_FAILED_STARTS = 5;
/** A process that ran for less counts as failed for the backoff, though not as a failed start. */
const STABLE_MS = 10_000;
const COUNTS_TIMEOUT_MS = 1000;

/**
 * Starts the processes, each of which runs this program again, and another for each that ends. Null when the first ends before
 * it listens; it has said why.
 */
export async function startProcesses(
  count: number,
  logger: Logger,
  { backoffMs = BACKOFF_MS } = {},
): Promise<Processes | null> {
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
    // A message to a process that has just been killed; its end is dealt with where it is waited for.
    worker.on('error', () => undefined);
    worker.on('message', (message: FromGateway) => {
      if (message.type === 'listening') serving.add(worker);
      else if (message.type === 'spent') {
        for (const other of serving) if (other !== worker) send(other, message);
      } else if (message.type === 'render') {
        void collect().then((text) => send(worker, { type: 'rendered', id: message.id, text }));
      }
    });
    return worker;
  }

  /** The address it listens on; null when it ended before. */
  function listens(worker: Worker): Promise<string | null> {
    return new Promise((resolve) => {
      worker.on('message', (message: FromGateway) => message.type === 'listening' && resolve(message.url));
      worker.once('exit', () => resolve(null));
    });
  }

  /** Starts a process in this slot again whenever it ends, until too many starts in a row have failed. */
  async function supervise(slot: number, first: Worker): Promise<void> {
    let failedStarts = 0;
    let shortRuns = 0;
    for (let worker = first; ; worker = start()) {
      const began = Date.now();
      const { pid } = worker.process;
      const exit = once(worker, 'exit');
      const listened = (await listens(worker)) !== null;
      const [code, signal] = (await exit) as [number | null, string | null];
      if (stopping) return;
      failedStarts = listened ? 0 : failedStarts + 1;
      shortRuns = listened && Date.now() - began >= STABLE_MS ? 0 : shortRuns + 1;
      const ended = { slot, pid, code, signal };
      if (failedStarts >= MAX_FAILED_STARTS) {
        logger.fatal(
          ended,
          `a gateway process ended before it listened, ${failedStarts} times in a row; all processes are stopped`,
        );
        await stop();
        return fail();
      }
      // The first end of a process that had been running is made up for at once.
      const delayMs = shortRuns === 0 ? 0 : Math.min(MAX_BACKOFF_MS, backoffMs * 2 ** shortRuns);
      logger.error(ended, `a gateway process ended; another takes its place in ${delayMs} ms`);
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

function send(worker: Worker, message: ToGateway): void {
  if (worker.isConnected()) worker.send(message);
}

/** Adds up the metrics of all serving processes; one that does not answer in time is left out. */
function collector(serving: ReadonlySet<Worker>): () => Promise<string> {
  let lastId = 0;
  return async () => {
    const id = ++lastId;
    const counts = await Promise.all([...serving].map((worker) => countsOf(worker, id)));
    return AggregatorRegistry.aggregate(counts.filter((given) => given !== null)).metrics();
  };
}

function countsOf(worker: Worker, id: number): Promise<Counts | null> {
  return new Promise((resolve) => {
    const settle = (counts: Counts | null) => {
      clearTimeout(timer);
      worker.off('message', receive);
      resolve(counts);
    };
    const receive = (message: FromGateway) => {
      if (message.type === 'counts' && message.id === id) settle(message.counts);
    };
    const timer = setTimeout(settle, COUNTS_TIMEOUT_MS, null);
    worker.on('message', receive);
    send(worker, { type: 'count', id });
  });
}
