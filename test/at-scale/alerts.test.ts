/** Checks that the series of each alert rule are in `/metrics` of the processes that its group names, in every form of deployment. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { issueKey } from '../../services/accounts/keys.js';
import { loadConfig } from '../../services/shared/config.js';
import { packageRoot } from '../../services/shared/fs.js';
import { openStores } from '../../services/stores/open-stores.js';
import { prepareOrganization, type ServerProcess, startServer } from '../support/server-process.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { testDatabase } from './clickhouse/support.js';
import { testIndices } from './elasticsearch/support.js';
import { testTopics } from './kafka/topics.js';
import { serverEnvironment } from './start-gateway.js';

const SERVERS = {
  ELASTICSEARCH_URL: '',
  CLICKHOUSE_URL: '',
  CLICKHOUSE_PASSWORD: '',
  CLICKHOUSE_USERNAME: '',
};
const text = readFileSync(join(packageRoot, 'docs/operating/alerts.yml'), 'utf8');
const { groups } = parse(text) as { groups: { name: string; rules: { alert: string; expr: string }[] }[] };

/** Samples in a response of `/metrics`, by name. A family without samples has an empty list. */
async function samplesOf({ url }: ServerProcess): Promise<Map<string, string[]>> {
  const body = await (await fetch(`${url}/metrics`)).text();
  const samples = new Map<string, string[]>();
  for (const line of body.split('\n')) {
    const [, family, type] = /^# TYPE (\w+) (\w+)$/.exec(line) ?? [];
    // A counter appears only with its first event.
    if (family !== undefined && type === 'counter') samples.set(family, []);
    const [, name] = /^(\w+)(?:\{.*\})? \S+$/.exec(line) ?? [];
    if (name !== undefined) samples.set(name, [...(samples.get(name) ?? []), line]);
  }
  return samples;
}

/** Series that the rules of these groups name but none of the processes has. */
async function missing(names: readonly string[], processes: readonly ServerProcess[]): Promise<string[]> {
  const answers = await Promise.all(processes.map(samplesOf));
  const found: string[] = [];
  for (const { alert, expr } of groups
    .filter(({ name }) => names.includes(name))
    .flatMap((group) => group.rules)) {
    for (const [, series = '', selector = ''] of expr.matchAll(/\b(reachline_\w+)(?:\{([^}]*)\})?/g)) {
      const exists = answers.some((samples) => {
        const lines = samples.get(series);
        if (!lines) return false;
        const [, job] = /background_job="(\w+)"/.exec(selector) ?? [];
        return job === undefined || lines.some((line) => line.includes(`background_job="${job}"`));
      });
      if (!exists) found.push(`${alert}: ${series}{${selector}}`);
    }
  }
  return found;
}

/** Resolves once a process that reads from Kafka has all series. */
const nothingMissing = (names: readonly string[], server: ServerProcess) =>
  until(async () => (await missing(names, [server])).length === 0, `the series of ${names} are there`);

const AUDIENCE = { key: 'org_a/one', value: '{"organization_id":"org_a","id":"one","name":"One"}' };
const EVERYWHERE = ['reachline-gateway', 'reachline-jobs'];
const RETENTION = { REACHLINE_RETENTION_VISITS_DAYS: '3650' };
const RECOVERY_JOBS = ['erasures', 'idempotency_keys', 'reindex_recovery', 'reservations', 'retention'];

/** Names of the background jobs that a process reports. */
async function jobsOf(server: ServerProcess): Promise<string[]> {
  const lines = (await samplesOf(server)).get('reachline_job_last_success_seconds') ?? [];
  return lines.map((line) => /background_job="(\w+)"/.exec(line)?.[1] ?? line).sort();
}

describe('the series of the alert rules', function () {
  this.timeout(120_000);
  const processes: ServerProcess[] = [];
  after(() => Promise.all(processes.map((each) => each.kill())));

  /** Starts a gateway that has served a request. */
  async function gateway(
    environment: Record<string, string>,
    { key, dataDir = '/proc/nowhere' }: { key: string; dataDir?: string },
  ): Promise<ServerProcess> {
    const server = await startServer({ key, dataDir, environment: { ...RETENTION, ...environment } });
    processes.push(server);
    // Opens an embedded analytics store.
    const report = { organization_id: 'org_a', start_date: '2026-01-01', end_date: '2026-01-31' };
    const { status, text: answer } = await server.call('/api/advertising/network_a/campaigns', report);
    expect(status, answer).to.equal(200);
    return server;
  }

  /** Separate indices and a separate database on the servers. */
  async function onServers(): Promise<{ environment: Record<string, string>; key: string }> {
    const environment = serverEnvironment(testIndices().config, testDatabase().config);
    const stores = await openStores(loadConfig(environment));
    const key = await issueKey(stores.records, { organizationId: 'org_a', scopes: ['*'] });
    await stores.close();
    return { environment, key };
  }

  it('belong to groups that say which processes have them', () => {
    expect(groups.map(({ name }) => name)).to.have.members([
      ...EVERYWHERE,
      'reachline-worker',
      'reachline-copy',
      'reachline-backup',
    ]);
  });

  it('exist where everything is embedded', async () => {
    const dataDir = tempFolder();
    const key = await prepareOrganization(dataDir, 'org_a');
    const server = await gateway(SERVERS, { key, dataDir });
    expect(await missing([...EVERYWHERE, 'reachline-backup'], [server])).to.deep.equal([]);
    expect(await jobsOf(server)).to.include.members(['retention', 'rollups']);
  });

  it('exist where records go through Kafka into embedded stores', async () => {
    const dataDir = tempFolder();
    const key = await prepareOrganization(dataDir, 'org_a');
    const topics = await testTopics();
    const server = await gateway({ ...SERVERS, ...topics.environment }, { key, dataDir });
    await topics.produce('audiences', [AUDIENCE]);
    await nothingMissing([...EVERYWHERE, 'reachline-backup', 'reachline-worker'], server);
    expect(await jobsOf(server)).to.include.members(['retention', 'rollups']);
  });

  it('exist where gateways are alone on servers', async () => {
    const { environment, key } = await onServers();
    const server = await gateway(environment, { key });
    expect(await missing([...EVERYWHERE, 'reachline-copy'], [server])).to.deep.equal([]);
    expect(await jobsOf(server)).to.include.members([...RECOVERY_JOBS, 'sql_copy', 'rollups']);
  });

  it('exist where workers write what gateways take in', async () => {
    const { environment, key } = await onServers();
    const topics = await testTopics();
    const withKafka = { ...environment, ...topics.environment };
    const worker = await startServer({
      args: ['worker'],
      dataDir: '/proc/nowhere',
      environment: { ...RETENTION, ...withKafka, REACHLINE_WORKER_PORT: '0' },
    });
    processes.push(worker);
    const server = await gateway(withKafka, { key });
    await topics.produce('audiences', [AUDIENCE]);
    expect(await missing(EVERYWHERE, [server])).to.deep.equal([]);
    expect(await jobsOf(server)).to.include.members(RECOVERY_JOBS);
    await nothingMissing(['reachline-worker', 'reachline-copy', 'reachline-jobs'], worker);
    expect(await jobsOf(worker)).to.include.members([...RECOVERY_JOBS, 'sql_copy', 'rollups']);
  });
});
