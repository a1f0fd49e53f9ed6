/**
 * Lists of an organization with ten thousand of everything on Elasticsearch. Counts the cost of a page with one item: the documents and
 * bytes that the cluster returns, and the size that requests ask for.
 */
import { expect } from 'chai';
import type { RecordStore } from '../../../services/stores/common/record-store.js';
import {
  COUNT,
  iso,
  keyAt,
  middle,
  numbers,
  ORGANIZATION,
  rejectionAt,
  search,
} from '../../contract/large-organization.js';
import { asked, T0 } from '../../contract/record-store-support.js';
import { accepted } from '../../support/accepted.js';
import { startHttpProxy } from './http-proxy.js';
import { openStore, testIndices } from './support.js';

/** A page with one item needs one more document, to know whether there is another page. Keys need their ancestors. */
const MAX_DOCUMENTS = 4;
const MAX_BYTES = 16 * 1024;

const LISTS: Record<string, (store: RecordStore) => Promise<unknown>> = {
  keys: (store) => store.listKeys({ ...search, now: T0 }),
  'keys, from the middle': (store) => store.listKeys({ ...search, now: T0, after: middle }),
  'keys of all organizations': (store) => store.listKeys({ limit: 1, now: T0, after: middle }),
  rejections: (store) => store.listRejections(search),
  'rejections, from the middle': (store) => store.listRejections({ ...search, after: middle }),
  'rejections of a stream': (store) =>
    store.listRejections({ ...search, stream: 'audiences', after: middle }),
  erasures: (store) => store.listErasures(search),
  'erasures, from the middle': (store) => store.listErasures({ ...search, after: middle }),
  audiences: (store) => store.searchAudiences(search),
  'audiences, from the middle': (store) => store.searchAudiences({ ...search, after: middle }),
  contacts: (store) => store.searchContacts(asked(ORGANIZATION, { limit: 1 })),
  'members of an audience': (store) =>
    store.searchContacts(asked(ORGANIZATION, { limit: 1 }, { audienceId: 'aud0' })),
  visits: (store) => store.searchVisits(search),
  'visits, from the middle': (store) => store.searchVisits({ ...search, after: middle }),
  'members of four audiences': (store) => store.countMembers(ORGANIZATION, ['aud0', 'aud1', 'aud2', 'aud3']),
  'figures of the status': (store) => store.readCounts(ORGANIZATION),
  'keys that descend from a key': (store) => store.countDescendants(ORGANIZATION, 'key0', T0),
};

/** Number of documents in a response, at any depth, and the largest size that a request asks for. */
function documentsIn(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, each) => sum + documentsIn(each), 0);
  if (value === null || typeof value !== 'object') return 0;
  if ('_source' in value || '_id' in value) return 1;
  return documentsIn(Object.values(value));
}

describe('Elasticsearch with ten thousand of everything', function () {
  this.timeout(180_000);
  const indices = testIndices();
  let store: RecordStore;
  let answers: { path: string; body: string; response: string }[];

  before(async () => {
    const proxy = await startHttpProxy(indices.config);
    // The recovery job sends requests at its own times, which would be counted.
    store = await openStore(proxy.config, {
      clock: { now: () => T0 + COUNT },
      recoveryIntervalMs: 3_600_000,
    });
    const client = indices.client();
    const bulk = async (
      index: string,
      idOf: (index: number) => string,
      sourceAt: (index: number) => object,
    ) => {
      const operations = numbers.flatMap((each) => [{ index: { _id: idOf(each) } }, sourceAt(each)]);
      const { errors } = await client.bulk({ index: `${indices.config.indexPrefix}-${index}`, operations });
      expect(errors).to.equal(false);
    };
    await bulk('keys', (index) => `key${index}`, keyAt);
    await bulk(
      'erasures',
      (index) => `era${index}`,
      (index) => ({
        organization_id: ORGANIZATION,
        requested_at: T0 + index,
        proof_id: `era${index}`,
        proof: { proof_id: `era${index}`, requested_at: iso(index), removed: {} },
      }),
    );
    await store.upsertAudiences(
      accepted(
        numbers.map((index) => ({
          organization_id: ORGANIZATION,
          id: `aud${index}`,
          name: `Audience ${index}`,
        })),
        T0,
      ),
    );
    await store.upsertContacts(
      accepted(
        numbers.map((index) => ({
          organization_id: ORGANIZATION,
          contact_id: `c${index}`,
          audience_ids: ['aud0'],
        })),
        T0,
      ),
    );
    await store.insertVisits(
      accepted(
        numbers.map((index) => ({ organizationId: ORGANIZATION, id: `v${index}`, createdAt: iso(index) })),
        T0,
      ),
    );
    await store.keepRejections(ORGANIZATION, numbers.map(rejectionAt));
    await client.indices.refresh({ index: `${indices.config.indexPrefix}-*` });
    proxy.observe = ({ path, body }, response) => void answers.push({ path, body, response });
  });
  beforeEach(() => {
    answers = [];
  });

  for (const [title, list] of Object.entries(LISTS)) {
    it(`answers few documents and bytes for ${title}, a page of one`, async () => {
      const page = await list(store);
      const documents = answers.reduce((sum, { response }) => sum + documentsIn(JSON.parse(response)), 0);
      const bytes = answers.reduce((sum, { response }) => sum + response.length, 0);
      const asks = answers.map(({ path, body }) => `${path} ${body}`).join('\n');
      expect(answers.length, asks).to.be.within(1, 4);
      expect(documents, asks).to.be.at.most(MAX_DOCUMENTS);
      expect(bytes, asks).to.be.below(MAX_BYTES);
      for (const [, size] of asks.matchAll(/"size":(\d+)/g)) expect(Number(size), asks).to.be.at.most(20);
      expect(JSON.stringify(page).length).to.be.within(1, 4096);
      if (typeof page === 'object' && page !== null && 'total' in page)
        expect(page.total, title).to.be.at.least(title.includes('of a stream') ? COUNT / 100 : COUNT);
    });
  }
});
