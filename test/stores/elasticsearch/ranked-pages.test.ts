import type { estypes } from '@elastic/elasticsearch';
import { expect } from 'chai';
import type { ContactRecord } from '../../../services/contacts/schema.js';
import { toContactSearch } from '../../../services/contacts/search.js';
import { applyRecord } from '../../../services/contacts/stored-contact.js';
import type { TextQuery } from '../../../services/search/query.js';
import { parseQuery } from '../../../services/search/query-parser.js';
import {
  type ContactSource,
  contactDocument,
  type IndexedContact,
} from '../../../services/stores/elasticsearch/contacts/indexed-contact.js';
import { planSearch } from '../../../services/stores/elasticsearch/contacts/search.js';
import { type ContactReader, readPart } from '../../../services/stores/elasticsearch/contacts/search-page.js';

const LIMIT = 25;
const searchFor = (query: string) => ({
  ...toContactSearch('org', {}, parseQuery(query) as TextQuery),
  limit: LIMIT,
});

type Hit = estypes.SearchHit<ContactSource>;

/** The score ignores typos, and no match with typos reaches it; newest first. */
function hit(number: number, last_name: string, score: number): Hit {
  const contact_id = `con_${number}`;
  const record: ContactRecord = { organization_id: 'org', contact_id, first_name: 'Eva', last_name };
  const stored = applyRecord(undefined, { record, acceptedAt: 0, sequence: 0 }) as IndexedContact;
  const source = contactDocument(stored) as ContactSource;
  return { _index: 'contacts', _id: contact_id, _source: source, sort: [score, 1000 - number, contact_id] };
}

/**
 * The ids of the page, the number of requests to the cluster, and how many of them score fuzzy matches. With `matched`, one word of two matches.
 */
async function read(
  found: (bestScore: number) => Hit[],
  { size = LIMIT + 1, matched, isGone = false }: { size?: number; matched?: 1; isGone?: boolean } = {},
) {
  let ranked = 0;
  let asked = 0;
  const search = searchFor(matched === 1 ? 'anderson zyx' : 'anderson');
  const plan = planSearch(search, matched && { matched, weight: 17, weights: [17, 17] });
  const stored = found(plan.bestScore as number);
  const bodies = new Map(stored.map(({ _id, _source }) => [_id, _source]));
  const documents = {
    search: async (part: estypes.SearchRequest) => {
      asked += 1;
      if (JSON.stringify(part.query?.bool?.should).includes('fuzzy')) ranked += 1;
      return { hits: { hits: stored.slice(0, part.size) } } as estypes.SearchResponse<ContactSource>;
    },
    getMany: async (wanted: readonly { id: string }[]) =>
      new Map(isGone ? [] : wanted.map(({ id }) => [id, { source: bodies.get(id) }])),
  } as unknown as ContactReader['documents'];
  const formerTokens = Promise.resolve(new Set<string>());
  const { signal } = new AbortController();
  const reader = { documents, formerTokens, shardsPerOrganization: 1, signal };
  const { hits } = (await readPart(reader, plan, { ...plan.request, size })).hits;
  return { ids: hits.map(({ sort }) => sort?.[2]), asked, ranked };
}

const many = (count: number, last_name: string, score: number) =>
  Array.from({ length: count }, (_, number) => hit(number, last_name, score));

describe('Pages of a search with typos on Elasticsearch', () => {
  it('rank the last contacts without asking again, those with fewer typos first', async () => {
    const { ids, asked, ranked } = await read(() => [
      hit(1, 'Andersonn', 3),
      hit(2, 'Andrrsnn', 0),
      hit(3, 'Andersen', 0),
    ]);
    expect(ids).to.deep.equal(['con_1', 'con_3', 'con_2']);
    expect({ asked, ranked }).to.deep.equal({ asked: 1, ranked: 0 });
  });

  it('are not asked for again where contacts without typos fill them', async () => {
    const { asked, ranked } = await read((bestScore) => [
      ...many(LIMIT, 'Anderson', bestScore),
      hit(99, 'Andersen', 0),
    ]);
    expect({ asked, ranked }).to.deep.equal({ asked: 1, ranked: 0 });
  });

  it('leave the order to the cluster where more contacts with typos follow', async () => {
    const { asked, ranked } = await read(() => many(LIMIT + 5, 'Andersen', 0));
    expect({ asked, ranked }).to.deep.equal({ asked: 2, ranked: 1 });
  });

  it('leave the order to the cluster where more than 400 contacts need typos', async () => {
    const { asked, ranked } = await read(() => many(401, 'Andersen', 0), { size: 1001 });
    expect({ asked, ranked }).to.deep.equal({ asked: 2, ranked: 1 });
  });

  describe('of contacts that match some of the words', () => {
    const few = () => [...many(300, 'Andrrsen', 0), hit(300, 'Andersen', 0)];

    it('rank all contacts at once where they are few', async () => {
      const { ids, asked, ranked } = await read(few, { matched: 1 });
      expect(ids).to.have.lengthOf(LIMIT + 1);
      expect(ids.slice(0, 3)).to.deep.equal(['con_300', 'con_0', 'con_1']);
      expect({ asked, ranked }).to.deep.equal({ asked: 1, ranked: 0 });
    });

    it('end where contacts without typos fill them', async () => {
      const { ids, asked, ranked } = await read((best) => many(500, 'Anderson', best), { matched: 1 });
      expect(ids).to.have.lengthOf(LIMIT + 1);
      expect({ asked, ranked }).to.deep.equal({ asked: 1, ranked: 0 });
    });

    it('leave the order to the cluster where contacts are many, or cannot be read', async () => {
      const tooMany = await read(() => many(401, 'Andersen', 0), { matched: 1 });
      const gone = await read(few, { matched: 1, isGone: true });
      for (const { asked, ranked } of [tooMany, gone]) {
        expect({ asked, ranked }).to.deep.equal({ asked: 2, ranked: 1 });
      }
    });
  });
});
