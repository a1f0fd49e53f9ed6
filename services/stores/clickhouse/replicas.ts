/** Replicas, each of which has all data. One replica serves for as long as it can, then another replica serves. */
import { randomUUID } from 'node:crypto';
import { KeyedMutex, sleep } from '../../shared/async.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import type { ClickHouse, ClickHouseServer } from './client.js';
import { isOfReplica, isPassing, waitsForOthers } from './errors.js';

/** A statement that takes longer than this makes the client check whether its server still responds. */
const PATIENCE_MS = 700;
const PAUSE_MS = 100;
/** Milliseconds after which no further attempt on all replicas begins. */
const REPEAT_READS_MS = 2000;
const REPEAT_WRITES_MS = 4000;

type Work<T> = (server: ClickHouseServer, signal: AbortSignal | undefined) => Promise<T>;

export function replicas(servers: readonly ClickHouseServer[]): ClickHouse {
  const [{ layout }] = servers as readonly [ClickHouseServer];
  /** One insert per table at a time: a second insert would be rejected until the first insert has reached most replicas. */
  const inserting = new KeyedMutex();
  let current = 0;

  async function run<T>(repeatMs: number, work: Work<T>, signal?: AbortSignal): Promise<T> {
    const until = performance.now() + repeatMs;
    for (let failed = 0; ; ) {
      const index = current;
      const server = servers[index] as ClickHouseServer;
      const hasOther = (failed + 1) % servers.length !== 0;
      try {
        return await (hasOther ? whileAnswering(server, work, signal) : work(server, signal));
      } catch (error) {
        if (signal?.aborted || !isOfReplica(error)) throw error;
        if (!waitsForOthers(error)) {
          if (current === index) current = (index + 1) % servers.length;
          failed++;
          if (hasOther) continue;
        }
        if (!isPassing(error) || performance.now() >= until) throw error;
      }
      await sleep(PAUSE_MS * (0.5 + Math.random()), signal);
    }
  }

  return {
    layout,
    engine: null,
    servers,
    pauseInserts: null,
    query: (query, signal) => run(REPEAT_READS_MS, (server, attempt) => server.query(query, attempt), signal),
    async insert(name, rows, options = {}) {
      const token = randomUUID();
      const insert = () =>
        run(REPEAT_WRITES_MS, (server) => server.insert(name, rows, { token, ...options }));
      await (options.grouped ? insert() : inserting.runExclusive([rows.table], insert));
    },
    command: (name, statement) => run(REPEAT_WRITES_MS, (server) => server.command(name, statement)),
    async createDatabase() {
      for (const server of servers) await server.createDatabase();
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

/** Stops waiting once the server no longer responds. Does not stop a running write. */
async function whileAnswering<T>(
  server: ClickHouseServer,
  work: Work<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  const silence = new AbortController();
  const silent = new Promise<never>((_, reject) => {
    silence.signal.addEventListener('abort', () => reject(silence.signal.reason), { once: true });
  });
  const look = async () => {
    if (await server.answers()) timer.refresh();
    else {
      const cause = new Error(`${server.url} does not answer`);
      silence.abort(new StoreUnavailableError('analytics', { cause }));
    }
  };
  const timer = setTimeout(() => void look(), PATIENCE_MS);
  try {
    const attempt = signal ? AbortSignal.any([signal, silence.signal]) : silence.signal;
    return await Promise.race([work(server, attempt), silent]);
  } finally {
    clearTimeout(timer);
  }
}
