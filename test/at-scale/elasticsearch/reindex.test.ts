import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import { packageRoot } from '../../../services/shared/fs.js';
import { systemClock } from '../../../services/shared/time.js';
import { Cluster } from '../../../services/stores/elasticsearch/client.js';
import { inspectElasticsearch } from '../../../services/stores/elasticsearch/inspect.js';
import type { LeaseHolder } from '../../../services/stores/elasticsearch/lease.js';
import { IndexNames } from '../../../services/stores/elasticsearch/migrations/indices.js';
import {
  type MigrateOptions,
  migrateElasticsearch,
} from '../../../services/stores/elasticsearch/migrations/migrate.js';
import { acquireReindexLock } from '../../../services/stores/elasticsearch/migrations/reindex-lock.js';
import { openElasticsearchStore } from '../../../services/stores/elasticsearch/store.js';
import { allPages, asked, newContact, T0 } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';
import { type ParsedStore, parsed } from '../../support/parsed-store.js';
import { type TestIndices, testIndices } from './support.js';

const ORGANIZATION = 'org_reindexed';
const LOADED = 20_000;
const REQUESTS_PER_SECOND = 200;

describe('Reindexing behind an alias', () => {
  let indices: TestIndices;
  let store: ParsedStore;
  let client: Client;
  const mappings = mkdtempSync(join(tmpdir(), 'reachline-mappings-'));

  before(async () => {
    indices = testIndices();
    client = new Client({ nodes: indices.config.nodes });
    store = parsed(await openElasticsearchStore(indices.config));
    await cp(join(packageRoot, 'mappings/elasticsearch'), mappings, { recursive: true });
  });
  after(async () => {
    rmSync(mappings, { recursive: true, force: true });
    await store?.close();
    await client?.close();
    await indices?.remove();
  });

  const migrate = (options: MigrateOptions = {}) => migrateElasticsearch(indices.config, options);
  const alias = (resource: string) => `${indices.config.indexPrefix}-${resource}`;
  const behind = async (resource: string) =>
    Object.keys(await client.indices.getAlias({ name: alias(resource) }));

  it('reindexes under 200 requests per second without an error or a lost write', async () => {
    await store.upsertAudiences(
      accepted([{ organization_id: ORGANIZATION, id: 'aud', name: 'Audience' }], T0),
    );
    const record = (index: number) => ({
      organization_id: ORGANIZATION,
      contact_id: `loaded_${index}`,
      first_name: 'Loaded',
      city: 'Rome',
      created_at: new Date(T0 - index).toISOString(),
    });
    for (let start = 0; start < LOADED; start += 5000) {
      await store.upsertContacts(
        accepted(
          Array.from({ length: 5000 }, (_, offset) => record(start + offset)),
          T0,
        ),
      );
    }
    await store.refresh();
    const traffic = new Traffic(store);
    const running = traffic.run();
    await pause(1000);
    const before = await behind('contacts');
    const targets = await migrate({ reindexed: ['contacts'] });
    await pause(1000);
    await traffic.stop();
    await running;
    expect(traffic.errors).to.deep.equal([]);
    expect(traffic.requests).to.be.greaterThan(REQUESTS_PER_SECOND);
    expect(targets).to.have.length(1);
    expect(await behind('contacts'))
      .to.deep.equal(targets)
      .and.not.deep.equal(before);

    const contacts = await allPages(store, asked(ORGANIZATION, { limit: 1000 }));
    const held = new Map(contacts.map((contact) => [contact.contact_id, contact]));
    expect(held.size).to.equal(contacts.length);
    for (let index = 0; index < LOADED; index++)
      expect(held.has(`loaded_${index}`), `loaded_${index}`).to.equal(true);
    for (const id of traffic.created) expect(held.has(id), id).to.equal(true);
    for (const [id, city] of traffic.cities) expect(held.get(id)?.city, id).to.equal(city);
    for (const id of traffic.members) expect(held.get(id)?.audience_ids, id).to.deep.equal(['aud']);
    expect(held.size).to.equal(LOADED + traffic.created.size);
    const found = await store.searchContacts(asked(ORGANIZATION, { query: 'loadet', city: 'rom', limit: 1 }));
    expect(found.total, 'the search fields were derived anew').to.equal(LOADED - traffic.cities.size);
  }).timeout(240_000);

  it('tells whom it waits for while another process holds the lock', async () => {
    const cluster = new Cluster(indices.config);
    const lock = await acquireReindexLock(cluster, new IndexNames(indices.config.indexPrefix), systemClock);
    const name = `process ${process.pid} on ${hostname()}`;
    expect((await inspectElasticsearch(indices.config)).lockHolder).to.include({ name });
    const waited: LeaseHolder[] = [];
    await migrate({
      onWait(holder) {
        waited.push(holder);
        void lock?.release();
      },
    });
    expect(waited).to.have.length(1);
    expect(waited[0]).to.include({ name });
    expect((await inspectElasticsearch(indices.config)).lockHolder).to.equal(null);
    await cluster.close();
  });

  it('reindexes indices of an older version, and only those', async () => {
    const file = join(mappings, 'audiences.json');
    const definition = JSON.parse(readFileSync(file, 'utf8'));
    definition.version++;
    definition.mappings.properties.note = { type: 'keyword' };
    writeFileSync(file, JSON.stringify(definition));
    const created = await Promise.all([migrate({ mappings }), migrate({ mappings }), migrate({ mappings })]);
    expect(created.flat(), 'three concurrent processes reindex once').to.have.length(1);
    expect(created.flat()[0]).to.contain(`-audiences-v${definition.version}-2-`);
    expect(await store.getAudience(ORGANIZATION, 'aud')).to.include({ name: 'Audience' });
    const rejected = await migrate().catch((error: Error) => error);
    expect(rejected).to.have.property('name', 'MigrationNeededError');
  });

  it('rejects an index of another definition of the same version, says what to do, and changes nothing', async () => {
    const file = join(mappings, 'contacts.json');
    const text = readFileSync(file, 'utf8');
    const definition = JSON.parse(text);
    definition.mappings.properties.note = { type: 'keyword' };
    writeFileSync(file, JSON.stringify(definition));
    const before = await behind('contacts');
    const rejected = await migrate({ mappings }).catch((error: Error) => error);
    expect(rejected).to.have.property('name', 'MappingChangedError');
    expect((rejected as Error).message).to.contain('created by another version of Reachline');
    expect((rejected as Error).message).to.contain('ELASTICSEARCH_INDEX_PREFIX');
    expect(await behind('contacts')).to.deep.equal(before);
    writeFileSync(file, text);
  });

  it('rolls back a reindex whose process died while writes were blocked', async () => {
    const [index = ''] = await behind('contacts');
    const target = `${index}-dead`;
    await client.indices.create({ index: target, aliases: { [`${target}-building`]: {} } });
    await client.index({
      index: alias('migrations'),
      id: 'rebuild',
      document: { owner: 'dead', lease_until: Date.now() - 1, index, successor: target },
    });
    await client.indices.addBlock({ index, block: 'write' });
    const waiting = store.upsertContacts(
      accepted([{ organization_id: ORGANIZATION, contact_id: 'loaded_1', first_name: 'After' }], T0),
    );
    await migrate({ mappings });
    await waiting;
    expect((await store.getContact(ORGANIZATION, 'loaded_1'))?.first_name).to.equal('After');
    expect(await client.indices.exists({ index: target })).to.equal(false);
    expect(await behind('contacts')).to.deep.equal([index]);
  });
});

/** Creates, updates, adds and searches at a constant rate, and records what was acknowledged. */
class Traffic {
  readonly created = new Set<string>();
  readonly cities = new Map<string, string>();
  readonly members = new Set<string>();
  readonly errors: string[] = [];
  requests = 0;
  readonly #store: ParsedStore;
  #stopping = false;

  constructor(store: ParsedStore) {
    this.#store = store;
  }

  async run(): Promise<void> {
    const open = new Set<Promise<void>>();
    const begun = performance.now();
    while (!this.#stopping) {
      while (this.requests < ((performance.now() - begun) / 1000) * REQUESTS_PER_SECOND) {
        const request = this.#one(this.requests++)
          .catch((error: Error) => void this.errors.push(`${error.message}: ${error.cause}`))
          .finally(() => open.delete(request));
        open.add(request);
      }
      await pause(10);
    }
    await Promise.all(open);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
  }

  async #one(number: number): Promise<void> {
    const id = `loaded_${(number * 7919) % LOADED}`;
    switch (number % 5) {
      case 0: {
        const contactId = `created_${number}`;
        const created = await this.#store.createContact({
          contact: newContact(ORGANIZATION, contactId, { first_name: 'Created' }),
          audienceId: 'aud',
          requiredCredits: 1,
          onDuplicate: 'create',
          dryRun: false,
        });
        if (created.kind !== 'done' || created.value.kind !== 'created')
          throw new Error(JSON.stringify(created));
        this.created.add(contactId);
        this.members.add(contactId);
        return;
      }
      case 1: {
        const city = `City${number}`;
        await this.#store.upsertContacts(
          accepted(
            [
              {
                organization_id: ORGANIZATION,
                contact_id: id,
                city,
                updated_at: new Date(T0 + number).toISOString(),
              },
            ],
            T0,
          ),
        );
        this.cities.set(id, city);
        return;
      }
      case 2: {
        const added = await this.#store.addMembership({
          organizationId: ORGANIZATION,
          audienceId: 'aud',
          contactId: id,
        });
        if (added.kind !== 'done' || added.value.kind !== 'added') throw new Error(JSON.stringify(added));
        this.members.add(id);
        return;
      }
      case 3: {
        const page = await this.#store.searchContacts(asked(ORGANIZATION, { query: 'loaded', limit: 10 }));
        if (page.total !== LOADED) throw new Error(`a search found ${page.total} of ${LOADED}`);
        return;
      }
      default: {
        const contact = await this.#store.getContact(ORGANIZATION, id);
        if (contact?.contact_id !== id) throw new Error(`${id} was not there`);
      }
    }
  }
}
