/** Compares search, SQL and both tables of deliveries, record by record, after traffic through two processes without Kafka. */
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { ingestText } from '../../ingest/pipeline.js';
import { STREAMS, type StreamName } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import { loadConfig } from '../../services/shared/config.js';
import { acceptanceClock } from '../../services/shared/record-order.js';
import { identifier, type Sql, sql } from '../../services/shared/sql.js';
import { openStores, type Stores } from '../../services/stores/open-stores.js';
import { freshOrganization } from '../contract/search-support.js';
import { parsed } from '../support/parsed-store.js';
import { Random } from '../support/random.js';
import { testDatabase } from './clickhouse/support.js';
import { testIndices } from './elasticsearch/support.js';
import { serverEnvironment } from './start-gateway.js';

const KEYS = 50;
const ROUNDS = 20;
const SEED = Number(process.env.TEST_SEED ?? 1);

describe('Two gateways on servers, without Kafka', function () {
  this.timeout(120_000);
  const indices = testIndices();
  const database = testDatabase();
  const gateways: Stores[] = [];

  before(async () => {
    const config = loadConfig(serverEnvironment(indices.config, database.config));
    for (let count = 0; count < 2; count++) gateways.push(await openStores(config));
  });
  after(() => Promise.all(gateways.map((stores) => stores.close())));

  it(`keep the same record of each key in search, in SQL and in both tables of deliveries (seed ${SEED})`, async () => {
    const random = new Random(SEED);
    const organizationId = freshOrganization();
    // Both accept everything within few milliseconds, as two gateways behind a balancer do.
    const clock = { time: Date.now(), now: () => clock.time };
    const acceptances = gateways.map(({ search }) => acceptanceClock(search, clock));
    const send = async (gateway: number, stream: StreamName, records: object[]) => {
      const accept = acceptances[gateway] as (typeof acceptances)[number];
      const result = await ingestText({
        stream: STREAMS[stream] as Stream,
        stores: gateways[gateway] as Stores,
        source: Readable.from([Buffer.from(records.map((record) => JSON.stringify(record)).join('\n'))]),
        format: 'ndjson',
        organizationId,
        acceptance: await accept(),
      });
      expect(result.accepted, JSON.stringify(result.errors)).to.equal(records.length);
    };
    for (let round = 0; round < ROUNDS; round++) {
      const sent = [0, 1].flatMap((gateway) => {
        const visits = Array.from({ length: 10 }, () => ({
          id: `v${random.below(KEYS)}`,
          createdAt: '2026-01-01T00:00:00Z',
          city: `city ${gateway} ${round}`,
        }));
        const deliveries = Array.from({ length: 10 }, () => ({
          date: '2026-01-05',
          campaign_id: `c${random.below(KEYS)}`,
          creative_id: 'x',
          company_id: 'y',
          impressions: random.below(1000),
        }));
        return [send(gateway, 'website-visits', visits), send(gateway, 'network-a-deliveries', deliveries)];
      });
      await Promise.all(sent);
      clock.time += random.below(2);
    }
    const { search, analytics } = gateways[0] as Stores;
    await search.refresh();
    const { items } = await parsed(search).searchVisits({ organizationId, limit: 1000 });
    const inSearch = Object.fromEntries(items.map(({ id, city }) => [id, city]));
    expect(items.length).to.be.above(KEYS / 2);
    const rowsOf = async <Row>(statement: Sql) =>
      (await analytics.query<Row>({ name: 'compare', sql: statement, params: { organizationId } })).rows;
    const visits = await rowsOf<{ visit_id: string; city: string }>(
      sql`SELECT visit_id, city FROM website_visits FINAL WHERE organization_id = {organizationId:String}`,
    );
    expect(Object.fromEntries(visits.map(({ visit_id, city }) => [visit_id, city]))).to.deep.equal(inSearch);
    const impressions = async (table: Sql) => {
      const rows = await rowsOf<{ campaign_id: string; impressions: string; version: string }>(
        sql`SELECT campaign_id, toString(impressions) AS impressions, toString(version) AS version FROM ${table} FINAL
          WHERE organization_id = {organizationId:String} ORDER BY campaign_id`,
      );
      return rows;
    };
    const byCreative = await impressions(identifier('creative_deliveries'));
    expect(byCreative.length).to.be.above(KEYS / 2);
    expect(byCreative).to.deep.equal(await impressions(identifier('company_deliveries')));
  });
});
