import { expect } from 'chai';
import { precisionOf, relevanceOf, startJudgedGateway } from '../../bench/relevance/ask.js';
import {
  crowdQueries,
  doorQueries,
  fewQueries,
  forgivingQueries,
  judgedQueries,
  rightIds,
  segmentFilters,
} from '../../bench/relevance/judged-query.js';
import { MADE_PEOPLE, RECORD_SETS } from '../../bench/relevance/record-sets.js';
import { explainPage } from '../../services/contacts/explain.js';
import type { Contact } from '../../services/contacts/schema.js';
import { searchContacts } from '../../services/contacts/search.js';
import type { TextQuery } from '../../services/search/query.js';
import { parseQuery } from '../../services/search/query-parser.js';
import { toJson } from '../../services/shared/json.js';
import { asked } from '../contract/record-store-support.js';
import { useOpened } from '../support/opened.js';
import { type ParsedStore, parsed } from '../support/parsed-store.js';
import { runs } from '../support/random.js';

/** Every n-th query is tried: all of them in the nightly run and in the bench. */
const STRIDE = Math.max(1, Math.round(10 / runs(1)));
const some = <T>(all: readonly T[]) => all.filter((_, index) => index % STRIDE === 0);

/**
 * Minimum number of queries in each set with a right record first. Just below what the search reaches: raise it with the search, never
 * lower it.
 */
const SETS = {
  'by hand and drawn': { queries: judgedQueries, first: 0.98 },
  forgiving: { queries: forgivingQueries, first: 0.98 },
  'as people type': { queries: doorQueries, first: 0.98 },
  'beside relatives and colleagues': { queries: crowdQueries, first: 0.97 },
  'among few people': { queries: fewQueries, first: 0.98 },
};
/** For each kind of filter: minimum share of found records that are right, and of right records that are found. */
const FILTERS = {
  'filter by title': { precision: 0.95, recall: 0.98 },
  'filter by country': { precision: 0.98, recall: 0.95 },
  'filter by company': { precision: 0.9, recall: 0.9 },
  'filter by last name': { precision: 0.98, recall: 0.98 },
};

const ORGANIZATION = RECORD_SETS.mixed.organizationId;

/** Each word is a name, a legal form, a state, a title or a word of a table, and often two of these. */
const AMBIGUOUS = [
  ...['vp', 'ag', 'ma', 'jo', 'as', 'al', 'co', 'de', 'in', 'or', 'me', 'ok', 'hi', 'pa', 'md', 'va', 'la'],
  ...['id', 'oh', 'sa', 'se', 'sc', 'it', 'pr', 'hr', 'is', 'am', 'pm', 'ai', 'ba', 'ea', 'dr', 'sr', 'jr'],
  ...['bill', 'will', 'mark', 'art', 'may', 'sandy', 'kit', 'pat', 'gene', 'rich', 'nice', 'bath', 'reading'],
  ...['nancy', 'lima', 'paris', 'victoria', 'florence', 'austin', 'jackson', 'georgia', 'virginia', 'dakota'],
  ...['and', 'of', 'the', 'sec', 'tech', 'gov', 'rep', 'sen', 'spec', 'dev', 'eng', 'ops', 'dir', 'mgr'],
];
const BESIDE = ['smith', 'vice'];
const QUERIES = some(AMBIGUOUS.flatMap((word) => [word, ...BESIDE.map((other) => `${word} ${other}`)]));

describe('Relevance', function () {
  this.timeout(60_000);

  const gateway = useOpened(startJudgedGateway);

  it('is judged by queries that each have a right record', () => {
    const withoutRight = Object.values(SETS)
      .flatMap(({ queries }) => queries())
      .filter(
        (judged) =>
          !('ids' in judged.right && judged.right.ids.length === 0) &&
          rightIds(judged, RECORD_SETS[judged.set]).size === 0,
      );
    expect(withoutRight).to.deep.equal([]);
  });

  for (const [name, { queries, first }] of Object.entries(SETS)) {
    it(`puts a right record first for at least ${first} of the queries ${name}`, async () => {
      const answers = await gateway.ask(some(queries()));
      const { successAt1 } = relevanceOf(answers);
      const misses = answers.filter(({ isFirst }) => !isFirst).map(({ judged }) => judged.query);
      expect(successAt1, `missed: ${misses.join(' | ')}`).to.be.at.least(first);
    });
  }

  it('finds by filters what they mean, and little else', async () => {
    const answers = await gateway.ask(segmentFilters());
    for (const [kind, least] of Object.entries(FILTERS)) {
      const { precision, recall } = precisionOf(answers.filter(({ judged }) => judged.kind === kind));
      expect(precision, `${kind}, precision`).to.be.at.least(least.precision);
      expect(recall, `${kind}, recall`).to.be.at.least(least.recall);
    }
  });

  describe('of a forgiving search', () => {
    let store: ParsedStore;
    before(() => {
      store = parsed(gateway.stores.records);
    });

    /** Ids of the contacts whose words all match exactly, in order. */
    async function exactly(query: string, plainly: boolean): Promise<string[]> {
      const search = asked(ORGANIZATION, { query, limit: 1000, match: 'best' });
      if (plainly) search.query = parseQuery(query) as TextQuery;
      const page = await store.searchContacts({ ...search, explain: true });
      const json = { ...page, items: page.items.map(toJson) };
      if (page.partial) return [];
      const tiers = new Map(
        (await explainPage(json, search.query)).map(({ contact_id, tier }) => [contact_id, tier]),
      );
      const isExact = ({ contact_id }: Contact) =>
        ['whole_name', 'first_or_last_name', 'exact'].includes(tiers.get(contact_id) ?? '');
      const found = page.items.filter(isExact).map(({ contact_id }) => contact_id);
      expect(page.items.slice(0, found.length).every(isExact), `${query}: exact matches first`).to.equal(
        true,
      );
      return found;
    }

    it(`answers the exact matches first, and the same ones, for ${QUERIES.length} ambiguous queries`, async () => {
      for (const query of QUERIES) {
        expect(await exactly(query, false), query).to.deep.equal(await exactly(query, true));
      }
    });

    it('finds by "vp" nobody but vice presidents', async () => {
      const { items } = await store.searchContacts(asked(ORGANIZATION, { query: 'vp', limit: 1000 }));
      expect(items.length).to.be.above(0);
      for (const { job_title, functional_area, first_name } of items) {
        expect(`${job_title} ${functional_area} ${first_name}`).to.match(
          /\bvp|vice.*president|president.*vice/i,
        );
      }
    });

    for (const [what, textOf] of Object.entries({
      'a whole name': ({ first_name, last_name }: Partial<Contact>) => `${first_name} ${last_name}`,
      'a company': ({ company_name }: Partial<Contact>) => company_name as string,
    })) {
      it(`finds the right person at every letter while ${what} is typed`, async () => {
        const lost: string[] = [];
        for (const { id, fields } of some(MADE_PEOPLE)) {
          const letters = [...textOf(fields as Partial<Contact>)];
          for (let end = 1; end <= letters.length; end++) {
            const query = letters.slice(0, end).join('');
            if (!/[\p{L}\p{N}]/u.test(query)) continue;
            const search = asked(ORGANIZATION, { query, limit: 1000, match: 'best' });
            const { fallbackQuery } = parseQuery(query) as TextQuery;
            if (search.query && fallbackQuery) search.query.fallbackQuery = fallbackQuery;
            const { page } = await searchContacts((part) => store.searchContacts(part), search);
            const { items } = page;
            // One letter begins a name, and no other word.
            const isFound = items.some(({ contact_id }) => contact_id === id);
            if (!isFound && !(what === 'a company' && end === 1)) lost.push(query);
          }
        }
        expect(lost).to.deep.equal([]);
      });
    }
  });
});
