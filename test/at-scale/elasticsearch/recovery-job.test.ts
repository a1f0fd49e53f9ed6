import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '@elastic/elasticsearch';
import { expect } from 'chai';
import { openElasticsearchStore } from '../../../services/stores/elasticsearch/store.js';
import type { SearchStore } from '../../../services/stores/search-store.js';
import { freshOrganization } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';
import { type TestIndices, testIndices } from './support.js';

const DAY_MS = 24 * 60 * 60 * 1000;

describe('The recovery job on Elasticsearch', () => {
  let indices: TestIndices;
  let client: Client;
  let store: SearchStore;
  const clock = { skipped: 0, now: () => Date.now() + clock.skipped };

  before(async () => {
    indices = testIndices();
    client = new Client({ nodes: indices.config.nodes });
    store = await openElasticsearchStore(indices.config, { clock, recoveryIntervalMs: 500 });
  });
  after(async () => {
    await store.close();
    await client.close();
    await indices.remove();
  });

  it('deletes all idempotency keys of the day before, however many, and no others', async () => {
    const organizationId = freshOrganization();
    await store.upsertAudiences(
      accepted([{ organization_id: organizationId, id: 'aud', name: 'A' }], clock.now()),
    );
    const remove = (key: string) =>
      store.removeMembership({
        organizationId,
        audienceId: 'aud',
        contactId: 'c',
        idempotency: { route: 'remove', key, fingerprint: 'f' },
      });
    await remove('real');
    const index = `${indices.config.indexPrefix}-idempotency`;
    const { hits } = await client
      .search({ index, size: 1, query: { match_all: {} } })
      .then(async (found) =>
        found.hits.hits.length > 0
          ? found
          : client.indices.refresh({ index }).then(() => client.search({ index, size: 1 })),
      );
    const source = hits.hits[0]?._source as object;
    const COPIES = 12_000;
    await client.helpers.bulk({
      datasource: Array.from({ length: COPIES }, (_, number) => ({ ...source, number })),
      onDocument: ({ number }) => [{ create: { _index: index, _id: `copy_${number}` } }, source],
      refreshOnCompletion: true,
    });
    clock.skipped += DAY_MS + 1000;
    await remove('fresh');

    const left = async () => {
      await client.indices.refresh({ index });
      return (await client.count({ index })).count;
    };
    for (const end = Date.now() + 30_000; Date.now() < end && (await left()) > 1; ) await pause(250);
    expect(await left()).to.equal(1);
    expect(await remove('fresh')).to.deep.include({ replayed: true });
  });
});
