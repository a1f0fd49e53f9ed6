import { expect } from 'chai';
import fc from 'fast-check';
import { CONTACT_SORTS } from '../../services/contacts/fields.js';
import type { Contact, ContactRecord } from '../../services/contacts/schema.js';
import { wordsTwoTyposFrom } from '../support/near-words.js';
import { useOpened } from '../support/opened.js';
import { runs } from '../support/random.js';
import {
  allPages,
  asked,
  type Filters,
  found,
  freshOrganization,
  load,
  type Open,
  type OpenStore,
  T0,
  walk,
} from './record-store-support.js';
import { searchByHand } from './search-oracle.js';

const WORDS = [
  ...['maria', 'mario', 'marie', 'mara', 'omar', 'mar', 'María', 'garcia', 'garzia', 'gracia', 'García'],
  ...['alexander', 'aleksander', 'alexandra', 'alexandre', 'al', 'x7a', '42', 'new', 'york', 'newyork'],
  // Words of tables of equivalents, like York above.
  ...['mariagarcia', 'garciamario', 't.j.', 'T. J.', 'tj', 'al.garcia'],
  ...['vp', 'vice', 'president', 'svp', 'sr', 'alex', 'nyc', 'ny', 'ltd', 'limited', 'and', 'of', 'dr'],
  ...["O'Mara", 'Omara-Garcia', '李', '静', '东京', 'रीमा', 'रोमा', 'バナ'],
];
/** Spellings of a few names on keyboards of several languages. */
const SPELLINGS = [
  ...['Müller', 'mueller', 'muller', 'Ågård', 'aagaard', 'agard', 'Jørgen', 'joergen', 'Haas'],
  ...['علي', 'علی', 'على', 'كريم', 'کریم'],
];
const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const emails = fc.array(
  fc
    .tuple(fc.constantFrom('maria', 'mario.garcia', 'al'), fc.constantFrom('york.com', 'mara.example'))
    .map(([local, domain]) => `${local}@${domain}`),
  { maxLength: 2 },
);
const PHONES = [
  ...['202-224-3441', '+1 202 224 3442', '42'],
  ...['030 1234567', '+49 30 1234567', '0049 (0)30 1234567', '8 912 345-67-89', '+7 912 345 67 89'],
];
const phone = fc.constantFrom(...PHONES);
const postalCode = fc.constantFrom('SW1A 1AA', 'sw1a1aa', '42', '42-7');
const domain = fc.constantFrom('york.com', 'https://www.Mara.example/x');
const profile = fc.constantFrom('network.example/in/maria-garcia', 'network.example/in/omar');
const moment = (...offsets: number[]) =>
  fc.constantFrom(...offsets).map((offset) => new Date(T0 + offset).toISOString());
const sort = fc.record({
  by: fc.constantFrom(...CONTACT_SORTS),
  direction: fc.constantFrom('asc' as const, 'desc' as const),
});

const fewWords = fc.oneof(
  { weight: 2, arbitrary: fc.subarray(WORDS, { minLength: 3, maxLength: 6 }) },
  { weight: 1, arbitrary: fc.subarray(SPELLINGS, { minLength: 3, maxLength: 6 }) },
);

/** Records and requests with few different words, so that many records match several words. */
export const drawn = fewWords.chain((words) => {
  const word = fc.constantFrom(...words);
  const text = fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => parts.join(' '));
  const record = fc.record({
    first_name: some(text),
    last_name: some(text),
    work_emails: some(emails),
    personal_emails: some(emails),
    functional_area: some(text),
    postal_code: some(postalCode),
    phones: some(fc.array(phone, { maxLength: 2 })),
    job_title: some(text),
    company_name: some(text),
    company_domain: some(domain),
    city: some(text),
    state_region: some(text),
    country: some(fc.constantFrom('US', 'United States', 'Mexico', 'maria')),
    network_a_url: some(profile),
    audience_ids: fc.subarray(['aud_1', 'aud_2']),
    updated_at: moment(0, 1, 2),
    // Many records at the same moment, some within a few milliseconds of each other.
    created_at: moment(0, 1, 5, 8, 9, 1e9, -1e12, 4e12),
  });

  const misspelt = fc.tuple(word, fc.nat(8), fc.constantFrom('', 'z', 'r')).map(([given, at, put]) => {
    const place = Math.min(at, given.length);
    return given.slice(0, place) + put + given.slice(place + 1);
  });
  const piece = fc.oneof(
    { weight: 9, arbitrary: word },
    { weight: 4, arbitrary: misspelt },
    { weight: 3, arbitrary: word.map((given) => given.slice(0, 3)) },
    { weight: 1, arbitrary: text.map((given) => `"${given}"`) },
    { weight: 1, arbitrary: word.map((given) => `-${given}`) },
    { weight: 1, arbitrary: text.map((given) => `-"${given}"`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        ...[
          'mario.garcia@york.com',
          'york.com',
          'mara.exam',
          '(202) 224-3441',
          ...PHONES,
          '+4930123',
          '0074 912',
          'sw1a',
          '"1aa"',
          '李静',
          'mex',
        ],
      ),
    },
  );
  /** By a field. */
  const filter = fc.oneof(
    ...Object.entries({
      ...{ first_name: word, last_name: text, job_title: text, functional_area: word, company_name: text },
      ...{ state_region: word, postal_code: postalCode, company_domain: domain },
      city: fc.oneof(
        text,
        word.map((given) => given.slice(0, 2)),
      ),
      country: fc.constantFrom('us', 'maria'),
      network_a_url: fc.oneof(profile, fc.constant('omar')),
      email: fc.constantFrom('Maria@york.com', 'al@mara.example', 'york.com'),
      updated_after: moment(0, 1),
    }).map(([field, value]) => value.map((given) => [field, given] as const)),
  );
  const filters = fc
    .oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 3, arbitrary: fc.tuple(filter) },
      { weight: 1, arbitrary: fc.tuple(filter, filter) },
    )
    .map((given): Filters => Object.fromEntries(given));
  const query = some(fc.array(piece, { minLength: 1, maxLength: 3 }).map((pieces) => pieces.join(' ')));
  const request = fc
    .record({ query, filters, limit: fc.integer({ min: 1, max: 6 }) })
    .map(({ filters, ...given }) => ({ ...given, ...filters }));
  return fc.record({
    records: fc.array(record, { minLength: 1, maxLength: 30, size: 'max' }),
    searches: fc.array(
      fc.record({ request, audienceId: some(fc.constantFrom('aud_1', 'aud_3')), sort: some(sort) }),
      { minLength: 6, maxLength: 12 },
    ),
  });
});

export function recordStoreOrder(open: Open): void {
  describe('order and pages (contract 3.9, 3.10)', () => {
    const opened = useOpened(() => open());

    it('exact matches come first, then beginnings, then typos; names before emails before company before the rest', async () => {
      const organization = freshOrganization();
      await load(opened.store, organization, [
        { contact_id: 'typo_rest', last_name: 'Zed', city: 'Martyn' },
        { contact_id: 'typo', first_name: 'Martyn', last_name: 'Zed' },
        { contact_id: 'begun_rest', city: 'Martinsville' },
        { contact_id: 'begun_name', last_name: 'Martinez' },
        { contact_id: 'rest', city: 'Martin' },
        { contact_id: 'company', company_name: 'Martin' },
        { contact_id: 'title', job_title: 'Martin' },
        { contact_id: 'email', work_emails: ['martin@x.example'] },
        { contact_id: 'older', first_name: 'Martin', created_at: '2020-01-01T00:00:00Z' },
        { contact_id: 'name', first_name: 'Martin' },
      ]);
      expect(await found(opened.store, organization, { query: 'martin' })).to.deep.equal([
        ...['name', 'older', 'email', 'company', 'title', 'rest', 'begun_name', 'begun_rest', 'typo'],
        'typo_rest',
      ]);
      const typos = ['typo', 'typo_rest'];
      expect(await found(opened.store, organization, { query: 'martin zed' })).to.deep.equal(typos);
    });

    it('sorts by names without regard to case and accents, those without one last, then by id', async () => {
      const organization = freshOrganization();
      const names = { f: 'Zoë', c: 'ångström', a: 'Ångstrom', e: 'zoe', b: 'Łódź', d: '李', g: ' ', h: null };
      const long = 'x'.repeat(128);
      await load(
        opened.store,
        organization,
        Object.entries({ ...names, i: `${long}a`, j: `${long}A`, k: '\u{20000}', l: '\uff0d' }).map(
          ([contact_id, last_name]) => ({
            contact_id,
            last_name,
            company_name: last_name,
            audience_ids: ['aud_1'],
          }),
        ),
      );
      for (const by of ['last_name', 'company_name'] as const) {
        for (const [direction, ids] of [
          // A full-width hyphen sorts before letters, and the Han characters of the second plane after all others.
          ['asc', ['l', 'a', 'c', 'b', 'i', 'j', 'e', 'f', 'd', 'k', 'g', 'h']],
          ['desc', ['k', 'd', 'f', 'e', 'j', 'i', 'b', 'c', 'a', 'l', 'h', 'g']],
        ] as const) {
          const request = { sort: { by, direction } };
          expect(await found(opened.store, organization, request)).to.deep.equal(ids);
          expect(await found(opened.store, organization, request, 'aud_1')).to.deep.equal(ids);
          for (const limit of [1, 4]) {
            const pages = await allPages(opened.store, asked(organization, { ...request, limit }));
            expect(pages.map(({ id }) => id)).to.deep.equal(ids);
          }
        }
      }
    });

    it('sorts follow what changes', async () => {
      const organization = freshOrganization();
      const moment = (ms: number) => new Date(T0 + ms).toISOString();
      await load(
        opened.store,
        organization,
        ['a', 'b', 'c'].map((contact_id, index) => ({
          ...{ contact_id, last_name: 'Ann', created_at: moment(index), updated_at: moment(10 - index) },
        })),
      );
      const sorted = (by: (typeof CONTACT_SORTS)[number], direction: 'asc' | 'desc') =>
        found(opened.store, organization, { sort: { by, direction } });
      expect(await sorted('updated_at', 'desc')).to.deep.equal(['a', 'b', 'c']);
      await opened.store.updateContact({
        ...{ organizationId: organization, contactId: 'c', changes: { last_name: 'Aaron' } },
      });
      expect(await sorted('updated_at', 'desc')).to.deep.equal(['c', 'a', 'b']);
      expect(await sorted('last_name', 'asc')).to.deep.equal(['c', 'a', 'b']);
      await opened.store.deleteContacts({ organizationId: organization, contactIds: ['a'] });
      expect(await sorted('last_name', 'desc')).to.deep.equal(['b', 'c']);
    });

    it('finds what a plain list finds, in its order, with exact totals, and pages tile', async () => {
      await fc.assert(
        fc.asyncProperty(drawn, async ({ records, searches }) => {
          const organization = freshOrganization();
          await load(opened.store, organization, records);
          const contacts = await stored(opened, organization, records);
          for (const { request, audienceId, sort } of searches) {
            const filters = { ...request, sort: request.query ? undefined : sort };
            const search = asked(organization, { match: 'best', ...filters }, { audienceId });
            const expected = searchByHand(contacts, search);
            const first = await opened.store.searchContacts(search);
            expect(first.total, JSON.stringify(filters)).to.equal(expected.length);
            const ids = (await allPages(opened.store, search)).map((contact) => contact.contact_id);
            expect(ids, JSON.stringify(filters)).to.deep.equal(
              expected.map(({ contact }) => contact.contact_id),
            );
          }
        }),
        { numRuns: runs(15) },
      );
    }).timeout(600_000);

    it('a word is found through each of a thousand words that are two typos away', async () => {
      const own = freshOrganization();
      const words = wordsTwoTyposFrom('nebukadnezar', 1000);
      await load(
        opened.store,
        own,
        words.map((last_name) => ({ last_name })),
      );
      expect(await found(opened.store, own, { query: 'nebukadnezar' })).to.have.length(1000);
      expect(await found(opened.store, own, { query: 'nebukadnezar', last_name: words[999] })).to.have.length(
        1,
      );
    });

    it('a page behind a cursor is the same without the total, which a first page always has', async () => {
      const organization = freshOrganization();
      const contacts = ['a', 'b', 'c'].map((id) => ({ contact_id: id, first_name: 'Ann' }));
      await load(opened.store, organization, contacts);
      for (const request of [{}, { query: 'ann' }, { first_name: 'ann' }]) {
        const search = asked(organization, { ...request, limit: 2 });
        const first = await opened.store.searchContacts({ ...search, skipsTotal: true });
        expect(first.total).to.equal(3);
        const second = { ...search, after: first.next ?? undefined };
        const counted = await opened.store.searchContacts(second);
        const uncounted = await opened.store.searchContacts({ ...second, skipsTotal: true });
        expect(uncounted).to.deep.equal({ ...counted, total: 0 });
        expect(counted.items).to.have.length(1);
      }
    });

    it('a walk by cursor meets every contact that was there throughout exactly once, while others arrive', async () => {
      const organization = freshOrganization();
      const ann = (id: string, ms: number) => ({
        ...{ contact_id: id, first_name: 'Ann', created_at: new Date(T0 + ms).toISOString() },
      });
      const ids = Array.from({ length: 60 }, (_, index) => `k${index}`);
      await load(
        opened.store,
        organization,
        ids.map((id, index) => ann(id, index % 7)),
      );
      let arrived = 0;
      for (const request of [{}, { query: 'ann' }, { first_name: 'ann' }]) {
        const seen = await walk(async (after) => {
          const search = asked(organization, { ...request, limit: 7 }, { after });
          const page = await opened.store.searchContacts(search);
          await load(opened.store, organization, [ann(`late${arrived++}`, 3)]);
          return page;
        });
        const found = seen.map(({ id }) => id);
        expect(new Set(found).size).to.equal(found.length);
        expect(found).to.include.members(ids);
      }
    });

    it('a page ends before its contacts take more than 4 MiB, and the next goes on', async () => {
      const organization = freshOrganization();
      const phones = Array.from({ length: 50 }, () => '\u0001'.repeat(1024));
      await load(
        opened.store,
        organization,
        Array.from({ length: 15 }, (_, index) => ({ contact_id: `k${index}`, first_name: 'Ann', phones })),
      );
      for (const request of [{}, { query: 'ann' }, { first_name: 'ann' }]) {
        const search = asked(organization, { ...request, limit: 1000 });
        const page = await opened.store.searchContacts(search);
        expect(JSON.stringify(page).length).to.be.within(2 * 1024 * 1024, 4 * 1024 * 1024);
        expect(page.total).to.equal(15);
        expect((await allPages(opened.store, search)).map(({ id }) => id)).to.deep.equal(
          Array.from({ length: 15 }, (_, index) => `k${index}`),
        );
      }
    });
  });
}

async function stored(
  { store }: OpenStore,
  organization: string,
  records: Partial<ContactRecord>[],
): Promise<Contact[]> {
  const contacts = await Promise.all(records.map((_, index) => store.getContact(organization, `c${index}`)));
  return contacts.filter((contact) => contact !== null);
}
