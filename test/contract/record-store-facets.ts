import { expect } from 'chai';
import fc from 'fast-check';
import type { ContactSearch } from '../../services/contacts/contact-store.js';
import { FACET_FIELDS } from '../../services/contacts/fields.js';
import { useOpened } from '../support/opened.js';
import { runs } from '../support/random.js';
import { asked, freshOrganization, load, type Open, T0 } from './record-store-support.js';
import { facetsByHand } from './search-oracle.js';

const VALUES = [
  ...['Rome', 'rome', 'Róme', ' Rome', '\uff5eRome', '🏛 Rome', 'Oslo'],
  ...['', 'a"b\\c', '0', 'null', 'VP of Sales', 'CFO'],
];
const value = fc.option(fc.constantFrom(...VALUES), { nil: undefined, freq: 3 });
const record = fc.record({
  first_name: fc.constantFrom('Maria', 'Omar'),
  ...Object.fromEntries(FACET_FIELDS.map((field) => [field, value])),
  audience_ids: fc.subarray(['aud']),
  updated_at: fc.constantFrom(0, 1).map((offset) => new Date(T0 + offset).toISOString()),
});
const request = fc.record({
  query: fc.option(fc.constantFrom('maria', 'marya', '-omar', 'rome', 'omar oslo cfo'), { nil: undefined }),
  city: fc.option(fc.constant('rome'), { nil: undefined, freq: 1 }),
  updated_after: fc.option(fc.constant(new Date(T0).toISOString()), { nil: undefined, freq: 1 }),
  limit: fc.constantFrom(1, 3, 50),
});

export function recordStoreFacets(open: Open): void {
  describe('facets (contract 3.10)', () => {
    const opened = useOpened(() => open());

    const facetsOf = async (search: ContactSearch) => (await opened.store.searchContacts(search)).facets;

    it('are absent unless asked for, and empty where nothing matches', async () => {
      const organization = freshOrganization();
      await load(opened.store, organization, [{ city: 'Rome' }]);
      const search = asked(organization);
      expect(await opened.store.searchContacts(search)).not.to.have.property('facets');
      expect(await facetsOf({ ...search, facets: ['city', 'country'] })).to.deep.equal({
        city: [{ value: 'Rome', count: 1 }],
        country: [],
      });
      for (const empty of [
        asked(organization, { query: 'nobody' }),
        asked(freshOrganization()),
        asked(organization, {}, { audienceId: 'none' }),
      ]) {
        expect(await facetsOf({ ...empty, facets: ['city'] })).to.deep.equal({ city: [] });
      }
    });

    it('hold the 20 most frequent of many values, those of equal counts by code points', async () => {
      const organization = freshOrganization();
      const records = Array.from({ length: 1200 }, (_, index) => ({ city: `City ${index ** 2 % 397}` }));
      await load(opened.store, organization, records);
      const ids = records.map((_, index) => `c${index}`);
      const { contacts } = await opened.store.getContacts(organization, ids);
      const search = { ...asked(organization, { limit: 1 }), facets: ['city'] as const };
      expect(await facetsOf(search)).to.deep.equal(facetsByHand(contacts, search));
    });

    it('count all matches on every page, and leave room for themselves within 4 MiB', async () => {
      const organization = freshOrganization();
      const long = (index: number) => `${index} ${'é'.repeat(1000)}`;
      const phones = Array.from({ length: 20 }, () => '1'.repeat(1000));
      await load(
        opened.store,
        organization,
        Array.from({ length: 200 }, (_, index) => ({
          phones,
          city: long(index % 30),
          job_title: long(index % 40),
        })),
      );
      const search = { ...asked(organization, { limit: 1000 }), facets: ['city', 'job_title'] as const };
      const first = await opened.store.searchContacts(search);
      expect(Buffer.byteLength(JSON.stringify(first))).to.be.within(3.9 * 1024 * 1024, 4 * 1024 * 1024);
      const second = await opened.store.searchContacts({ ...search, after: first.next ?? undefined });
      expect(second.facets).to.deep.equal(first.facets);
      expect(first.facets?.city?.[0]).to.deep.equal({ value: long(0), count: 7 });
    });

    it('count what a plain list counts', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(record, { minLength: 1, maxLength: 40 }),
          fc.array(
            fc.tuple(
              request,
              fc.constantFrom(undefined, 'aud'),
              fc.subarray([...FACET_FIELDS], { minLength: 1 }),
            ),
            { minLength: 1, maxLength: 5 },
          ),
          async (records, searches) => {
            const organization = freshOrganization();
            await load(opened.store, organization, records);
            const ids = records.map((_, index) => `c${index}`);
            const { contacts } = await opened.store.getContacts(organization, ids);
            for (const [filters, audienceId, facets] of searches) {
              const search = {
                ...asked(organization, { match: 'best', ...filters }, { audienceId }),
                facets,
              };
              expect(await facetsOf(search)).to.deep.equal(facetsByHand(contacts, search));
            }
          },
        ),
        { numRuns: runs(20) },
      );
    }).timeout(600_000);
  });
}
