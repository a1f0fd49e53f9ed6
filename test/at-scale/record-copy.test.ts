import { type ClickHouseClient, createClient } from '@clickhouse/client';
import { expect } from 'chai';
import { STREAMS } from '../../ingest/streams/index.js';
import type { IngestStores } from '../../ingest/streams/stream.js';
import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { demoRecords } from '../../services/demo/load.js';
import { systemClock } from '../../services/shared/time.js';
import { type OpenedAnalyticsStore, openAnalyticsStore } from '../../services/stores/clickhouse/store.js';
import { contactKey, type RecordCopy, type RecordSource } from '../../services/stores/common/record-copy.js';
import type { RecordStore } from '../../services/stores/common/record-store.js';
import { RecordCopier } from '../../services/stores/copy/record-copier.js';
import { TODAY } from '../advertising/helper.js';
import { run } from '../cli/support.js';
import { erasure, freshOrganization } from '../contract/record-store-support.js';
import { openSampleEndpoint } from '../sql-endpoint/sample-endpoint.js';
import { accepted } from '../support/accepted.js';
import { filesWith } from '../support/files.js';
import { startTestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { testDatabase } from './clickhouse/support.js';
import { openStore, testIndices } from './elasticsearch/support.js';
import { serverEnvironment } from './start-gateway.js';

/** Text that no earlier run used, because the server keeps files of earlier runs for a while. */
const MARK = `xyz${process.pid}`;
const TRACES = [`quillon${MARK}`, `vexborough${MARK}`, `q.vex${MARK}@`, `quillvex${MARK}`];
const PERSON = {
  contact_id: 'person',
  first_name: `Quillon${MARK}`,
  last_name: `Vexborough${MARK}`,
  work_emails: [`q.vex${MARK}@erased.example`],
  network_a_url: `https://linkedin.com/in/quillvex${MARK}`,
};
const VIEWS = ['contacts', 'audiences', 'memberships', 'website_visits'];

type Row = Record<string, unknown>;

describe('The copy of records in ClickHouse', function () {
  this.timeout(180_000);
  const indices = testIndices();
  const database = testDatabase();
  let stores: IngestStores;
  let records: RecordStore;
  let source: RecordSource;
  let copy: RecordCopy;
  /** Client with the rights of an analyst. */
  let client: ClickHouseClient;
  let copier: RecordCopier;
  let analytics: OpenedAnalyticsStore['store'];
  let time = Date.UTC(2026, 0, 2);

  before(async () => {
    const opened = await openAnalyticsStore(database.config);
    copy = opened.copy as RecordCopy;
    analytics = opened.store;
    const elasticsearch = await openStore(indices.config, {
      copy: () => copy,
      recoveryIntervalMs: 500,
      expungeIntervalMs: 0,
      takeoverMs: 0,
    });
    records = elasticsearch;
    source = elasticsearch.records;
    stores = { records, analytics };
    copier = new RecordCopier({ source, copy, clock: systemClock });
    const { urls, username, password, database: views } = database.config;
    client = createClient({ url: urls[0], username, password, database: views });
  });
  after(async () => {
    await client.close();
    // This store would copy what it recovers.
    await records.close();
    await analytics.close();
  });

  async function ask<T = Row>(query: string, parameters: Record<string, string> = {}): Promise<T[]> {
    const result = await client.query({
      query,
      query_params: parameters,
      format: 'JSON',
      clickhouse_settings: { output_format_json_quote_64bit_integers: 0 },
    });
    return (await result.json<T>()).data;
  }
  const rows = (view: string, organizationId: string) =>
    ask(`SELECT * FROM ${view} WHERE organization_id = {organization:String} ORDER BY ALL`, {
      organization: organizationId,
    });
  const ids = async (organizationId: string) =>
    (await rows('contacts', organizationId)).map(({ contact_id }) => contact_id);
  const write = (name: keyof typeof STREAMS, organizationId: string, records: object[]) => {
    const whole = records.map((record) => ({ organization_id: organizationId, ...record }));
    time += 1000;
    return STREAMS[name].write(stores, accepted(whole as never[], time));
  };
  const visit = (organizationId: string, id: string, createdAt: string) => ({
    organization_id: undefined,
    organizationId,
    id,
    createdAt,
    audienceId: 'a',
    startUrl: 'https://a.example/pricing',
    country: 'Germany',
    hasRecording: true,
    intentScore: 80,
  });

  /** Simulates that the creators of all copies died longer ago than a lease lasts. */
  async function lapse(): Promise<void> {
    const copies = `${database.config.database}_copies`;
    const tables = await ask<{ name: string; comment: string }>(
      `SELECT name, comment FROM system.tables WHERE database = '${copies}'`,
    );
    for (const { name, comment } of tables) {
      const [beganAt] = comment.split(' ');
      await client.command({ query: `ALTER TABLE ${copies}.${name} MODIFY COMMENT '${beganAt} 1'` });
    }
  }

  // Must come first, because the text of few rows stays readable when compressed.
  it('keeps no byte of an erased person, and the proof waits for it', async () => {
    const organizationId = freshOrganization();
    await write('contacts', organizationId, [PERSON, { contact_id: 'other' }]);
    await copier.run();
    const folder = process.env.TEST_CLICKHOUSE_FOLDER;
    const files = () => (folder === undefined ? [] : filesWith(folder, TRACES));
    if (folder !== undefined) expect(files()).not.to.deep.equal([]);
    const named = [{ kind: 'email' as const, value: `q.vex${MARK}@erased.example` }];
    await records.eraseContacts(erasure(organizationId, 'era_1', ['person'], named));
    expect(await ids(organizationId)).to.deep.equal(['other']);
    const person = [contactKey(organizationId, 'person')];
    expect(await copy.isFreeOf(person)).to.equal(false);
    const unfinished = await copy.begin(Date.now());
    await copier.run();
    expect(await copy.isFreeOf(person)).to.equal(false);
    await unfinished.drop();
    expect(await copy.isFreeOf(person)).to.equal(true);
    const proof = async () => (await records.listErasures({ organizationId, limit: 1 })).items[0];
    await until(async () => !(await proof())?.includes('"completed_at":null'), 'the erasure is complete', {
      pollMs: 500,
      timeoutMs: 120_000,
    });
    expect(files()).to.deep.equal([]);
  });

  it('has the columns of the embedded form, and the same rows of people, audiences and visits', async () => {
    const embedded = await openSampleEndpoint(TODAY);
    const written = new Set<unknown>();
    for (const [name, records] of demoRecords(TODAY)) {
      if (!['audiences', 'contacts', 'website-visits'].includes(name)) continue;
      const few = records.slice(0, 20) as Row[];
      for (const { id, contact_id = id } of few) written.add(contact_id);
      await STREAMS[name].write(stores, accepted(few as never[], Date.parse(TODAY)));
    }
    await copier.run();
    const columns = (name: string) =>
      `SELECT table, name, type, comment FROM system.columns WHERE database = '${name}' ORDER BY table, position`;
    expect(await ask(columns(database.config.database))).to.deep.equal(
      await embedded.ask(columns('reachline')),
    );
    for (const view of VIEWS) {
      const all = `SELECT * FROM ${view} WHERE organization_id = '${DEMO_ORGANIZATION}' ORDER BY ALL`;
      const expected = (await embedded.ask<Row>(all)).filter(({ contact_id, visit_id, audience_id }) =>
        written.has(contact_id ?? visit_id ?? audience_id),
      );
      expect(expected).not.to.have.length(0);
      expect(await ask(all), view).to.deep.equal(expected);
    }
  });

  it('follows records as they are written, changed and deleted, and keeps organizations apart', async () => {
    const one = freshOrganization();
    const other = freshOrganization();
    await write('audiences', one, [
      { id: 'a', name: 'A' },
      { id: 'b', name: 'B' },
    ]);
    await write('contacts', one, [
      { contact_id: 'ann', first_name: 'Ann', audience_ids: ['a', 'b'], dob: '1990-01-31' },
      { contact_id: 'bob', first_name: 'Bob' },
    ]);
    await write('contacts', other, [{ contact_id: 'ann', first_name: 'Other' }]);
    await write('website-visits', one, [
      visit(one, 'v1', '2026-01-01T00:00:00.001Z'),
      visit(one, 'v2', '1999-01-01T00:00:00Z'),
      visit(one, 'v3', '0004-01-01T00:00:00Z'),
    ]);
    await copier.run();
    expect(await ids(one)).to.deep.equal(['ann', 'bob']);
    expect(await rows('contacts', other)).to.deep.include.members([
      { ...(await rows('contacts', other))[0], first_name: 'Other' },
    ]);
    expect(await rows('memberships', one)).to.deep.equal([
      { organization_id: one, audience_id: 'a', contact_id: 'ann' },
      { organization_id: one, audience_id: 'b', contact_id: 'ann' },
    ]);
    expect((await rows('website_visits', one)).map(({ visit_id }) => visit_id)).to.deep.equal(['v1', 'v2']);

    await write('contacts', one, [
      { contact_id: 'ann', city: 'Oslo' },
      { contact_id: 'bob', deleted: true },
    ]);
    await write('audiences', one, [{ id: 'b', deleted: true }]);
    await records.removeMembership({ organizationId: one, audienceId: 'a', contactId: 'ann' });
    await copier.run();
    const [ann, ...more] = await rows('contacts', one);
    expect(more).to.deep.equal([]);
    expect(ann).to.include({ contact_id: 'ann', first_name: 'Ann', city: 'Oslo', dob: '1990-01-31' });
    expect(ann).to.have.deep.property('audience_ids', ['b']);
    expect((await rows('audiences', one)).map(({ audience_id }) => audience_id)).to.deep.equal(['a']);

    await records.deleteContacts({ organizationId: one, contactIds: ['ann'] });
    await copier.run();
    expect(await ids(one)).to.deep.equal([]);
    expect(await ids(other)).to.deep.equal(['ann']);
    await write('contacts', one, [
      { contact_id: 'bob', first_name: 'Bob', updated_at: '2030-01-01T00:00:00Z' },
    ]);
    await copier.run();
    expect(await ids(one)).to.deep.equal(['bob']);
  });

  it('has visits as soon as they are written, the first record of each, until retention deletes them', async () => {
    const organizationId = freshOrganization();
    const moments = ['2026-03-01T00:00:00Z', '2026-03-20T00:00:00Z', '2026-04-01T00:00:00Z'];
    const visits = moments.map((createdAt, index) => visit(organizationId, `v${index}`, createdAt));
    await write('website-visits', organizationId, visits);
    await write('website-visits', organizationId, visits);
    await write(
      'website-visits',
      organizationId,
      visits.map((each) => ({ ...each, country: 'Norway' })),
    );
    const stored = await rows('website_visits', organizationId);
    expect(stored.map(({ visit_id, country }) => [visit_id, country])).to.deep.equal([
      ['v0', 'Germany'],
      ['v1', 'Germany'],
      ['v2', 'Germany'],
    ]);
    const left = async () => (await rows('website_visits', organizationId)).map(({ visit_id }) => visit_id);
    await analytics.deleteVisitsBefore(Date.UTC(2026, 2, 10));
    expect(await left()).to.deep.equal(['v1', 'v2']);
    await analytics.deleteVisitsBefore(Date.UTC(2026, 3, 1));
    expect(await left()).to.deep.equal(['v2']);
  });

  it('stays whole while another is made, by two processes at once or by one that dies', async () => {
    const organizationId = freshOrganization();
    const many = Array.from({ length: 2500 }, (_, index) => ({
      contact_id: `c${String(index).padStart(4, '0')}`,
    }));
    const all = many.map(({ contact_id }) => contact_id);
    await write('contacts', organizationId, many);
    await Promise.all([copier.run(), copier.run()]);
    expect(await ids(organizationId)).to.deep.equal(all);
    const before = await copier.followedAt();

    const dying: RecordCopy = {
      ...copy,
      async begin(now) {
        const made = await copy.begin(now);
        const die = () => Promise.reject(new Error('killed'));
        return { ...made, swap: die, drop: die };
      },
    };
    const killed = new RecordCopier({ source, copy: dying, clock: systemClock });
    expect(await killed.run().catch((error: Error) => error.message)).to.equal('killed');
    expect(await ids(organizationId)).to.deep.equal(all);
    expect(await copier.followedAt()).to.equal(before);
    expect(await copy.unfinished()).not.to.deep.equal([]);
    await copy.dropAbandoned();
    expect(await copy.unfinished(), 'its lease has not lapsed').to.have.length(2);
    await lapse();
    expect(await copy.unfinished()).to.deep.equal([]);
    expect(await copy.isFreeOf([])).to.equal(false);
    await copy.dropAbandoned();
    expect(await copy.isFreeOf([])).to.equal(true);
  });

  it('keeps the tables of a maker that renews its lease, and drops those of one that died, at any moment of it', async () => {
    const alive = await copy.begin(Date.now());
    await lapse();
    await alive.renew();
    await copy.dropAbandoned();
    expect(await copy.unfinished()).to.have.length(2);
    // Killed between the swap and the drop: the tables of the former copy are left.
    await alive.swap();
    expect(await copy.isFreeOf([])).to.equal(false);
    await copy.dropAbandoned();
    expect(await copy.isFreeOf([])).to.equal(true);

    // A creator that slept past its lease can no longer put anything where it would be read.
    const late = await copy.begin(Date.now());
    await lapse();
    await copy.dropAbandoned();
    const line = JSON.stringify({ organization_id: freshOrganization(), contact_id: 'late' });
    for (const work of [() => late.insert('contacts', [line]), () => late.renew(), () => late.swap()])
      expect(
        await work().then(
          () => 'done',
          () => 'refused',
        ),
      ).to.equal('refused');
    expect(await copy.isFreeOf([])).to.equal(true);
    const again = new RecordCopier({ source, copy, clock: systemClock });
    await again.run();
    expect(await copy.unfinished()).to.deep.equal([]);
  });

  it('does not bring back a person who is erased while it is read or swapped in', async () => {
    for (const moment of ['begin', 'swap'] as const) {
      const organizationId = freshOrganization();
      await write('contacts', organizationId, [{ contact_id: 'ann' }, { contact_id: 'bob' }]);
      await copier.run();
      const erase = () => records.eraseContacts(erasure(organizationId, `era_${moment}`, ['bob'], []));
      const racing: RecordCopy = {
        ...copy,
        async begin(now) {
          const made = await copy.begin(now);
          return {
            ...made,
            async insert(kind, lines) {
              await made.insert(kind, lines);
              if (moment === 'begin' && kind === 'contacts') await erase();
            },
            async swap() {
              if (moment === 'swap') await erase();
              await made.swap();
            },
          };
        },
      };
      await new RecordCopier({ source, copy: racing, clock: systemClock }).run();
      expect(await ids(organizationId), moment).to.deep.equal(['ann']);
    }
  });

  it('is made by reachline copy, and the status and doctor say as of when', async () => {
    const organizationId = freshOrganization();
    await write('contacts', organizationId, [{ contact_id: 'ann' }]);
    const { elasticsearch, clickhouse } = { elasticsearch: indices.config, clickhouse: database.config };
    const env = { PORT: '0', ...serverEnvironment(elasticsearch, clickhouse) };
    const { code, stdout, stderr } = await run(['copy'], { env });
    expect(code, stderr).to.equal(0);
    expect(stdout).to.match(/^\d[\d\s]* contacts and audiences are copied\.\n$/);
    expect(await ids(organizationId)).to.deep.equal(['ann']);
    const gateway = await startTestGateway({ elasticsearch, clickhouse });
    const { body: status } = await gateway.call('/api/status', { organization_id: 'org_a' });
    await gateway.close();
    expect(status.sql_copied_at).to.be.a('string');
    const doctor = await run(['doctor'], { env });
    expect(doctor.stdout).to.include(`SQL reads contacts and audiences as of ${status.sql_copied_at}`);
  });
});
