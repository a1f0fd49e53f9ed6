import { setTimeout } from 'node:timers/promises';
import { AssertionError, expect } from 'chai';
import { Random, runs, SEED } from '../support/random.js';
import { repeat } from '../support/repeat.js';
import {
  endOf,
  prepareOrganization,
  type ServerProcess,
  spawnServer,
  startServer,
} from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { Ledger, ORGANIZATION, START_CREDITS } from './ledger.js';
import { type Client, nextOperation, type Operation } from './operations.js';

const ROUNDS = runs(2);
const KILLS_OF_FIRST_START = runs(2);
const CLIENTS = 6;
/** Number of data folders tested in parallel: most of a round waits for one thread. */
const LANES = 2;
const random = new Random(SEED);

describe(`kill -9 (seed ${SEED})`, function () {
  this.timeout(Math.max(ROUNDS, 10) * 15_000);

  it(`starts without repair after kills during its first start, loses nothing that was acknowledged, and does nothing by halves, in ${ROUNDS} rounds of all kinds of writes`, async () => {
    const lanes = await Promise.all(
      Array.from({ length: LANES }, (_, lane) =>
        killRepeatedly(Math.ceil((ROUNDS - lane) / LANES), Math.ceil((KILLS_OF_FIRST_START - lane) / LANES)),
      ),
    );
    const sum = (name: 'answered' | 'unanswered') => lanes.reduce((total, lane) => total + lane[name], 0);
    const startMs = lanes.flatMap((lane) => lane.startMs).sort((a, b) => a - b);
    console.log(
      `      ${sum('answered')} writes answered, ${sum('unanswered')} cut off; a restart took ${middle(startMs)} ms at the median, ${Math.round(startMs.at(-1) ?? 0)} ms at most`,
    );
    expect(sum('unanswered')).to.be.greaterThan(0);
  });
});

interface Lane {
  answered: number;
  unanswered: number;
  /** Milliseconds that each restart took. */
  startMs: number[];
}

/** Tests one data folder: kills during its first start, then rounds of write, kill, start, verify. */
async function killRepeatedly(rounds: number, killsOfFirstStart: number): Promise<Lane> {
  const folder = tempFolder();
  for (let kill = 0; kill < killsOfFirstStart; kill++) await killWhileStarting(folder);
  const key = await prepareOrganization(folder, ORGANIZATION, START_CREDITS);
  const start = () => startServer({ dataDir: folder, key });
  const ledger = new Ledger();
  const shared: Client['shared'] = [];
  const clients = Array.from({ length: CLIENTS }, (_, index): Client => {
    return { ledger, audience: `aud_client_${index}`, shared, contacts: [], campaigns: [] };
  });
  const lane: Lane = { answered: 0, unanswered: 0, startMs: [] };
  let server = await start();
  try {
    const audiences = clients.map(({ audience }, index) => ({ id: audience, name: `Client ${index}` }));
    expect((await server.ingest('audiences', audiences)).body.accepted).to.equal(CLIENTS);
    for (const { id, name } of audiences) ledger.audience(id, name);
    for (let round = 1; round <= rounds; round++) {
      const { answered, unanswered } = await writeUntilKilled(server, clients);
      if (random.below(5) === 0) await killWhileStarting(folder);
      server = await start();
      const current = server;
      await repeat(unanswered.length, CLIENTS, async (index) => unanswered[index]?.settle(current));
      await ledger.verifyRecent(server);
      if (round % 25 === 0 || round === rounds) await ledger.verifyAll(server);
      expect(server.output(), 'errors in the log').not.to.match(/"level":"(error|fatal)"/);
      lane.answered += answered;
      lane.unanswered += unanswered.length;
      lane.startMs.push(server.startedMs);
    }
    return lane;
  } finally {
    await server.kill();
  }
}

/** Kills after a random response or shortly after it, in the middle of the writes of other clients. */
async function writeUntilKilled(
  server: ServerProcess,
  clients: readonly Client[],
): Promise<{ answered: number; unanswered: Operation[] }> {
  const lastAnswer = random.between(1, 49);
  const unanswered: Operation[] = [];
  let answered = 0;
  let killed: Promise<void> | undefined;
  const write = async (client: Client) => {
    for (;;) {
      const operation = nextOperation(client);
      try {
        await operation.send(server);
      } catch (error) {
        if (error instanceof AssertionError) throw error;
        if (!killed) throw new Error(`a connection broke: ${server.output()}`, { cause: error });
        unanswered.push(operation);
        return;
      }
      if (++answered === lastAnswer) {
        killed =
          random.below(2) === 0 ? server.kill() : setTimeout(random.between(1, 29)).then(() => server.kill());
      }
    }
  };
  const results = await Promise.allSettled(clients.map(write));
  await killed;
  for (const result of results) if (result.status === 'rejected') throw result.reason;
  return { answered, unanswered };
}

async function killWhileStarting(dataDir: string): Promise<void> {
  const child = spawnServer({ dataDir });
  const ended = endOf(child);
  await setTimeout(random.between(0, 899));
  child.kill('SIGKILL');
  await ended;
}

const middle = (sorted: readonly number[]) => Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
