import { expect } from 'chai';
import fc from 'fast-check';
import { normalizeCountry } from '../../services/search/countries.js';
import { normalizeUrlText, normalizeWordStarts } from '../../services/search/normalize.js';
import type { SortKey } from '../../services/search/query.js';
import { addressKey, addressRange } from '../../services/shared/ip-address.js';
import { foldValue } from '../../services/shared/text.js';
import type { Visit, VisitRecord } from '../../services/visits/schema.js';
import type { VisitSearch } from '../../services/visits/visit-store.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import { runs } from '../support/random.js';
import { freshOrganization, type Open, T0 } from './search-support.js';

const some = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 });
const visit = fc.record({
  audienceId: some(fc.constantFrom('a', 'b')),
  startUrl: some(
    fc.constantFrom(
      ...['https://X.example/Pricing/', 'http://x.example/%_a?q=1', 'x.example'],
      ...['https://münchen.example/Straße', 'https://xn--mnchen-3ya.example/strasse', '//x.example:8443/a'],
    ),
  ),
  country: some(fc.constantFrom('United States', 'Deutschland', 'Mexico', ' ')),
  countryCode: some(fc.constantFrom('US', 'DE', 'mx')),
  city: some(fc.constantFrom('São Paulo', 'Sao  paulo', 'Rome')),
  ipAddress: some(fc.constantFrom('10.0.0.1', '10.0.0.200', '10.1.0.1', '::1', '2001:db8::1')),
  browser: some(
    fc.constantFrom(
      ...['Chrome', 'Chrome Mobile', 'Mobile Chrome', 'Safari', 'UI/WKWebView', 'chrome-lite', 'C++'],
    ),
  ),
  platform: some(fc.constantFrom('Mac OS X', 'Windows')),
  hasRecording: some(fc.boolean()),
  intentScore: some(fc.integer({ min: -1, max: 3 })),
  createdAt: fc.constantFrom(0, 1, 2, 50).map((offset) => new Date(T0 + offset).toISOString()),
});
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 1 });
const search = fc.record({
  audienceId: maybe(fc.constant('a')),
  country: maybe(fc.constantFrom('us', 'Deutschland', 'mexico').map(normalizeCountry)),
  city: maybe(fc.constant('sao paulo')),
  browser: maybe(
    fc
      .constantFrom('chrome', 'Chrome mobile', 'chrome lite', 'mob', 'wk', 'web', 'ui/wk', 'lite', 'c++', '+')
      .map(normalizeWordStarts),
  ),
  platform: maybe(fc.constantFrom('os', 'mac os x').map(normalizeWordStarts)),
  hasRecording: maybe(fc.boolean()),
  address: maybe(
    fc.constantFrom('10.0.0.1', '10.0.0.0/24', '::/0').map((text) => addressRange(text) ?? undefined),
  ),
  startUrl: maybe(
    fc
      .constantFrom(
        ...['http://x.example/', 'PRICING', '%_', '_', 'MÜNCHEN.example/STRASSE', 'munchen', ':8443/a'],
        ...['//x.example', '://x.example', 'android-app://x.example/a'],
      )
      .map(normalizeUrlText),
  ),
  createdFrom: maybe(fc.constant(T0 + 1)),
  createdBefore: maybe(fc.constant(T0 + 2)),
  minIntentScore: maybe(fc.constant(1)),
  limit: fc.integer({ min: 1, max: 5 }),
});

function matches(record: VisitRecord, asked: Omit<VisitSearch, 'organizationId'>): boolean {
  const moment = Date.parse(record.createdAt);
  const key = record.ipAddress ? addressKey(record.ipAddress) : null;
  const begins = (value: string | null | undefined, given: string) =>
    normalizeWordStarts(value ?? '').includes(given);
  return (
    (asked.audienceId === undefined || record.audienceId === asked.audienceId) &&
    (asked.country === undefined ||
      [record.country, record.countryCode].some(
        (value) => value && normalizeCountry(value) === asked.country,
      )) &&
    (asked.city === undefined || foldValue(record.city ?? '') === asked.city) &&
    (asked.browser === undefined || begins(record.browser, asked.browser)) &&
    (asked.platform === undefined || begins(record.platform, asked.platform)) &&
    (asked.hasRecording === undefined || record.hasRecording === asked.hasRecording) &&
    (asked.address === undefined || (key !== null && key >= asked.address.from && key <= asked.address.to)) &&
    (asked.startUrl === undefined ||
      (record.startUrl !== undefined && normalizeUrlText(record.startUrl ?? '').includes(asked.startUrl))) &&
    (asked.createdFrom === undefined || moment >= asked.createdFrom) &&
    (asked.createdBefore === undefined || moment < asked.createdBefore) &&
    (asked.minIntentScore === undefined ||
      (record.intentScore ?? Number.NEGATIVE_INFINITY) >= asked.minIntentScore)
  );
}

export function searchStoreVisits(open: Open): void {
  describe('website visits (contract 4)', () => {
    const opened = useOpened(() => open());

    async function insert(records: readonly VisitRecord[]) {
      await opened.store.insertVisits(accepted(records, T0));
      await opened.store.refresh();
    }

    it('a visit carries every key, unknown ones null', async () => {
      const organization = freshOrganization();
      await insert([{ id: 'v', organizationId: organization, createdAt: '2015-05-17T12:05:03+02:00' }]);
      const page = await opened.store.searchVisits({ organizationId: organization, limit: 10 });
      const unknown = [
        ...['audienceId', 'startUrl', 'country', 'countryCode', 'city', 'ipAddress', 'browser'],
        ...['browserVersion', 'platform', 'hasRecording', 'intentScore'],
      ];
      const createdAt = '2015-05-17T10:05:03.000Z';
      const known = { id: 'v', type: 'audience', organizationId: organization, createdAt };
      const item = { ...known, ...Object.fromEntries(unknown.map((name) => [name, null])) };
      expect(page).to.deep.equal({ items: [item], total: 1, next: null });
    });

    it('the first record of an id and moment stays; another moment is another visit', async () => {
      const organization = freshOrganization();
      const base = { id: 'v', organizationId: organization, createdAt: '2026-01-01T00:00:00Z' };
      await insert([
        { ...base, city: 'Rome' },
        { ...base, city: 'Oslo' },
      ]);
      const another = await opened.another();
      await another.insertVisits(accepted([{ ...base, city: 'Bern' }], T0 - 5));
      await another.close();
      await insert([{ ...base, createdAt: '2026-01-01T00:00:01Z' }]);
      const page = await opened.store.searchVisits({ organizationId: organization, limit: 10 });
      expect(page.items.map(({ city }) => city)).to.deep.equal([null, 'Rome']);
      expect(page.total).to.equal(2);
      const elsewhere = await opened.store.searchVisits({ organizationId: freshOrganization(), limit: 10 });
      expect(elsewhere.total).to.equal(0);
    });

    it('filters may be long, repeat themselves and hold any sign', async () => {
      const organizationId = freshOrganization();
      const createdAt = new Date(T0).toISOString();
      const long = '('.repeat(1024);
      const startUrl = `https://x.example/${'ab'.repeat(1000)}?a.b*c="[{(|#@&<>~\\^$-`;
      await insert([
        {
          id: 'long',
          organizationId,
          createdAt,
          browser: `${long}b`,
          platform: 'x \u{10ffff}\u{10ffff}',
          startUrl,
        },
        {
          id: 'short',
          organizationId,
          createdAt,
          browser: long.slice(1),
          platform: 'x',
          startUrl: 'x.example',
        },
        // Longer once folded: eighteen letters for each sign.
        { id: 'wide', organizationId, createdAt, browser: 'ﷺ'.repeat(1024), platform: '\ud7ff' },
      ]);
      const find = async (filters: Partial<VisitSearch>) => {
        const page = await opened.store.searchVisits({ organizationId, limit: 9, ...filters });
        expect(page.total).to.equal(page.items.length);
        return page.items.map(({ id }) => id);
      };
      expect(await find({ browser: normalizeWordStarts(long) })).to.deep.equal(['long']);
      expect(await find({ browser: normalizeWordStarts(long.slice(1)) })).to.deep.equal(['short', 'long']);
      expect(await find({ browser: normalizeWordStarts('ﷺ') })).to.deep.equal(['wide']);
      expect(await find({ platform: normalizeWordStarts('\u{10ffff}\u{10ffff}') })).to.deep.equal(['long']);
      expect(await find({ platform: normalizeWordStarts('\ud7ff') })).to.deep.equal(['wide']);
      expect(await find({ platform: '' })).to.have.lengthOf(3);
      for (const part of ['ab'.repeat(1000), 'ba'.repeat(500), '?a.b*c="[{(|#@&<>~\\^$-', '']) {
        expect(await find({ startUrl: part }), part).to.include('long');
      }
      for (const part of ['ab'.repeat(1001), 'a.*c', 'x?example', '#@&<>|~']) {
        expect(await find({ startUrl: part }), part).to.deep.equal([]);
      }
    });

    it('a part of a URL of any length is found, and only where it stands as a whole', async () => {
      const unit = fc.constantFrom(
        ...['a', 'b', 'ab/', 'a'.repeat(18), 'b'.repeat(90), ' ', '\u00a0', '🙂', '%20'],
      );
      const url = fc.array(unit, { minLength: 1, maxLength: 40 }).map((units) => `x${units.join('')}y`);
      const cut = fc.record({
        from: fc.nat(),
        length: fc.integer({ min: 1, max: 500 }),
        spoiled: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(
          fc.array(url, { minLength: 1, maxLength: 12 }),
          fc.array(cut, { minLength: 1, maxLength: 8 }),
          async (urls, cuts) => {
            const organizationId = freshOrganization();
            const createdAt = new Date(T0).toISOString();
            await insert(
              urls.map((startUrl, index) => ({ id: `v${index}`, organizationId, createdAt, startUrl })),
            );
            for (const [index, { from, length, spoiled }] of cuts.entries()) {
              const characters = Array.from(urls[index % urls.length] as string);
              const start = from % characters.length;
              const part = characters.slice(start, start + length);
              if (spoiled) part[part.length >> 1] = 'b';
              const startUrl = part.join('');
              const page = await opened.store.searchVisits({ organizationId, limit: 20, startUrl });
              const expected = urls.flatMap((value, number) =>
                normalizeUrlText(value).includes(startUrl) ? [`v${number}`] : [],
              );
              expect(page.items.map(({ id }) => id).sort(), startUrl).to.deep.equal(expected.sort());
            }
          },
        ),
        { numRuns: runs(25) },
      );
    }).timeout(600_000);

    it('visits a day are counted in UTC over all matches, the newest 1 000 days, ascending', async () => {
      const organizationId = freshOrganization();
      const moments = [
        '1969-12-31T23:59:59.999Z',
        '1970-01-01T00:00:00Z',
        '2026-01-01T23:59:59.999Z',
        '2026-01-02T00:00:00Z',
        '2026-01-02T00:30:00+01:00',
        '2026-03-01T12:00:00Z',
      ];
      await insert(moments.map((createdAt, index) => ({ id: `v${index}`, organizationId, createdAt })));
      const search = { organizationId, limit: 1, facets: ['day'] as const };
      const first = await opened.store.searchVisits(search);
      const days = [
        ...['1969-12-31', '1970-01-01', '2026-01-01', '2026-01-02', '2026-03-01'].map((value) => ({
          value,
          count: value === '2026-01-01' ? 2 : 1,
        })),
      ];
      expect(first.facets).to.deep.equal({ day: days });
      const second = await opened.store.searchVisits({ ...search, after: first.next ?? undefined });
      expect(second.facets).to.deep.equal({ day: days });
      const narrow = { ...search, createdFrom: Date.parse('2026-01-02T00:00:00Z') };
      expect((await opened.store.searchVisits(narrow)).facets).to.deep.equal({ day: days.slice(3) });
      for (const [createdBefore, total] of [
        [Date.parse('2026-01-02T00:00:00Z'), 4],
        [Date.parse('2026-01-02T00:00:00.001Z'), 5],
      ] as const) {
        const page = await opened.store.searchVisits({ ...search, createdBefore });
        expect(page.total).to.equal(total);
        expect(page.facets).to.deep.equal({ day: days.slice(0, total - 1) });
      }
      expect((await opened.store.searchVisits({ ...search, city: 'none' })).facets).to.deep.equal({
        day: [],
      });
      const nobody = { ...search, organizationId: freshOrganization() };
      expect((await opened.store.searchVisits(nobody)).facets).to.deep.equal({ day: [] });
      const withoutFacets = await opened.store.searchVisits({ organizationId, limit: 1 });
      expect(withoutFacets).not.to.have.property('facets');

      const start = Date.UTC(2041, 0, 1);
      const many = Array.from({ length: 1005 }, (_, index) => new Date(start + index * 86_400_000));
      await insert(
        many.map((day, index) => ({ id: `d${index}`, organizationId, createdAt: day.toISOString() })),
      );
      const { day } = (await opened.store.searchVisits(search)).facets ?? {};
      expect(day?.map(({ value }) => value)).to.deep.equal(
        many.slice(5).map((each) => each.toISOString().slice(0, 10)),
      );
    });

    it('searches go on while visits of other months arrive', async () => {
      const organizationId = freshOrganization();
      const months = Array.from({ length: 12 }, (_, month) =>
        new Date(Date.UTC(2031, month, 1)).toISOString(),
      );
      let arrived = 0;
      const arriving = Promise.all(
        months.map(async (createdAt) => {
          await insert([{ organizationId, id: 'v', createdAt }]);
          arrived += 1;
        }),
      );
      while (arrived < months.length) {
        const before = arrived;
        const { total } = await opened.store.searchVisits({ organizationId, limit: 1 });
        expect(total).to.be.within(before, months.length);
      }
      await arriving;
    });

    it('a walk by cursor meets every visit that was there throughout exactly once, newest first, while others arrive', async () => {
      const organizationId = freshOrganization();
      const moment = (ms: number) => new Date(T0 + ms).toISOString();
      const visit = (id: string, createdAt: string) => ({ id, organizationId, createdAt });
      const ids = Array.from({ length: 90 }, (_, index) => `v${index}`);
      await insert(ids.map((id, index) => visit(id, moment(index % 9))));
      const seen: Visit[] = [];
      let arrived = 0;
      for (let after: SortKey | undefined | null; after !== null; ) {
        const page = await opened.store.searchVisits({ organizationId, limit: 7, after });
        seen.push(...page.items);
        after = page.next;
        const moments = [moment(1e9), moment(-1e12), seen.at(-1)?.createdAt ?? ''];
        await insert(moments.map((createdAt) => visit(`new${arrived++}`, createdAt)));
      }
      const first = seen.map(({ id }) => id).filter((id) => id.startsWith('v'));
      expect(first).to.have.length(ids.length).and.members(ids);
      const order = seen.map(({ createdAt }) => createdAt);
      expect(order).to.deep.equal(order.toSorted().reverse());
      const { total } = await opened.store.searchVisits({ organizationId, limit: 1 });
      expect(total).to.equal(ids.length + arrived);
    });

    it('a page ends before its visits take more than 4 MiB, and the next goes on', async () => {
      const organizationId = freshOrganization();
      // Each character takes six in JSON.
      const unsearched = '\u0001'.repeat(1000);
      const ids = Array.from({ length: 520 }, (_, index) => `v${index}`);
      await insert(
        ids.map((id, index) => ({
          id,
          organizationId,
          type: unsearched,
          browserVersion: unsearched,
          createdAt: new Date(T0 - index).toISOString(),
        })),
      );
      const search = { organizationId, limit: 1000 };
      const first = await opened.store.searchVisits(search);
      expect(JSON.stringify(first).length).to.be.within(2 * 1024 * 1024, 4 * 1024 * 1024);
      const rest = await opened.store.searchVisits({ ...search, after: first.next ?? undefined });
      expect([first.total, rest.total, rest.next]).to.deep.equal([520, 520, null]);
      expect([...first.items, ...rest.items].map(({ id }) => id)).to.deep.equal(ids);
    });

    it('finds what a plain list finds, newest first, and pages tile', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(visit, { minLength: 1, maxLength: 25 }),
          fc.array(search, { minLength: 1, maxLength: 5 }),
          async (visits, searches) => {
            const organizationId = freshOrganization();
            const records = visits.map((record, index) => ({ ...record, id: `v${index}`, organizationId }));
            await insert(records);
            for (const asked of searches) {
              const expected = records
                .filter((record) => matches(record, asked))
                .sort((a, b) =>
                  a.createdAt === b.createdAt ? (a.id < b.id ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1,
                )
                .map(({ id }) => id);
              const ids: string[] = [];
              let page = await opened.store.searchVisits({ ...asked, organizationId, facets: ['day'] });
              const day = new Date(T0).toISOString().slice(0, 10);
              const count = expected.length;
              expect(page.facets?.day).to.deep.equal(count === 0 ? [] : [{ value: day, count }]);
              ids.push(...page.items.map(({ id }) => id));
              while (page.next) {
                expect(page.total).to.equal(expected.length);
                page = await opened.store.searchVisits({ ...asked, organizationId, after: page.next });
                ids.push(...page.items.map(({ id }) => id));
              }
              expect(page.total).to.equal(expected.length);
              expect(ids).to.deep.equal(expected);
            }
          },
        ),
        { numRuns: runs(25) },
      );
    }).timeout(600_000);
  });
}
