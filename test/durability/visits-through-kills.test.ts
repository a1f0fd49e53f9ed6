import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { run, takenPort } from '../cli/support.js';
import { temporaryFolder } from '../support/gateway.js';
import { Random, SEED } from '../support/random.js';
import { prepareOrganization, type ServerProcess, startServer } from '../support/server-process.js';

const VISITS = Number(process.env.TEST_VISITS ?? 12_000);
const BATCH_RECORDS = 1000;
/** The server is killed after 1 to this many answered batches. */
const MAX_BATCHES_PER_KILL = Number(process.env.TEST_BATCHES_PER_KILL ?? 3);
const SENDERS = 4;
const RETRY_MS = 100;
const ORGANIZATION = 'org_shipper';

const idOf = (visit: number) => `visit-${visit}`;

/** A batch as a shipper sends it: NDJSON in gzip. */
function batchBody(batch: number): Buffer {
  const lines: string[] = [];
  for (let visit = batch * BATCH_RECORDS; visit < Math.min((batch + 1) * BATCH_RECORDS, VISITS); visit++) {
    lines.push(
      JSON.stringify({
        id: idOf(visit),
        createdAt: new Date(Date.UTC(2026, 0, 1) + visit * 7919).toISOString(),
        startUrl: `https://site.example/page/${visit % 997}`,
        countryCode: ['US', 'DE', 'FR'][visit % 3],
        ipAddress: `10.${(visit >> 16) & 255}.${(visit >> 8) & 255}.${visit & 255}`,
        intentScore: visit % 100,
      }),
    );
  }
  return gzipSync(lines.join('\n'), { level: 1 });
}

interface Shipped {
  /** Requests after which a batch was sent again, whether or not the server had stored it. */
  repeated: number;
  statuses: Map<string, number>;
}

/** Knows status codes alone: 2xx is done, 429, 5xx and a broken connection are sent again, anything else is lost. */
async function ship(url: string, key: string, onAnswered: () => void): Promise<Shipped> {
  const batches = Math.ceil(VISITS / BATCH_RECORDS);
  const shipped: Shipped = { repeated: 0, statuses: new Map() };
  let next = 0;
  const send = async () => {
    for (let batch = next++; batch < batches; batch = next++) {
      const body = batchBody(batch);
      for (;;) {
        const status = await fetch(`${url}/api/ingest/website-visits`, {
          method: 'POST',
          headers: {
            'Content-Type': 'application/x-ndjson',
            'Content-Encoding': 'gzip',
            'X-Api-Key': key,
          },
          body,
        }).then(
          async (response) => {
            await response.arrayBuffer();
            return String(response.status);
          },
          () => 'no answer',
        );
        shipped.statuses.set(status, (shipped.statuses.get(status) ?? 0) + 1);
        if (/^2/.test(status)) break;
        expect(status, 'a status that a shipper does not retry').to.match(/^(429|5\d\d|no answer)$/);
        shipped.repeated++;
        await pause(RETRY_MS);
      }
      onAnswered();
    }
  };
  await Promise.all(Array.from({ length: SENDERS }, send));
  return shipped;
}

const random = new Random(SEED);

describe(`Visits of a shipper (seed ${SEED})`, function () {
  this.timeout(60_000 + VISITS * 2);

  it(`are all there, each once, after ${VISITS} of them went to a server that was killed again and again`, async () => {
    const folder = await temporaryFolder();
    let server: ServerProcess | undefined;
    try {
      const dataDir = join(folder.path, 'data');
      const key = await prepareOrganization(dataDir, ORGANIZATION);
      const { port, release } = await takenPort();
      await release();
      const environment = { PORT: String(port) };
      const start = () => startServer({ dataDir, key, environment });
      server = await start();
      const startMs: number[] = [];
      let untilKill = random.between(1, MAX_BATCHES_PER_KILL);
      let restarting: Promise<void> | undefined;
      const killAndRestart = async () => {
        await pause(random.below(60));
        await server?.kill();
        server = await start();
        startMs.push(server.startedMs);
        untilKill = random.between(1, MAX_BATCHES_PER_KILL);
        restarting = undefined;
      };
      const startedAt = performance.now();
      const { repeated, statuses } = await ship(server.url, key, () => {
        if (!restarting && --untilKill <= 0) restarting = killAndRestart();
      });
      await restarting;
      const seconds = (performance.now() - startedAt) / 1000;
      const { body } = await server.call('/api/website-visits/search', {
        organization_id: ORGANIZATION,
        limit: 1,
      });
      expect(body.total_count).to.equal(VISITS);

      const file = join(folder.path, 'visits.ndjson');
      const exported = await run(
        ['export', 'website-visits', '--out', file, '--organization', ORGANIZATION],
        {
          env: { REACHLINE_DATA_DIR: dataDir, ...environment },
        },
      );
      expect(exported.code, exported.stderr).to.equal(0);
      const seen = new Uint8Array(VISITS);
      for await (const line of createInterface({ input: createReadStream(file) })) {
        const { id, intentScore } = JSON.parse(line) as { id: string; intentScore: number };
        const visit = Number(id.slice('visit-'.length));
        expect(idOf(visit)).to.equal(id);
        expect(intentScore, id).to.equal(visit % 100);
        seen[visit] = (seen[visit] as number) + 1;
      }
      const wrong = seen.reduce<string[]>((all, times, visit) => {
        if (times !== 1) all.push(`${idOf(visit)}: ${times} times`);
        return all;
      }, []);
      expect(wrong.slice(0, 10)).to.deep.equal([]);
      expect(startMs.length, 'kills').to.be.greaterThan(1);
      expect(repeated, 'requests sent again').to.be.greaterThan(0);
      const sorted = startMs.sort((a, b) => a - b);
      console.log(
        `      ${VISITS} visits in ${seconds.toFixed(0)} s, ${startMs.length} kills, ${repeated} requests sent again (${[...statuses].map(([status, count]) => `${status}: ${count}`).join(', ')}); a restart took ${Math.round(sorted[sorted.length >> 1] ?? 0)} ms at the median, ${Math.round(sorted.at(-1) ?? 0)} ms at most`,
      );
    } finally {
      await server?.kill();
      await folder.remove();
    }
  });
});
