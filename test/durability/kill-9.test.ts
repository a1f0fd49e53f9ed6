import { randomInt } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { AssertionError, expect } from 'chai';
import { temporaryFolder } from '../support/gateway.js';
import {
  endOf,
  prepareOrganization,
  type ServerProcess,
  spawnServer,
  startServer,
} from '../support/server-process.js';
import { inParallel, Ledger, ORGANIZATION, START_CREDITS } from './ledger.js';
import { type Client, nextOperation, type Operation } from './operations.js';

/** 40 in a run of all tests; CI asks for 200. */
const ROUNDS = Number(process.env.TEST_KILL_ROUNDS ?? 40);
const CLIENTS = 8;

describe('kill -9', function () {
  this.timeout(ROUNDS * 15_000);

  it(`loses nothing that was acknowledged, and does nothing by halves, in ${ROUNDS} rounds of all kinds of writes`, async () => {
    const folder = await temporaryFolder();
    const key = await prepareOrganization(folder.path, ORGANIZATION, START_CREDITS);
    const start = () => startServer({ dataDir: folder.path, key });
    const ledger = new Ledger();
    const shared: Client['shared'] = [];
    const clients = Array.from({ length: CLIENTS }, (_, index): Client => {
      return { ledger, audience: `aud_client_${index}`, shared, contacts: [], campaigns: [] };
    });
    const counts = { answered: 0, unanswered: 0 };
    const startMs: number[] = [];
    let server = await start();
    try {
      const audiences = clients.map(({ audience }, index) => ({ id: audience, name: `Client ${index}` }));
      expect((await server.ingest('audiences', audiences)).body.accepted).to.equal(CLIENTS);
      for (const { id, name } of audiences) ledger.audience(id, name);
      for (let round = 1; round <= ROUNDS; round++) {
        const { answered, unanswered } = await writeUntilKilled(server, clients);
        if (randomInt(5) === 0) await killWhileStarting(folder.path);
        server = await start();
        startMs.push(server.startedMs);
        const current = server;
        await inParallel(
          CLIENTS,
          unanswered.map((operation) => () => operation.settle(current)),
        );
        await ledger.verifyRecent(server);
        if (round % 25 === 0 || round === ROUNDS) await ledger.verifyAll(server);
        expect(server.output(), 'errors in the log').not.to.match(/"level":[56]0/);
        counts.answered += answered;
        counts.unanswered += unanswered.length;
      }
    } finally {
      await server.kill();
      await folder.remove();
    }
    startMs.sort((a, b) => a - b);
    console.log(
      `      ${counts.answered} writes answered, ${counts.unanswered} cut off; restarts took ${middle(startMs)} ms at the median, ${Math.round(startMs.at(-1) ?? 0)} ms at most`,
    );
  });

  it('starts again without help after kills during the very first start', async () => {
    const folder = await temporaryFolder();
    try {
      for (let kill = 0; kill < 8; kill++) await killWhileStarting(folder.path);
      const key = await prepareOrganization(folder.path, ORGANIZATION);
      const server = await startServer({ dataDir: folder.path, key });
      const ready = await server.call('/readyz', undefined, { method: 'GET' });
      await server.kill();
      expect(ready.body).to.deep.include({ ready: true });
    } finally {
      await folder.remove();
    }
  });
});

/** Kills after some answer, or a moment later: in the middle of what the other clients are doing. */
async function writeUntilKilled(
  server: ServerProcess,
  clients: readonly Client[],
): Promise<{ answered: number; unanswered: Operation[] }> {
  const lastAnswer = randomInt(1, 120);
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
        killed = randomInt(2) === 0 ? server.kill() : setTimeout(randomInt(1, 30)).then(() => server.kill());
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
  await setTimeout(randomInt(0, 900));
  child.kill('SIGKILL');
  await ended;
}

const middle = (sorted: readonly number[]) => Math.round(sorted[Math.floor(sorted.length / 2)] ?? 0);
