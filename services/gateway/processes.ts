/** Several gateway processes that share one port, on `node:cluster`. */
import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { AggregatorRegistry } from 'prom-client';
import type { Counts, FromGateway, ToGateway } from './peer-messages.js';

export interface Processes {
  url: string;
  /** Has every process finish its requests and end; resolves when all have. */
  stop(): Promise<void>;
  /** Resolves when the processes cannot be kept up any more; the last has said why. */
  failed: Promise<void>;
}

const BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 30_000;
const MAX_FAILURES = 5;
const COUNTS_TIMEOUT_MS = 1000;

/**
 * Starts the processes, each of which runs this program again, and another for each that ends. Null when the first ends before
 * it listens; it has said why.
 */
export async function startProcesses(count: number, logger: Logger): Promise<Processes | null> {
  const serving = new Set<Worker>();
  const all = new Set<Worker>();
  let stopping = false;
  let failures = 0;
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

  /** Has another take its place whenever it ends. */
  async function keepUp(worker: Worker): Promise<void> {
    const { pid } = worker.process;
    const exit = once(worker, 'exit');
    const listened = (await listens(worker)) !== null;
    const [code, signal] = (await exit) as [number | null, string | null];
    if (stopping) return;
    failures = listened ? 0 : failures + 1;
    logger.error({ pid, code, signal }, 'a gateway process ended; another takes its place');
    if (failures >= MAX_FAILURES && serving.size === 0) return fail();
    await pause(listened ? 0 : Math.min(MAX_BACKOFF_MS, BACKOFF_MS * 2 ** failures));
    if (!stopping) void keepUp(start());
  }

  const first = start();
  const kept = keepUp(first);
  const url = await listens(first);
  if (url === null) {
    stopping = true;
    await kept;
    return null;
  }
  const others = Array.from({ length: count - 1 }, start);
  for (const worker of others) void keepUp(worker);
  await Promise.all(others.map(listens));

  return {
    url,
    failed,
    async stop() {
      stopping = true;
      const ends = [...all].map((worker) => once(worker, 'exit'));
      for (const worker of all) worker.process.kill('SIGTERM');
      await Promise.all(ends);
    },
  };
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
