import { readFileSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@elastic/elasticsearch';
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
import { asked, T0 } from '../../contract/record-store-support.js';
import { accepted } from '../../support/accepted.js';
import { type ParsedStore, parsed } from '../../support/parsed-store.js';
import { tempFolder } from '../../support/temp-folder.js';
import { LOADED, ORGANIZATION, Traffic } from './reindex-traffic.js';
import { openStore, testIndices } from './support.js';

describe('Reindexing behind an alias', () => {
  const indices = testIndices();
  let store: ParsedStore;
  let client: Client;
  const mappings = tempFolder();

  before(async () => {
    client = indices.client();
    store = parsed(await openStore(indices.config));
    await cp(join(packageRoot, 'mappings/elasticsearch'), mappings, { recursive: true });
  });

  const migrate = (options: MigrateOptions = {}) => migrateElasticsearch(indices.config, options);
  const alias = (resource: string) => `${indices.config.indexPrefix}-${resource}`;
  const behind = async (resource: string) =>
    Object.keys(await client.indices.getAlias({ name: alias(resource) }));

  it('reindexes under creates, updates and removals without an error or a lost write', async () => {
    const before = await behind('contacts');
    const place = await store.readChanges({ after: 'now', limit: 1 });
    const traffic = await Traffic.start(store);
    const targets = await migrate({ reindexed: ['contacts'] });
    await traffic.verify();
    await traffic.stop();
    expect(targets).to.have.length(1);
    const after = place.kind === 'page' ? place.next : undefined;
    expect(await store.readChanges({ after, limit: 1 }), 'the numbering is another').to.include({
      kind: 'expired',
    });
    expect(await behind('contacts'))
      .to.deep.equal(targets)
      .and.not.deep.equal(before);
    const found = await store.searchContacts(asked(ORGANIZATION, { query: 'loadet', limit: 1 }));
    expect(found.total, 'the search fields were derived anew').to.equal(LOADED);
  }).timeout(120_000);

  it('gives contacts other shards, organizations several, and every index other replicas', async () => {
    const config = { ...indices.config, shards: 4, shardsPerOrganization: 2, replicas: 0 };
    const [index = ''] = await behind('contacts');
    expect((await inspectElasticsearch(config)).otherShards).to.deep.equal([
      { resource: 'contacts', index, shards: 3, perOrganization: 1 },
    ]);
    const [target = ''] = await migrateElasticsearch(config, { reindexed: ['contacts'] });
    const settings = await client.indices.getSettings({
      index: `${config.indexPrefix}-*`,
      flat_settings: true,
    });
    expect((await inspectElasticsearch(config)).otherShards).to.deep.equal([]);
    const { shards } = await client.searchShards({ index: target, routing: ORGANIZATION });
    expect(shards).to.have.length(2);
    for (const { settings: each } of Object.values(settings)) {
      expect(each).to.include({ 'index.auto_expand_replicas': '0-0' });
    }
    const found = await store.searchContacts(asked(ORGANIZATION, { query: 'loadet', limit: 1 }));
    expect(found.total).to.equal(LOADED);
    const sizes = await client.cat.shards({ index: target, format: 'json', h: 'docs' });
    expect(sizes.filter(({ docs }) => Number(docs) > LOADED / 4)).to.have.length(2);
  });

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
    // The recovery job of the store may hold the lock next.
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
    expect(await store.getAudience(ORGANIZATION, 'aud')).to.include({ name: 'aud' });
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
    expect(rejected).to.have.property('name', 'UnreleasedVersionError');
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
      accepted([{ organization_id: ORGANIZATION, contact_id: 'loaded_0', first_name: 'After' }], T0),
    );
    await migrate({ mappings });
    await waiting;
    expect((await store.getContact(ORGANIZATION, 'loaded_0'))?.first_name).to.equal('After');
    expect(await client.indices.exists({ index: target })).to.equal(false);
    expect(await behind('contacts')).to.deep.equal([index]);
  });
});

describe('An index whose fields other search rules derived', () => {
  const indices = testIndices();

  before(async () => {
    await openStore(indices.config);
  });

  for (const resource of ['contacts', 'audiences', 'visits'] as const) {
    it(`is opened by no store before it is reindexed: ${resource}`, async () => {
      const client = indices.client();
      const alias = `${indices.config.indexPrefix}-${resource}`;
      const [found = { mappings: {} }] = Object.values(await client.indices.getMapping({ index: alias }));
      const withRules = (rules: string) =>
        client.indices.putMapping({ index: alias, _meta: { ...found.mappings._meta, rules } });
      await withRules('99-later');
      const newer = await migrateElasticsearch(indices.config).catch((error: Error) => error);
      expect(String(newer)).to.match(/with rules 99-later, newer than this Reachline/);
      await withRules('other');
      const rejected = await openStore(indices.config).catch((error: Error) => error);
      expect(rejected).to.have.property('name', 'MigrationNeededError');
      expect((rejected as Error).message).to.contain('with rules other');
      expect(await migrateElasticsearch(indices.config)).to.have.length(1);
      expect(await migrateElasticsearch(indices.config)).to.deep.equal([]);
    });
  }
});
