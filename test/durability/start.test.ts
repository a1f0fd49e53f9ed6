import { execFile } from 'node:child_process';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { demoRecords } from '../../services/demo/load.js';
import { utcDate } from '../../services/shared/time.js';
import { Random, SEED } from '../support/random.js';
import { endOf, type ServerProcess, spawnServer, startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';

const DEMO = 'org_demo';
const KEY = /rl_live_[0-9A-Za-z_]+/;

/** The requests that the demo prints, once it has printed all of them. */
async function curlLines(server: ServerProcess): Promise<string[]> {
  for (;;) {
    const lines = server
      .output()
      .split('\n')
      .slice(0, -1)
      .filter((line) => line.startsWith('curl '));
    if (lines.length >= 3) return lines;
    await setTimeout(10);
  }
}

function totals(server: ServerProcess, key: string): Promise<unknown[]> {
  const count = async (path: string, body: object) =>
    (await server.call(path, body, { key })).body.total_count;
  return Promise.all([
    count('/api/contacts/search', { organization_id: DEMO, limit: 1 }),
    count('/api/website-visits/search', { organization_id: DEMO, limit: 1 }),
    count('/api/audiences/search', { organization_id: DEMO, limit: 1 }),
    count('/api/advertising/network_a/campaigns', {
      start_date: '2020-01-01',
      end_date: '2029-12-31',
      granularity: 'monthly',
    }),
  ]);
}

/** The `totals` of the whole sample. */
function sampleTotals(): number[] {
  const sizes = { contacts: 0, 'website-visits': 0, audiences: 0, 'network-a-campaigns': 0 };
  for (const [stream, records] of demoRecords(utcDate(Date.now()))) {
    if (stream in sizes) sizes[stream as keyof typeof sizes] += records.length;
  }
  return Object.values(sizes);
}

async function daysWithImpressions(server: ServerProcess, key: string): Promise<number> {
  const day = (ago: number) => utcDate(Date.now() - ago * 86_400_000);
  const { body, text } = await server.call(
    '/api/advertising/network_a/campaigns',
    {
      start_date: day(200),
      end_date: day(0),
      granularity: 'daily',
      metrics: ['impressions'],
      page_size: 100,
    },
    { key },
  );
  const items = body.items as { timeseries: { period: string; impressions: number }[] }[] | undefined;
  if (!items) throw new Error(text);
  const points = items.flatMap(({ timeseries }) => timeseries);
  return new Set(points.filter(({ impressions }) => impressions > 0).map(({ period }) => period)).size;
}

describe('serve --demo in an empty folder', function () {
  this.timeout(120_000);
  let folder: string;
  let server: ServerProcess;
  let key: string;
  let loaded: unknown[];
  const start = () => startServer({ cwd: folder, args: ['serve', '--demo'] });

  before(() => {
    folder = tempFolder();
  });
  afterEach(async () => {
    await server.kill();
  });

  async function killAmidLoad(): Promise<void> {
    const child = spawnServer({ cwd: folder, args: ['serve', '--demo'] });
    const ended = endOf(child);
    const begun = new Promise<void>((resolve) => {
      child.stderr?.on('data', (chunk: Buffer) => {
        if (chunk.includes('Loading sample')) resolve();
      });
    });
    await Promise.race([begun, ended]);
    await setTimeout(new Random(SEED).between(50, 700));
    child.kill('SIGKILL');
    await ended;
  }

  it(`completes a load that kill -9 interrupted (seed ${SEED}), and prints an address, a key and three requests that work when copied`, async () => {
    await killAmidLoad();
    server = await start();
    const lines = await curlLines(server);
    expect(lines).to.have.length(3);
    [key = ''] = KEY.exec(server.output()) ?? [];
    for (const line of lines) {
      const { stdout } = await promisify(execFile)('sh', ['-c', `export KEY=${key}; ${line}`]);
      const answer = JSON.parse(stdout) as Record<string, unknown[]>;
      expect(answer.contacts ?? answer.visits ?? answer.items, `${line}\n${stdout}`).to.be.an('array').that.is
        .not.empty;
    }
    loaded = await totals(server, key);
    expect(loaded).to.deep.equal(sampleTotals());
    expect(await daysWithImpressions(server, key)).to.equal(180);
    const found = await server.call('/api/audiences/search', { organization_id: DEMO, limit: 1 }, { key });
    const { body } = await server.call(
      '/api/contacts/create?dry_run=true&required_credits=0',
      { organization_id: DEMO, audience_id: (found.body.audiences as { id: string }[])[0]?.id },
      { key },
    );
    expect(body.credit_balance).to.equal(1000);
    expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
  });

  it('loads nothing again on existing data', async () => {
    server = await start();
    // Each start ends the key of the start before.
    await curlLines(server);
    const [newKey = ''] = KEY.exec(server.output()) ?? [];
    expect(await totals(server, newKey)).to.deep.equal(loaded);
    expect(await server.stop()).to.deep.equal({ code: 0, signal: null });
    const again = server.output();
    expect(again).not.to.contain('Loading sample');
    expect(again).to.match(/^export KEY=rl_live_\w+$/m);
  });
});
