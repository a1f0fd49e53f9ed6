import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { issueKey } from '../../../services/accounts/keys.js';
import { loadConfig } from '../../../services/shared/config.js';
import type { RecordStore } from '../../../services/stores/common/record-store.js';
import { allPages, asked, loadAudiences, T0 } from '../../contract/record-store-support.js';
import { startElasticsearch } from '../../stack/elasticsearch.js';
import type { Server } from '../../stack/server.js';
import { parsed } from '../../support/parsed-store.js';
import { runs } from '../../support/random.js';
import { until } from '../../support/until.js';
import { openStore } from '../elasticsearch/support.js';
import { Gateways } from './gateways.js';

const ORGANIZATION = 'org_outage';
const KILLS = runs(1);
const WRITERS = 16;
const BALANCE = 1_000_000;
const CREATES = 10;

describe('Elasticsearch killed under writes', () => {
  let elasticsearch: Server;
  let store: RecordStore;
  let gateways: Gateways;

  before(async () => {
    elasticsearch = await startElasticsearch({ heapMegabytes: 512 });
    const { elasticsearch: config } = loadConfig({ ELASTICSEARCH_URL: elasticsearch.address });
    if (!config) throw new Error('ELASTICSEARCH_URL is not set');
    store = await openStore(config);
    const key = await issueKey(store, { organizationId: ORGANIZATION, scopes: ['*'] });
    await store.setCredits(ORGANIZATION, BALANCE);
    await loadAudiences(store, ORGANIZATION, 'aud');
    gateways = await Gateways.start(2, config, key);
  });
  after(async () => {
    await gateways?.stop();
    await store?.close();
    await elasticsearch?.remove();
  });

  it(`keeps every acknowledged write over ${KILLS} kills, without a restart of the gateways`, async () => {
    const writes = new Writes(gateways);
    const running = writes.run();
    for (let kill = 0; kill < KILLS; kill++) {
      await writes.more();
      await elasticsearch.kill();
      await gateways.expectOutage(ORGANIZATION);
      await elasticsearch.start();
      await gateways.ready();
    }
    await writes.more();
    writes.stop();
    await running;

    const contacts = await allPages(parsed(store), asked(ORGANIZATION, { limit: 1000 }));
    const held = new Map(contacts.map((contact) => [contact.contact_id, contact]));
    for (const id of writes.created) expect(held.get(id)?.audience_ids, id).to.deep.equal(['aud']);
    for (const [id, city] of writes.cities) expect(held.get(id)?.city, id).to.equal(city);
    expect(held.size).to.equal(writes.created.size + writes.cities.size);
    const visits = await store.searchVisits({ organizationId: ORGANIZATION, limit: 1 });
    expect(visits.total).to.equal(writes.visits.size);
    const left = BALANCE - writes.created.size;
    const isSettled = async () => (await store.getCredits(ORGANIZATION)) === left;
    await until(isSettled, 'the credits are those of the contacts', { pollMs: 500, timeoutMs: 120_000 });
  }).timeout(900_000);
});

/** Creates, records and visits, each repeated until it is acknowledged. */
class Writes {
  readonly created = new Set<string>();
  readonly cities = new Map<string, string>();
  readonly visits = new Set<string>();
  readonly #gateways: Gateways;
  #stopping = false;
  #number = 0;

  constructor(gateways: Gateways) {
    this.#gateways = gateways;
  }

  async run(): Promise<void> {
    const writer = async () => {
      while (!this.#stopping) await this.#one(this.#number++);
    };
    await Promise.all(Array.from({ length: WRITERS }, writer));
  }

  /** Resolves once more contacts have been created. */
  async more(): Promise<void> {
    const enough = this.created.size + CREATES;
    await until(() => this.created.size >= enough, `${enough} contacts are created`);
  }

  stop(): void {
    this.#stopping = true;
  }

  async #one(number: number): Promise<void> {
    if (number % 4 === 0) await this.#contacts(number);
    else if (number % 4 === 1) await this.#visits(number);
    else await this.#create(number);
  }

  async #create(number: number): Promise<void> {
    const body = { organization_id: ORGANIZATION, audience_id: 'aud', first_name: `Person ${number}` };
    const headers = { 'Idempotency-Key': randomUUID() };
    const response = await this.#gateways.callUntilDone('/api/contacts/create', body, { headers });
    expect(response.status, response.text).to.equal(200);
    this.created.add(response.body.contact_id as string);
  }

  async #contacts(number: number): Promise<void> {
    const city = `City ${number}`;
    const records = Array.from({ length: 20 }, (_, index) => ({
      organization_id: ORGANIZATION,
      contact_id: `record_${number}_${index}`,
      city,
    }));
    await this.#ingest('contacts', records);
    for (const { contact_id } of records) this.cities.set(contact_id, city);
  }

  async #visits(number: number): Promise<void> {
    const records = Array.from({ length: 20 }, (_, index) => ({
      id: `visit_${number}_${index}`,
      createdAt: new Date(T0 - number * 3_600_000).toISOString(),
    }));
    await this.#ingest('website-visits', records);
    for (const { id } of records) this.visits.add(id);
  }

  async #ingest(stream: string, records: readonly object[]): Promise<void> {
    const response = await this.#gateways.callUntilDone(`/api/ingest/${stream}`, undefined, {
      raw: records.map((record) => JSON.stringify(record)).join('\n'),
      headers: { 'Content-Type': 'application/x-ndjson' },
    });
    expect(response.body, response.text).to.include({ accepted: records.length, rejected: 0 });
  }
}
