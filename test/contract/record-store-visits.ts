import { expect } from 'chai';
import fc from 'fast-check';
import { normalizeCountry } from '../../services/search/countries.js';
import { normalizeDomain, normalizeUrlText, normalizeWordStarts } from '../../services/search/normalize.js';
import { addressKey, addressRange } from '../../services/shared/ip-address.js';
import { foldValue } from '../../services/shared/text.js';
import { DAY_MS } from '../../services/shared/time.js';
import type { VisitRecord } from '../../services/visits/schema.js';
import type { VisitSearch } from '../../services/visits/visit-store.js';
import { accepted } from '../support/accepted.js';
import { useOpened } from '../support/opened.js';
import { runs } from '../support/random.js';
import { freshOrganization, type Open, T0, walk } from './record-store-support.js';

/** The beginning of the day of T0. */
const MIDNIGHT = Date.UTC(2026, 0, 2);

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
  companyDomain: some(fc.constantFrom('acme.example', 'münchen.example', 'shop.acme.example')),
  createdAt: fc
    .constantFrom(T0, T0 + 1, T0 + 2, T0 + 50, MIDNIGHT, MIDNIGHT - 1, 0, -1)
    .map((ms) => new Date(ms).toISOString()),
});
const visitFilters = {
  audienceId: fc.constant('a'),
  country: fc.constantFrom('us', 'Deutschland', 'mexico').map(normalizeCountry),
  city: fc.constant('sao paulo'),
  browser: fc
    .constantFrom('chrome', 'Chrome mobile', 'chrome lite', 'mob', 'wk', 'web', 'ui/wk', 'lite', 'c++', '+')
    .map(normalizeWordStarts),
  platform: fc.constantFrom('os', 'mac os x').map(normalizeWordStarts),
  hasRecording: fc.boolean(),
  address: fc.constantFrom('10.0.0.1', '10.0.0.0/24', '::/0').map((text) => addressRange(text) ?? undefined),
  startUrl: fc
    .constantFrom(
      ...['http://x.example/', 'PRICING', '%_', '_', 'MÜNCHEN.example/STRASSE', 'munchen', ':8443/a'],
      ...['//x.example', '://x.example', 'android-app://x.example/a'],
    )
    .map(normalizeUrlText),
  createdFrom: fc.constantFrom(T0 + 1, MIDNIGHT, 0),
  createdBefore: fc.constantFrom(T0 + 2, MIDNIGHT, MIDNIGHT + 1, 0),
  minIntentScore: fc.constant(1),
  companyDomain: fc.constantFrom('ACME.example', 'https://www.xn--mnchen-3ya.example/').map(normalizeDomain),
};
const WINDOW = ['createdFrom', 'createdBefore'];
/** A search with few filters, often with a time: with many filters most searches would find nothing. */
const search = fc
  .tuple(
    fc.record(visitFilters),
    fc.subarray([...Object.keys(visitFilters), ...WINDOW, ...WINDOW], { maxLength: 2 }),
    fc.integer({ min: 1, max: 5 }),
  )
  .map(([all, names, limit]) => {
    const chosen = Object.entries(all).filter(([name]) => names.includes(name));
    return { ...(Object.fromEntries(chosen) as Partial<typeof all>), limit };
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
    (asked.companyDomain === undefined || record.companyDomain === asked.companyDomain) &&
    (asked.minIntentScore === undefined ||
      (record.intentScore ?? Number.NEGATIVE_INFINITY) >= asked.minIntentScore)
  );
}

export function recordStoreVisits(open: Open): void {
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
        ...['browserVersion', 'platform', 'hasRecording', 'intentScore', 'companyDomain'],
      ];
      const createdAt = '2015-05-17T10:05:03.000Z';
      const known = { id: 'v', type: 'audience', organizationId: organization, createdAt };
      const item = { ...known, ...Object.fromEntries(unknown.map((name) => [name, null])) };
      expect(page).to.deep.equal({ items: [item], total: 1, next: null });
    });

    it('the record of an id and moment that was accepted first stays, also where it arrives last; another moment is another visit', async () => {
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
      expect(page.items.map(({ city }) => city)).to.deep.equal([null, 'Bern']);
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

    it('visits a day are counted for the newest 1 000 days, ascending, where they are asked for', async () => {
      const organizationId = freshOrganization();
      const search = { organizationId, limit: 1, facets: ['day'] as const };
      expect((await opened.store.searchVisits(search)).facets).to.deep.equal({ day: [] });
      const start = Date.UTC(2041, 0, 1);
      const many = Array.from({ length: 1005 }, (_, index) => new Date(start + index * DAY_MS).toISOString());
      await insert(many.map((createdAt, index) => ({ id: `d${index}`, organizationId, createdAt })));
      const page = await opened.store.searchVisits(search);
      const days = many.slice(5).map((createdAt) => ({ value: createdAt.slice(0, 10), count: 1 }));
      expect(page.facets).to.deep.equal({ day: days });
      const { facets } = await opened.store.searchVisits({ ...search, after: page.next ?? undefined });
      expect(facets).to.deep.equal({ day: days });
      const withoutFacets = await opened.store.searchVisits({ organizationId, limit: 1 });
      expect(withoutFacets).not.to.have.property('facets');
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
      let arrived = 0;
      const seen = await walk(async (after) => {
        const page = await opened.store.searchVisits({ organizationId, limit: 7, after });
        const moments = [moment(1e9), moment(-1e12), page.items.at(-1)?.createdAt ?? ''];
        await insert(moments.map((createdAt) => visit(`new${arrived++}`, createdAt)));
        return page;
      });
      const first = seen.map(({ id }) => id).filter((id) => id.startsWith('v'));
      expect(first).to.have.length(ids.length).and.members(ids);
      const order = seen.map(({ createdAt }) => createdAt);
      expect(order).to.deep.equal(order.toSorted().reverse());
      const { total } = await opened.store.searchVisits({ organizationId, limit: 1 });
      expect(total).to.equal(ids.length + arrived);
    });

    it('finds what a plain list finds, newest first, and pages tile', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(visit, { minLength: 1, maxLength: 25, size: 'max' }),
          fc.array(search, { minLength: 6, maxLength: 12 }),
          async (visits, searches) => {
            const organizationId = freshOrganization();
            const records = visits.map((record, index) => ({ ...record, id: `v${index}`, organizationId }));
            await insert(records);
            for (const asked of searches) {
              const expected = records
                .filter((record) => matches(record, asked))
                .sort((a, b) =>
                  a.createdAt === b.createdAt ? (a.id < b.id ? 1 : -1) : a.createdAt < b.createdAt ? 1 : -1,
                );
              const days = new Map<string, number>();
              for (const { createdAt } of expected.toReversed())
                days.set(createdAt.slice(0, 10), (days.get(createdAt.slice(0, 10)) ?? 0) + 1);
              const day = [...days].map(([value, count]) => ({ value, count }));
              const companies = new Map<string, number>();
              for (const { companyDomain } of expected)
                if (companyDomain) companies.set(companyDomain, (companies.get(companyDomain) ?? 0) + 1);
              const company_domain = [...companies]
                .map(([value, count]) => ({ value, count }))
                .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
              const found = await walk(async (after) => {
                const page = await opened.store.searchVisits({
                  ...{ ...asked, organizationId, after, facets: ['company_domain', 'day'] },
                });
                expect([page.total, page.facets], JSON.stringify(asked)).to.deep.equal([
                  expected.length,
                  { company_domain, day },
                ]);
                return page;
              });
              expect(found.map(({ id }) => id)).to.deep.equal(expected.map(({ id }) => id));
            }
          },
        ),
        { numRuns: runs(15) },
      );
    }).timeout(600_000);
  });
}
