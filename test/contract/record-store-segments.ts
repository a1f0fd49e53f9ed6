import { expect } from 'chai';
import fc from 'fast-check';
import type { Contact } from '../../services/contacts/schema.js';
import { toContactSearch } from '../../services/contacts/search.js';
import type { TextQuery } from '../../services/search/query.js';
import { parseQuery } from '../../services/search/query-parser.js';
import { useOpened } from '../support/opened.js';
import { runs } from '../support/random.js';
import { matchesRequest, type SegmentRequest } from './filter-oracle.js';
import { allPages, freshOrganization, load, loadAudiences, type Open, T0 } from './record-store-support.js';

const CONTACTS = 120;
const at = (milliseconds: number) => new Date(T0 + milliseconds).toISOString();

/** One of the values, or null. */
const maybe = <T>(...values: T[]) => fc.constantFrom(null, ...values);
const list = (...values: string[]) => fc.subarray(values);

const record = fc.record({
  first_name: maybe('Ada', 'Adam', 'Bo'),
  last_name: maybe('Quill', 'Quillon', 'Stone'),
  job_title: maybe('Baker', 'Bread baker', 'Potter'),
  functional_area: maybe('Glazing', 'Kiln room'),
  company_name: maybe('Umbra', 'Umbrella works', 'Zinnia'),
  company_domain: maybe('umbra.example', 'www.Umbra.example', 'zinnia.example'),
  company_industry: maybe('Fine ceramics', 'Ceramic tiles', 'IT', 'Italian food'),
  city: maybe('Lund', 'Lunden', 'Visby'),
  state_region: maybe('Scania', 'Gotland'),
  country: maybe('Sweden', 'SE', 'Norway'),
  postal_code: maybe('123 45', '12345', '999'),
  network_a_url: maybe('https://www.linkedin.com/in/ada', 'linkedin.com/in/bo'),
  data_import_id: maybe('spring', 'Spring', '^spring'),
  work_emails: list('ada@umbra.example', 'bo@zinnia.example'),
  personal_emails: list('ada@mail.example'),
  phones: list('+46 1234567'),
  audience_ids: list('aud_a', 'aud_b', 'aud_c'),
  created_at: fc.integer({ min: 0, max: 40 }).map(at),
  updated_at: fc.integer({ min: 41, max: 60 }).map(at),
});

const FIELDS = ['work_emails', 'personal_emails', 'phones', 'network_a_url', 'company_domain'] as const;
const presence = fc.uniqueArray(fc.constantFrom(...FIELDS), { minLength: 1, maxLength: 2 });
const moment = fc.integer({ min: -1, max: 61 }).map(at);

const conditions = {
  first_name: fc.constantFrom('ad', 'ada', 'bo'),
  last_name: fc.constantFrom('quill', 'quillon', 'stone'),
  job_title: fc.constantFrom('baker', 'bread bak', 'pott'),
  functional_area: fc.constantFrom('glaz', 'room kiln'),
  company_name: fc.constantFrom('umbra', 'works umbrella', 'zinnia'),
  company_domain: fc.constantFrom('umbra.example', 'https://ZINNIA.example/x'),
  company_domains: fc.subarray(['umbra.example', 'zinnia.example', 'none.example'], { minLength: 1 }),
  company_industry: fc.constantFrom('ceramic', 'ceramics', 'it', 'tiles ceramic', 'ital'),
  city: fc.constantFrom('lund', 'lunden', 'visby'),
  state_region: fc.constantFrom('scania', 'gotland'),
  country: fc.constantFrom('sweden', 'SWE', 'norway', 'DE'),
  postal_code: fc.constantFrom('12345', '999'),
  network_a_url: fc.constantFrom('linkedin.com/in/ada', 'bo'),
  email: fc.constantFrom('ADA@umbra.example', 'ada@mail.example'),
  data_import_id: fc.constantFrom('spring', 'Spring', '^spring'),
  audience_id: fc.constantFrom('aud_a', 'aud_b', 'aud_c', 'aud_none'),
  has: presence,
  lacks: presence,
  updated_after: moment,
  created_after: moment,
  created_before: moment,
};
/** A filter with a few of the conditions. */
const filter = (minLength: number) =>
  fc
    .subarray(Object.keys(conditions) as (keyof typeof conditions)[], { minLength, maxLength: 3 })
    .chain((names) =>
      fc.record(Object.fromEntries(names.map((name) => [name, conditions[name] as fc.Arbitrary<unknown>]))),
    );
const alternatives = (minLength: number) => fc.array(filter(minLength), { minLength: 1, maxLength: 4 });
const request = fc
  .tuple(
    fc.oneof(fc.constant({}), filter(0)),
    fc.option(alternatives(0), { nil: undefined }),
    fc.option(alternatives(1), { nil: undefined }),
    fc.constantFrom(undefined, 'ada', 'umbra baker', 'baker -lund'),
    fc.constantFrom(undefined, 'last_name', 'created_at', 'updated_at'),
  )
  .map(([base, any_of, none_of, query, sort_by]) => ({
    ...base,
    ...(any_of && { any_of }),
    ...(none_of && { none_of }),
    ...(query && { query }),
    ...(sort_by && !query && { sort_by }),
  })) as fc.Arbitrary<SegmentRequest>;

export function recordStoreSegments(open: Open): void {
  describe('segments (contract 3.8)', () => {
    const opened = useOpened(() => open());
    const organization = freshOrganization();
    let contacts: Contact[];

    before(async function () {
      this.timeout(60_000);
      const [records = []] = fc.sample(fc.array(record, { minLength: CONTACTS, maxLength: CONTACTS }), {
        numRuns: 1,
        seed: 1,
      });
      await loadAudiences(opened.store, organization, 'aud_a', 'aud_b', 'aud_c');
      await load(opened.store, organization, records as Parameters<typeof load>[2]);
      const { items } = await opened.store.searchContacts({
        organizationId: organization,
        filters: [],
        limit: 1000,
      });
      contacts = items;
      expect(contacts).to.have.length(CONTACTS);
    });

    const searchOf = (asked: SegmentRequest) => ({
      ...toContactSearch(
        organization,
        { ...asked, organization_id: organization } as Parameters<typeof toContactSearch>[1],
        asked.query ? (parseQuery(asked.query) as TextQuery) : undefined,
      ),
      match: undefined,
      limit: 30,
    });

    it('find the contacts that the filters describe, page by page, with exact totals and facets', async function () {
      this.timeout(120_000);
      let some = 0;
      await fc.assert(
        fc.asyncProperty(request, async (asked) => {
          const expected = contacts.filter((contact) => matchesRequest(contact, asked));
          const ids = expected.map(({ contact_id }) => contact_id).sort();
          if (ids.length > 0 && ids.length < CONTACTS) some++;
          const search = searchOf(asked);
          const found = await allPages(opened.store, search);
          expect(found.map(({ contact_id }) => contact_id).sort()).to.deep.equal(ids);
          const { total, facets } = await opened.store.searchContacts({
            ...search,
            facets: ['city', 'company_industry'],
          });
          expect(total).to.equal(ids.length);
          for (const field of ['city', 'company_industry'] as const) {
            const counts: Record<string, number> = {};
            for (const { [field]: value } of expected) if (value) counts[value] = (counts[value] ?? 0) + 1;
            const counted = facets?.[field]?.map(({ value, count }) => [value, count]) ?? [];
            expect(Object.fromEntries(counted), field).to.deep.equal(counts);
          }
          const keys = await opened.store.searchContactKeys({ ...search, limit: 1000 });
          expect(keys.items.map(({ id }) => id).sort()).to.deep.equal(ids);
        }),
        { numRuns: runs(100) },
      );
      expect(some, 'requests that divide the contacts').to.be.above(25);
    });

    it('tell apart ids of imports that differ in one character', async () => {
      const imports = freshOrganization();
      const ids = ['a b', 'a%20b', 'a%2520b', "a'b", 'a%27b', 'ab', 'Ab', '^ab'];
      await load(
        opened.store,
        imports,
        ids.map((data_import_id, index) => ({ contact_id: `c${index}`, data_import_id })),
      );
      for (const [index, data_import_id] of ids.entries()) {
        const { items } = await opened.store.searchContacts({
          ...toContactSearch(imports, { data_import_id }),
          limit: 10,
        });
        expect(
          items.map(({ contact_id }) => contact_id),
          data_import_id,
        ).to.deep.equal([`c${index}`]);
      }
    });
  });
}
