/** The process of the embedded ClickHouse dies, or is killed because a statement does not end. */
import { readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ANALYTICS_FOLDER } from '../../services/stores/data-folder/layout.js';
import { enginePid, isAlive, procFile, runningEngine } from '../support/engine-pid.js';
import { callerOf } from '../support/gateway.js';
import { Random, SEED } from '../support/random.js';
import { prepareOrganization, type ServerProcess, startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/** Takes a core for hours: inside a block, the engine checks neither its time limit nor `KILL QUERY`. */
const ENDLESS = 'SELECT arrayCount(x -> has(range(1000000), x), range(1000000))';
const RANGE = { start_date: '2026-11-01', end_date: '2026-11-20', granularity: 'monthly', page_size: 1 };
const SECRET = 'password-of-a-server';

describe(`The process of the engine (TEST_SEED=${SEED})`, function () {
  this.timeout(120_000);
  let server: ServerProcess;
  let dataDir: string;
  let key: string;
  let otherKey: string;

  before(async () => {
    dataDir = join(tempFolder(), 'data');
    key = await prepareOrganization(dataDir, 'org_a');
    otherKey = await prepareOrganization(dataDir, 'org_b');
    server = await startServer({
      dataDir,
      key,
      environment: { ELASTICSEARCH_ADMIN_PASSWORD: SECRET },
    });
    const { body } = await server.ingest('network-a-campaigns', [
      { organization_id: 'org_a', id: 'cam', name: 'x' },
    ]);
    expect(body.accepted).to.equal(1);
  });
  after(() => server.kill());

  it('has no password of the gateway in its environment, and its own folder as the working directory', () => {
    const pid = enginePid(server) as number;
    expect(procFile(server.pid, 'environ')).to.include(SECRET);
    expect(procFile(pid, 'environ')).not.to.include(SECRET).and.not.to.include('REACHLINE_');
    expect(readlinkSync(`/proc/${pid}/cwd`)).to.equal(join(dataDir, ANALYTICS_FOLDER));
  });

  it('loses nothing that was acknowledged when it is killed again and again under ingest', async () => {
    const random = new Random(SEED);
    const CLIENTS = 4;
    const BATCHES = 6;
    const KILLS = 8;
    let acknowledged = 0;
    let refused = 0;
    let sum = 0;
    const write = async (client: number) => {
      for (let batch = 0; batch < BATCHES; batch++) {
        const records = Array.from({ length: 50 }, (_, index) => ({
          organization_id: 'org_a',
          date: `2026-11-${String(1 + (index % 20)).padStart(2, '0')}`,
          campaign_id: 'cam',
          creative_id: `cre_${client}_${batch}_${index}`,
          impressions: random.between(1, 1000),
          ad_spend: 1,
        }));
        // Like a client: repeated until it is accepted.
        for (;;) {
          const { status, body, text } = await server.ingest('network-a-deliveries', records);
          if (status === 200) {
            expect(body, text).to.include({ accepted: 50 });
            break;
          }
          expect(status, text).to.equal(503);
          refused++;
        }
        acknowledged++;
        sum += records.reduce((total, { impressions }) => total + impressions, 0);
      }
    };
    let isWriting = true;
    let kills = 0;
    const killer = async () => {
      while (isWriting && kills < KILLS) {
        const pid = await runningEngine(server);
        const before = acknowledged;
        await until(() => acknowledged > before + random.below(4) || !isWriting, 'a batch is accepted');
        if (!isWriting) return;
        process.kill(pid, 'SIGKILL');
        kills++;
        await until(() => !isAlive(pid), 'the engine is gone');
      }
    };
    const killing = killer();
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => write(client)));
    isWriting = false;
    await killing;
    const list = () => server.call('/api/advertising/network_a/campaigns', RANGE);
    await until(async () => (await list()).status === 200, 'the list is answered');
    const { body, text } = await list();
    console.log(`      ${acknowledged} batches accepted, ${refused} refused, ${kills} kills`);
    expect(kills).to.be.above(2);
    const [totals] = body.totals as { impressions: number; ad_spend: string }[];
    expect(totals, text.slice(0, 500)).to.include({ impressions: sum });
    expect(Number(totals?.ad_spend)).to.equal(acknowledged * 50);
  });

  it('is killed with a statement that cannot be ended: its organization is refused SQL for a while, and others are served', async () => {
    const first = enginePid(server) as number;
    const other = callerOf(server.url, otherKey);
    const leaving = new AbortController();
    const asking = fetch(`${server.url}/api/sql`, {
      method: 'POST',
      headers: { 'X-Api-Key': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ statement: ENDLESS }),
      signal: leaving.signal,
    });
    const cpu = () => Number(procFile(first, 'stat').split(') ')[1]?.split(' ')[11]);
    const idle = cpu();
    await until(() => cpu() > idle + 50, 'the statement computes');
    leaving.abort();
    await asking.catch(() => undefined);
    await until(() => !isAlive(first), 'the engine is gone');
    const answer = await other.call('/api/sql', { statement: 'SELECT 1 AS one' });
    expect(answer.status, answer.text).to.equal(200);
    const refused = await server.call('/api/sql', { statement: 'SELECT 1 AS one' });
    expect(refused.status, refused.text).to.equal(503);
    expect(refused.text).to.include('could not be ended');
    expect(refused.headers.get('Retry-After')).to.equal('60');
    expect((await server.call('/api/advertising/network_a/campaigns', RANGE)).status).to.equal(200);
  });

  it('ends with a gateway that is killed, and leaves the folder to the next one', async () => {
    const pid = await runningEngine(server);
    await server.kill();
    server = await startServer({ dataDir, key });
    expect((await server.call('/api/advertising/network_a/campaigns', RANGE)).status).to.equal(200);
    expect(isAlive(pid)).to.equal(false);
  });
});
