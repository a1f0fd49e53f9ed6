/**
 * Compares what was sent with search, SQL and both tables of deliveries, record by record, after traffic through two processes without
 * Kafka.
 */
import { Readable } from 'node:stream';
import { expect } from 'chai';
import { ingestText } from '../../ingest/pipeline.js';
import { STREAMS, type StreamName } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import { loadConfig } from '../../services/shared/config.js';
import { acceptanceClock } from '../../services/shared/record-order.js';
import { identifier, type Sql, sql } from '../../services/shared/sql.js';
import { openStores, type Stores } from '../../services/stores/open-stores.js';
import { allPages, asked, freshOrganization } from '../contract/record-store-support.js';
import { parsed } from '../support/parsed-store.js';
import { Random, SEED } from '../support/random.js';
import { testDatabase } from './clickhouse/support.js';
import { testIndices } from './elasticsearch/support.js';
import { serverEnvironment } from './start-gateway.js';

const KEYS = 50;
const ROUNDS = 20;

/** A record of a contact or audience. Without a mark, it is a deletion. */
interface Marked {
  id: string;
  mark: string | null;
}

/** Every field contains the mark, which shows which of two records was stored. */
const contactOf = (id: string, mark: string) => ({
  id,
  first_name: mark,
  job_title: mark,
  work_emails: [`${mark.replaceAll(' ', '.')}@a.example`],
  audience_ids: [`member-of-${id.at(-1)}`],
});
const RECORDS = {
  contacts({ id: contact_id, mark }: Marked) {
    if (mark === null) return { contact_id, deleted: true };
    const { id: _, ...fields } = contactOf(contact_id, mark);
    return { contact_id, ...fields };
  },
  audiences: ({ id, mark }: Marked) => (mark === null ? { id, deleted: true } : { id, name: mark }),
};

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

  it(`keep the record of each contact and audience that was accepted last, in search and in SQL (seed ${SEED})`, async () => {
    const random = new Random(SEED);
    const organizationId = freshOrganization();
    const clock = { time: Date.now(), now: () => clock.time };
    const acceptances = gateways.map(({ records }) => acceptanceClock(records, clock));
    /** Expected record by stream and id: the last accepted record, computed here without the rules of the stores. */
    const expected = new Map<string, { order: [number, number]; mark: string | null }>();
    const isLater = ([at, sequence]: [number, number], [before, its]: [number, number]) =>
      at > before || (at === before && sequence > its);
    const send = async (gateway: number, stream: 'contacts' | 'audiences', records: Marked[]) => {
      const acceptance = await (acceptances[gateway] as (typeof acceptances)[number])();
      const result = await ingestText({
        stream: STREAMS[stream] as Stream,
        stores: gateways[gateway] as Stores,
        source: Readable.from([
          Buffer.from(records.map((record) => JSON.stringify(RECORDS[stream](record))).join('\n')),
        ]),
        format: 'ndjson',
        organizationId,
        acceptance: {
          at(line) {
            const { acceptedAt, sequence } = acceptance.at(line);
            const { id, mark } = records[line - 1] as Marked;
            const before = expected.get(`${stream} ${id}`);
            const order: [number, number] = [acceptedAt, sequence];
            if (!before || isLater(order, before.order)) expected.set(`${stream} ${id}`, { order, mark });
            return { acceptedAt, sequence };
          },
        },
      });
      expect(result.accepted, JSON.stringify(result.errors)).to.equal(records.length);
    };
    for (let round = 0; round < ROUNDS; round++) {
      const sent = [0, 1].flatMap((gateway) => {
        const records = (prefix: string) =>
          Array.from({ length: 10 }, (_, line) => ({
            id: `${prefix}${random.below(KEYS)}`,
            mark: random.below(10) === 0 ? null : `mark ${gateway} ${round} ${line}`,
          }));
        return [send(gateway, 'contacts', records('c')), send(gateway, 'audiences', records('a'))];
      });
      await Promise.all(sent);
      clock.time += random.below(2);
    }
    const { records, analytics, follower } = gateways[0] as Stores;
    await records.refresh();
    await follower.run();
    const markOf = (stream: string) => (id: string) => expected.get(`${stream} ${id}`)?.mark as string;
    const kept = (stream: string) =>
      [...expected]
        .filter(([key, { mark }]) => key.startsWith(`${stream} `) && mark !== null)
        .map(([key]) => key.slice(stream.length + 1))
        .sort();
    const contactIds = kept('contacts');
    const contacts = contactIds.map((id) => contactOf(id, markOf('contacts')(id)));
    const audiences = kept('audiences').map((id) => ({ id, name: markOf('audiences')(id) }));
    expect(contacts.length).to.be.above(KEYS / 2);
    expect(audiences.length).to.be.above(KEYS / 2);
    const found = await allPages(parsed(records), asked(organizationId));
    const shown = found.map(({ contact_id: id, first_name, job_title, work_emails, audience_ids }) => ({
      ...{ id, first_name, job_title, work_emails, audience_ids },
    }));
    expect(shown.sort((one, other) => (one.id < other.id ? -1 : 1))).to.deep.equal(contacts);
    const named = await records.searchAudiences({ organizationId, limit: 200 });
    const names = named.items.map(({ id, name }) => ({ id, name }));
    expect(names.sort((one, other) => (one.id < other.id ? -1 : 1))).to.deep.equal(audiences);
    const rowsOf = async (statement: Sql) =>
      (await analytics.query({ name: 'compare', sql: statement, params: { organizationId } })).rows;
    expect(
      await rowsOf(sql`SELECT contact_id AS id, first_name, job_title, work_emails, audience_ids FROM contacts
        WHERE organization_id = {organizationId:String} ORDER BY id`),
    ).to.deep.equal(contacts);
    expect(
      await rowsOf(sql`SELECT audience_id AS id, name FROM audiences
        WHERE organization_id = {organizationId:String} ORDER BY id`),
    ).to.deep.equal(audiences);
  });

  it(`keep the same record of each key in search, in SQL and in both tables of deliveries (seed ${SEED})`, async () => {
    const random = new Random(SEED);
    const organizationId = freshOrganization();
    // Both gateways use one clock, so their acceptance times differ by a few milliseconds at most, as behind a load balancer.
    const clock = { time: Date.now(), now: () => clock.time };
    const acceptances = gateways.map(({ records }) => acceptanceClock(records, clock));
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
    const { records, analytics } = gateways[0] as Stores;
    await records.refresh();
    const { items } = await parsed(records).searchVisits({ organizationId, limit: 1000 });
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
