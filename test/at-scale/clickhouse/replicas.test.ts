/**
 * Replicas of ClickHouse, as far as the embedded engine can simulate them: it registers tables with a coordinator and reads them, but
 * accepts no writes into them.
 */

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { expect } from 'chai';
import type { ClickHouseConfig } from '../../../services/shared/config.js';
import { monthAt } from '../../../services/shared/month.js';
import { openHttp } from '../../../services/stores/clickhouse/http.js';
import { migrateReplicas } from '../../../services/stores/clickhouse/migrations/migrate-replicas.js';
import {
  analyticsStore,
  type OpenedAnalyticsStore,
  openAnalyticsStore,
} from '../../../services/stores/clickhouse/store.js';
import type { CopyPosition, SqlCopy } from '../../../services/stores/common/sql-copy.js';
import { allCopies } from '../../../services/stores/copy/all-copies.js';
import { run } from '../../cli/support.js';
import { startClickHouse } from '../../stack/clickhouse.js';
import { freePorts } from '../../stack/free-port.js';
import type { Server } from '../../stack/server.js';
import { startZooKeeper } from '../../stack/zookeeper.js';
import { accepted } from '../../support/accepted.js';
import { afterFile } from '../../support/opened.js';
import { rawSql } from '../../support/raw-sql.js';
import { setNode } from '../../support/zookeeper-node.js';

const nameOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: Error) => error.name,
  );
const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'no error',
    (error: { code?: string; cause?: { code?: string } }) => error.code ?? error.cause?.code,
  );
const configOf = (servers: readonly Server[], cluster: string | null = 'main'): ClickHouseConfig => ({
  urls: servers.map(({ address }) => address),
  username: 'default',
  password: '',
  database: 'reachline',
  cluster,
});
const connect = ({ address: url }: Server, database?: string) =>
  createClient({ url, database, log: { level: ClickHouseLogLevel.OFF } });
/** Runs outside any database. */
const ask = async <Row>(server: Server, query: string): Promise<Row[]> => {
  const client = connect(server);
  const answer = await client.query({ query, format: 'JSON' });
  const { data } = await answer.json<Row>();
  await client.close();
  return data;
};
const campaign = (name: string) => accepted([{ organization_id: 'o', id: 'c', name }], 1);
const nameQuery = {
  name: 'test',
  sql: rawSql("SELECT name FROM campaigns FINAL WHERE id = 'c'"),
  params: {},
};

describe('ClickHouse replicas with a coordinator', function () {
  this.timeout(120_000);
  let coordinator: Server;
  let servers: Server[];

  before(async () => {
    coordinator = await startZooKeeper();
    afterFile(() => coordinator.remove());
    const ports = await freePorts(2);
    const cluster = ports.map((port) => `http://127.0.0.1:${port}`);
    servers = await Promise.all(
      ports.map((port, index) =>
        startClickHouse({
          port,
          replica: { name: `r${index + 1}`, coordinator: coordinator.address, cluster },
        }),
      ),
    );
    for (const server of servers) afterFile(() => server.remove());
  });

  const first = () => servers[0] as Server;
  const engines = async (server: Server) =>
    Object.fromEntries(
      (
        await ask<{ name: string; engine: string; uuid: string }>(
          server,
          "SELECT name, engine, uuid FROM system.tables WHERE database = 'reachline_tables'",
        )
      ).map(({ name, engine, uuid }) => [name, engine.startsWith('Replicated') ? uuid : engine]),
    );

  it('get no table from a process that serves', async () => {
    expect(await nameOf(openAnalyticsStore(configOf(servers)))).to.equal('MigrationNeededError');
    expect(await ask(first(), "SELECT * FROM system.databases WHERE name LIKE 'reachline%'")).to.deep.equal(
      [],
    );
  });

  it('get theirs from migrate, also one that is new', async () => {
    await migrateReplicas(configOf([first()]));
    const alone = await engines(first());
    const unreplicated = Object.entries(alone).filter(
      ([, engine]) => !engine.includes('-') && engine !== 'MaterializedView',
    );
    expect(Object.fromEntries(unreplicated)).to.deep.equal({
      audiences: 'MergeTree',
      contacts: 'ReplacingMergeTree',
      deliveries: 'Null',
      schema_migrations: 'MergeTree',
    });
    expect(alone.campaigns).to.match(/^[0-9a-f]{8}-/);

    await migrateReplicas(configOf(servers));
    await migrateReplicas(configOf(servers));
    for (const server of servers) {
      expect(await engines(server)).to.deep.equal(alone);
      const replicas = 'SELECT DISTINCT total_replicas AS total FROM system.replicas';
      expect(await ask(server, replicas)).to.deep.equal([{ total: 2 }]);
    }
  });

  it('with tables of their own are named', async () => {
    const [, second] = servers as [Server, Server];
    const table = 'reachline_tables.campaigns';
    const client = connect(second);
    const rename = (from: string, to: string) => client.command({ query: `RENAME TABLE ${from} TO ${to}` });
    await rename(table, 'reachline_tables.kept');
    await client.command({
      query: `CREATE TABLE ${table} UUID '${randomUUID()}' (id String) ENGINE = ReplicatedMergeTree ORDER BY id`,
    });
    const error = await migrateReplicas(configOf(servers)).catch((caught: Error) => caught);
    expect(error).to.include({ name: 'MigrationNeededError' });
    expect((error as Error).message).to.contain(`reachline_tables.campaigns of ${second.address}`);
    await client.command({ query: `DROP TABLE ${table}` });
    await rename('reachline_tables.kept', table);
    await client.close();
  });

  it('are reported by the doctor, whatever is wrong with them', async () => {
    const env = {
      REACHLINE_DATA_DIR: '/nowhere',
      ELASTICSEARCH_URL: 'http://127.0.0.1:1',
      CLICKHOUSE_URL: servers.map(({ address }) => address).join(),
      CLICKHOUSE_CLUSTER: 'main',
    };
    const { stdout } = await run(['doctor'], { env });
    for (const { address } of servers) {
      expect(stdout).to.contain(`✓ The tables in reachline at ${address} are up to date`);
      expect(stdout).to.contain(`✗ ClickHouse at ${address} has 0 of 2 replicas, CLICKHOUSE_URL names 2`);
      expect(stdout).to.match(new RegExp(`✗ \\d+ tables of ClickHouse at ${address} accept no writes`));
    }
    expect(stdout).not.to.contain('The cluster main');
    const one = await run(['doctor'], { env: { ...env, CLICKHOUSE_URL: first().address } });
    expect(one.stdout).to.contain('has 2 servers in 1 shards, CLICKHOUSE_URL names 1');
  });

  it('accept every statement that deletes', async () => {
    const statements = await statementsOf(async (store) => {
      await store.dropDeliveriesBefore(monthAt(Date.UTC(2026, 1)));
      await store.deleteVisitsBefore(Date.UTC(2026, 1, 2));
    });
    expect(statements).to.have.length(6);
    const client = connect(first(), 'reachline_tables');
    // The replica accepts no writes; statements that the engine forbids fail earlier.
    for (const query of statements)
      expect(await codeOf(client.command({ query })), query).to.match(/^(236|242)$/);
    expect(
      await codeOf(client.command({ query: "ALTER TABLE campaigns DELETE WHERE id IN (SELECT 'c')" })),
    ).to.equal('36');
    await client.close();
  });

  it('acknowledge no insert that most of them have not taken', async () => {
    const { store } = await openAnalyticsStore(configOf(servers));
    const begun = performance.now();
    expect(await codeOf(store.insertCampaigns(campaign('North')))).to.equal('285');
    expect(performance.now() - begun).to.be.below(6000);
    await store.close();
  });

  it('answer from one that is up to date, and from none where none is', async () => {
    const whole = await startClickHouse();
    afterFile(() => whole.remove());
    const plain = await openAnalyticsStore(configOf([whole], null));
    await plain.store.insertCampaigns(campaign('North'));
    await plain.store.close();
    const behind = await openAnalyticsStore(configOf(servers));
    const others = await openAnalyticsStore(configOf([...servers, whole]));
    expect((await behind.store.query(nameQuery)).rows).to.deep.equal([]);

    // Pretend that other replicas acknowledged an insert.
    const [{ path }] = (await ask<{ path: string }>(
      first(),
      "SELECT zookeeper_path AS path FROM system.replicas WHERE table = 'campaigns'",
    )) as [{ path: string }];
    const parts = 'version: 2\nparts count: 1\nall\tall_0_0_0\n';
    await setNode(coordinator.address, `${path}/quorum/last_part`, parts);
    expect(await codeOf(behind.store.query(nameQuery))).to.equal('289');
    expect((await others.store.query(nameQuery)).rows).to.deep.equal([{ name: 'North' }]);
    await behind.store.close();
    await others.store.close();
  });

  it('answer nothing without the coordinator', async () => {
    const { store } = await openAnalyticsStore(configOf(servers));
    const sql = 'SELECT count() AS count FROM companies';
    const count = () => store.query({ name: 'test', sql: rawSql(sql), params: {} });
    expect((await count()).rows).to.deep.equal([{ count: 0 }]);
    await coordinator.kill();
    expect(await nameOf(count())).to.equal('StoreUnavailableError');
    expect(await nameOf(store.ping())).to.equal('StoreUnavailableError');
    await store.close();
  });
});

/** The statements with which the store changes a server that has every kind of object. */
async function statementsOf(
  change: (store: OpenedAnalyticsStore['store']) => Promise<void>,
): Promise<string[]> {
  const statements: string[] = [];
  const server = createServer(async (request, response) => {
    let sql = '';
    for await (const chunk of request) sql += chunk;
    sql = sql || (new URL(request.url ?? '', 'http://localhost').searchParams.get('query') ?? '');
    const isRead = sql.trimStart().startsWith('SELECT');
    if (!isRead) statements.push(sql);
    const columns = ['partition', 'newest_month', 'newest_ms', 'rows', 'visits', 'old'];
    const meta = columns.map((name) => ({ name, type: 'UInt64' }));
    const data = [
      [202512, 202512, Date.UTC(2025, 11, 31), 1, 1, 1],
      [202602, 202602, Date.UTC(2026, 1, 2), 1, 1, 1],
    ];
    response.end(isRead ? JSON.stringify({ meta, data, rows: 2, rows_before_limit_at_least: 2 }) : '');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const store = analyticsStore(
    openHttp({ urls: [url], username: 'default', password: '', database: 'reachline', cluster: 'main' }),
    null,
  );
  await change(store);
  await store.close();
  server.close();
  return statements;
}

describe('ClickHouse replicas of which one hangs', function () {
  this.timeout(120_000);

  it('take a write that was sent to it, and have copies of contacts each, of which it gets the next', async () => {
    const servers = (await Promise.all([startClickHouse(), startClickHouse()])) as [Server, Server];
    for (const server of servers) {
      afterFile(() => server.remove());
      // These tables are not replicated, so they accept writes.
      await (await openAnalyticsStore(configOf([server], null))).store.close();
    }
    const opened = await openAnalyticsStore(configOf(servers));
    servers[0].freeze();
    await opened.store.insertCampaigns(campaign('hung'));
    const another = await openAnalyticsStore(configOf(servers));
    expect((await another.store.query(nameQuery)).rows).to.deep.equal([{ name: 'hung' }]);
    await another.store.close();
    servers[0].thaw();

    const copies = opened.sqlCopies;
    const position = (version: number): CopyPosition => ({
      ...{ version, audiences: '', visits: 0, followedAt: version },
      contacts: { epoch: 'e', after: [version], start: [version] },
    });
    const copyTo = async (copy: SqlCopy, version: number) => {
      const made = await copy.begin(['contacts']);
      const contact = `{"organization_id":"o","contact_id":"person","created_at":"2026-01-01T00:00:00.000Z"}`;
      await made.insertContacts([{ organizationId: 'o', contactId: 'person', contact }], position(version));
      await made.swap();
      await made.drop();
    };
    const idsOf = (server: Server) =>
      ask<{ contact_id: string }>(server, 'SELECT contact_id FROM reachline.contacts');

    await Promise.all(copies.map((copy) => copyTo(copy, 1000)));
    for (const server of servers) expect(await idsOf(server)).to.deep.equal([{ contact_id: 'person' }]);
    servers[1].freeze();
    await copyTo(copies[0] as SqlCopy, 2000);
    expect(await nameOf(allCopies(copies).hide('o', ['person']))).to.match(/^Store/);
    expect(await idsOf(servers[0])).to.deep.equal([]);
    servers[1].thaw();
    expect(await Promise.all(copies.map((copy) => copy.readPosition()))).to.deep.equal([
      position(2000),
      position(1000),
    ]);
    await allCopies(copies).hide('o', ['person']);
    expect(await idsOf(servers[1])).to.deep.equal([]);
    await opened.store.close();
  });
});
