import { expect } from 'chai';
import { reportParamsOf } from '../../../services/advertising/page.js';
import { domainsQuery } from '../../../services/companies/queries.js';
import { gatewaySuite, useGateway } from '../../support/gateway.js';
import { Random, runs, SEED } from '../../support/random.js';

const SEARCH = '/api/companies/search';
const GET = '/api/companies/get';
const DAY = 86_400_000;
const FIRST = Date.parse('2026-09-20');
const DAYS = 50;
const dayAt = (index: number) => new Date(FIRST + index * DAY).toISOString().slice(0, 10);

/** Domains and the ways in which sources write them. */
const SPELLINGS: Record<string, string[]> = {
  'acme.example': ['acme.example', 'ACME.example', 'https://www.acme.example/en'],
  'shop.acme.example': ['shop.acme.example', 'Shop.Acme.Example.'],
  'münchen.example': ['münchen.example', 'xn--mnchen-3ya.example', 'www.MÜNCHEN.example'],
  'solo.example': ['solo.example'],
  'quiet.example': ['quiet.example'],
};
const DOMAINS = Object.keys(SPELLINGS);
const NOT_DOMAINS = [undefined, null, 'n/a'];
const NAMES = ['Acme', 'Acme Süd', 'Zeta', null];

interface World {
  companies: { id: string; name: string | null; domain: string | null }[];
  deliveries: {
    date: string;
    campaign_id: string;
    company_id: string;
    reported_at: string;
    impressions: number;
    clicks: number;
    engagements: number;
  }[];
  visits: { id: string; createdAt: string; domain: string | null }[];
  contacts: { contact_id: string; domain: string | null; email: string | null }[];
}

/** A place of a record: its domain, and how its source writes the domain. */
function place(random: Random, domains: readonly string[]) {
  if (random.chance(0.25)) return { domain: null, written: random.pick(NOT_DOMAINS) };
  const domain = random.pick(domains);
  return { domain, written: random.pick(SPELLINGS[domain] as string[]) };
}

/** Draws a world and its records. The ads of one domain, the visits of another and nothing of a third are there in most worlds. */
function drawnWorld(random: Random): { world: World; records: Record<string, object[]> } {
  const upTo = <T>(count: number, make: (index: number) => T) =>
    Array.from({ length: count }, (_, i) => make(i));
  const companies = upTo(7, (index) => {
    const { domain, written } = place(random, DOMAINS.slice(0, 4));
    return { id: `co_${index}`, name: random.pick(NAMES), domain, written };
  });
  const deliveries = upTo(90, (index) => ({
    date: dayAt(random.below(DAYS)),
    campaign_id: `cam_${random.below(3)}`,
    company_id: `co_${random.below(9)}`,
    reported_at: `2026-11-${String(10 + random.below(10))}T00:00:0${index % 10}.${String(index).padStart(3, '0')}Z`,
    impressions: random.pick([0, 0, 3, 20]),
    clicks: random.pick([0, 0, 1]),
    engagements: random.pick([0, 0, 2]),
  }));
  const visits = upTo(60, (index) => ({
    ...place(random, DOMAINS.slice(1)),
    id: `v_${index}`,
    createdAt: new Date(FIRST + random.below(DAYS * DAY)).toISOString(),
  }));
  const contacts = upTo(20, (index) => {
    const { domain, written } = place(random, DOMAINS.slice(0, 3));
    const email = random.chance(0.4) ? `p${index}@${random.pick(['acme.example', 'solo.example'])}` : null;
    return { contact_id: `con_${index}`, domain, written, email };
  });
  return {
    world: { companies, deliveries, visits, contacts },
    records: {
      'network-a-companies': companies.map(({ id, name, written }) => ({ id, name, domain: written })),
      'network-a-deliveries': deliveries,
      'website-visits': visits.map(({ id, createdAt, written }) => ({
        id,
        createdAt,
        companyDomain: written,
      })),
      contacts: contacts.map(({ contact_id, written, email }) => ({
        ...{ contact_id, first_name: 'Ann', company_domain: written },
        ...(email !== null && { work_emails: [email] }),
      })),
    },
  };
}

interface Question {
  start_date: string;
  end_date: string;
  search?: string;
  domains?: string[];
  campaign_ids?: string[];
  sort_by?: string;
  sort_direction?: string;
}

const lower = (text: string) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);

/** The answer that the definition gives, without the order of the items. */
function expected({ companies, deliveries, visits, contacts }: World, asked: Question) {
  const latest = new Map<string, World['deliveries'][number]>();
  for (const each of deliveries) {
    const key = [each.date, each.campaign_id, each.company_id].join();
    const other = latest.get(key);
    if (!other || other.reported_at < each.reported_at) latest.set(key, each);
  }
  const isIn = (day: string) => day >= asked.start_date && day <= asked.end_date;
  const active = [...latest.values()].filter(
    (each) =>
      isIn(each.date) &&
      (!asked.campaign_ids || asked.campaign_ids.includes(each.campaign_id)) &&
      each.impressions + each.clicks + each.engagements > 0,
  );
  const domainOf = (id: string) => companies.find((company) => company.id === id)?.domain ?? null;
  const visited = visits.filter(({ createdAt }) => isIn(createdAt.slice(0, 10)));
  const universe = new Set(
    [...active.map(({ company_id }) => domainOf(company_id)), ...visited.map(({ domain }) => domain)].filter(
      (domain) => domain !== null,
    ),
  );
  for (const domain of asked.domains ?? []) universe.add(domain);
  const items = [...universe].map((domain) => {
    const own = companies.filter((company) => company.domain === domain);
    const ads = active.filter(({ company_id }) => domainOf(company_id) === domain);
    const impressionsOf = (id: string) =>
      sum(ads.filter(({ company_id }) => company_id === id).map(({ impressions }) => impressions));
    const named = own
      .filter(({ name }) => name !== null)
      .sort((a, b) => impressionsOf(b.id) - impressionsOf(a.id) || (a.id < b.id ? -1 : 1));
    const days = ads.map(({ date }) => date).sort();
    const times = visited.filter((visit) => visit.domain === domain).map(({ createdAt }) => createdAt);
    return {
      domain,
      name: named[0]?.name ?? null,
      company_ids: own.map(({ id }) => id).sort(),
      network_a: {
        impressions: sum(ads.map(({ impressions }) => impressions)),
        clicks: sum(ads.map(({ clicks }) => clicks)),
        engagements: sum(ads.map(({ engagements }) => engagements)),
        campaigns_reached: new Set(
          ads.filter(({ impressions }) => impressions > 0).map(({ campaign_id }) => campaign_id),
        ).size,
        first_seen: days[0] ?? null,
        last_seen: days.at(-1) ?? null,
      },
      visits: { count: times.length, last_at: times.sort().at(-1) ?? null },
      contacts: {
        count: contacts.filter((each) => each.domain === domain || each.email?.endsWith(`@${domain}`)).length,
      },
    };
  });
  const { search } = asked;
  return {
    items: items.filter(
      ({ domain, company_ids }) =>
        (!asked.domains || asked.domains.includes(domain)) &&
        (search === undefined ||
          lower(domain).includes(lower(search)) ||
          companies.some(
            ({ id, name }) => company_ids.includes(id) && lower(name ?? '').includes(lower(search)),
          )),
    ),
    without_domain: {
      companies: new Set(active.map(({ company_id }) => company_id).filter((id) => domainOf(id) === null))
        .size,
      visits: visited.filter(({ domain }) => domain === null).length,
    },
  };
}

type Item = ReturnType<typeof expected>['items'][number];
const KEYS: Record<string, (item: Item) => string | number | null> = {
  engagements: ({ network_a }) => network_a.engagements,
  impressions: ({ network_a }) => network_a.impressions,
  clicks: ({ network_a }) => network_a.clicks,
  visits: ({ visits }) => visits.count,
  last_visit: ({ visits }) => visits.last_at,
  name: ({ name }) => (name === null ? null : lower(name)),
};

function ordered(items: readonly Item[], { sort_by = 'engagements', sort_direction }: Question): Item[] {
  const key = KEYS[sort_by] as (item: Item) => string | number | null;
  return [...items].sort((left, right) => {
    const [a, b] = [key(left), key(right)];
    if (a === b) return left.domain < right.domain ? -1 : 1;
    if (a === null || b === null) return a === null ? 1 : -1;
    return a < b === (sort_direction === 'asc') ? -1 : 1;
  });
}

function drawnQuestion(random: Random): Question {
  const start = random.below(DAYS);
  return {
    start_date: dayAt(start),
    end_date: dayAt(start + random.pick([0, 3, 20, DAYS])),
    search: random.maybe(0.3, () => random.pick(['ACME', 'sud', 'münch', 'munch', 'example', '%'])),
    domains: random.maybe(0.3, () => [...new Set(random.some([...DOMAINS, 'nobody.example'], 3))]),
    campaign_ids: random.maybe(0.3, () => ['cam_0', 'cam_2']),
    sort_by: random.maybe(0.8, () => random.pick(Object.keys(KEYS))),
    sort_direction: random.maybe(0.6, () => random.pick(['asc', 'desc'])),
  };
}

type Page = { items: Item[]; total_count: number; without_domain: Record<string, number> };

export const companies = gatewaySuite(`Companies by domain (TEST_SEED=${SEED})`, (start) => {
  const gateway = useGateway(undefined, () => start({}, { now: () => Date.parse('2026-11-21T12:00:00Z') }));
  const random = new Random(SEED);
  const worlds: { organization_id: string; key: string; world: World }[] = [];
  const whole = { start_date: dayAt(0), end_date: dayAt(DAYS) };

  before(async function () {
    this.timeout(120_000);
    for (let index = 0; index < runs(3); index++) {
      const organization_id = `org_companies_${index}`;
      const key = await gateway.keyFor(organization_id);
      const { world, records } = drawnWorld(random);
      for (const [stream, all] of Object.entries(records)) {
        const { text, body } = await gateway.ingest(stream, all, { key });
        expect(body, text).to.include({ accepted: all.length, rejected: 0 });
      }
      worlds.push({ organization_id, key, world });
    }
  });

  async function ask<Body = Page>(path: string, body: object, key: string, headers = {}): Promise<Body> {
    const answer = await gateway.call(path, body, { key, headers });
    expect(answer.status, answer.text).to.equal(200);
    return answer.body as Body;
  }

  it('answer what the definition gives, in every order, and pages tile', async function () {
    this.timeout(300_000);
    for (const { key, world } of worlds) {
      for (let number = 0; number < runs(25); number++) {
        const asked = drawnQuestion(random);
        const { items, without_domain } = expected(world, asked);
        const page_size = random.pick([1, 2, 200]);
        const found: Item[] = [];
        for (let page = 1; page === 1 || found.length < items.length; page++) {
          const body = await ask(SEARCH, { ...asked, page, page_size }, key);
          expect(body.total_count, JSON.stringify(asked)).to.equal(items.length);
          expect(body.without_domain, JSON.stringify(asked)).to.deep.equal(without_domain);
          expect(body.items).to.have.length(Math.min(page_size, items.length - found.length));
          found.push(...body.items);
        }
        expect(found, JSON.stringify(asked)).to.deep.equal(ordered(items, asked));
      }
    }
  });

  it('equal the plain searches by their domain, and what has no domain is counted', async () => {
    for (const { organization_id, key } of worlds) {
      const { items, without_domain } = await ask(SEARCH, whole, key);
      const org = { organization_id };
      const days = { created_after: `${dayAt(0)}T00:00:00Z`, created_before: `${dayAt(DAYS + 1)}T00:00:00Z` };
      for (const { domain, visits, contacts, network_a, company_ids } of items) {
        const visited = await ask<{ total_count: number; visits: { createdAt: string }[] }>(
          '/api/website-visits/search',
          { ...org, ...days, company_domain: domain, limit: 1 },
          key,
        );
        expect([visited.total_count, visited.visits[0]?.createdAt ?? null]).to.deep.equal([
          visits.count,
          visits.last_at,
        ]);
        const people = await ask('/api/contacts/search', { ...org, query: `"${domain}"`, match: 'all' }, key);
        expect(people.total_count).to.equal(contacts.count);
        const known = await ask('/api/contacts/search', { ...org, company_domains: [domain] }, key);
        expect(known.total_count).to.equal(contacts.count);
        const list = await ask<{ items: { id: string }[]; totals: Record<string, number>[] }>(
          '/api/advertising/network_a/companies',
          { ...whole, domains: [domain], sort_by: 'name', granularity: 'monthly' },
          key,
        );
        expect(list.items.map(({ id }) => id).sort()).to.deep.equal(company_ids);
        const { impressions, clicks, engagements } = network_a;
        expect(list.totals[0]).to.include({ impressions, clicks, engagements });
      }
      const all = await ask<{ items: { id: string }[]; total_count: number }>(
        '/api/advertising/network_a/companies',
        { ...whole, granularity: 'monthly' },
        key,
      );
      const placed = sum(
        items.map(({ company_ids }) => all.items.filter((item) => company_ids.includes(item.id)).length),
      );
      expect(placed + (without_domain.companies as number)).to.equal(all.total_count);
      const visits = await ask('/api/website-visits/search', { ...org, ...days, limit: 1 }, key);
      expect(sum(items.map((item) => item.visits.count)) + (without_domain.visits as number)).to.equal(
        visits.total_count,
      );
    }
  });

  it('search reads ads of active domains alone, also in the order of names', async () => {
    const organization_id = 'org_inactive';
    const key = await gateway.keyFor(organization_id);
    const ids = ['active', 'idle_1', 'idle_2', 'idle_3'];
    const records = ids.map((id) => ({ id, name: id, domain: `${id.replace('_', '-')}.example` }));
    await gateway.ingest('network-a-companies', records, { key });
    const delivery = { date: dayAt(0), campaign_id: 'cam_0', company_id: 'active', impressions: 1 };
    await gateway.ingest('network-a-deliveries', [{ ...delivery, reported_at: '2026-11-10T00:00:00Z' }], {
      key,
    });
    const visit = { id: 'v', createdAt: `${dayAt(0)}T00:00:00Z`, companyDomain: 'idle-2.example' };
    await gateway.ingest('website-visits', [visit], { key });
    const report = reportParamsOf(
      {
        ...{ organizationId: organization_id, body: whole as never },
        services: { provisionalDays: 7, clock: { now: () => Date.parse('2026-11-21') } },
      } as never,
      ['impressions'],
    );
    for (const filters of [{}, { search: 'example' }]) {
      const { rows } = await gateway.stores.analytics.query(domainsQuery(report, filters, 'name', 10));
      expect(rows).to.have.length(1);
      const { items } = await ask(
        SEARCH,
        { ...whole, ...filters, sort_by: 'name', sort_direction: 'asc' },
        key,
      );
      expect(items.map(({ name }) => name)).to.deep.equal(['active', 'idle_2']);
    }
  });

  it('get answers the item of the list, whose figures its periods sum up, by any spelling', async () => {
    for (const { key } of worlds) {
      const { items } = await ask(SEARCH, whole, key);
      for (const item of items) {
        for (const granularity of ['daily', 'monthly']) {
          const domain = random.pick(SPELLINGS[item.domain] as string[]);
          const body = await ask<{
            company: Item;
            timeseries: Record<string, number>[];
            visits: { createdAt: string; companyDomain: string }[];
            contacts: { created_at: string }[];
          }>(GET, { ...whole, granularity, domain }, key);
          expect(body.company).to.deep.equal(item);
          const total = (name: string) => sum(body.timeseries.map((point) => point[name] as number));
          const { impressions, clicks, engagements } = item.network_a;
          expect(['impressions', 'clicks', 'engagements', 'visits'].map(total)).to.deep.equal([
            ...[impressions, clicks, engagements],
            item.visits.count,
          ]);
          expect(body.timeseries).to.have.length(granularity === 'daily' ? DAYS + 1 : 3);
          expect(body.visits).to.have.length(Math.min(20, item.visits.count));
          expect(body.visits.every(({ companyDomain }) => companyDomain === item.domain)).to.equal(true);
          expect(body.contacts).to.have.length(Math.min(20, item.contacts.count));
          const times = body.contacts.map(({ created_at }) => created_at);
          expect(times).to.deep.equal([...times].sort().reverse());
        }
      }
    }
  });

  it('get counts the visits of more days than one facet has', async () => {
    const key = await gateway.keyFor('org_long');
    const visits = Array.from({ length: 1100 }, (_, index) => ({
      id: `v_${index}`,
      createdAt: new Date(FIRST - index * DAY).toISOString(),
      companyDomain: 'acme.example',
    }));
    await gateway.ingest('website-visits', visits, { key });
    const range = { start_date: '2020-01-01', end_date: '2026-11-20' };
    const { company, timeseries } = await ask<{ company: Item; timeseries: { visits: number }[] }>(
      GET,
      { ...range, domain: 'acme.example', granularity: 'monthly' },
      key,
    );
    expect(company.visits.count).to.equal(1100);
    expect(sum(timeseries.map((point) => point.visits))).to.equal(1100);
  });

  it('are exported with every match in order, as lines and as a table', async () => {
    const [{ key = '' } = {}] = worlds;
    const { items } = await ask(SEARCH, { ...whole, page_size: 200, sort_by: 'visits' }, key);
    const exported = async (accept: string) =>
      (await gateway.call(SEARCH, { ...whole, sort_by: 'visits' }, { key, headers: { Accept: accept } }))
        .text;
    const lines = (await exported('application/x-ndjson')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).to.deep.equal(items);
    const [head, ...rows] = (await exported('text/csv')).trim().split('\r\n');
    expect(head).to.equal(
      'domain,name,company_ids,impressions,clicks,engagements,campaigns_reached,first_seen,last_seen,visit_count,last_visit,contact_count',
    );
    expect(rows).to.deep.equal(
      items.map(({ domain, name, company_ids, network_a, visits, contacts }) =>
        [
          domain,
          name,
          company_ids.join(';'),
          ...Object.values(network_a),
          ...Object.values(visits),
          contacts.count,
        ].join(),
      ),
    );
  });

  it('count no contact for text that is no domain', async () => {
    const key = await gateway.keyFor('org_no_domain');
    await gateway.ingest('contacts', [{ contact_id: 'con_1', company_domain: 'acme.example' }], { key });
    for (const domain of ['.', '%', 'https://']) {
      const { status, body } = await gateway.call(
        SEARCH,
        { ...whole, domains: ['acme.example', domain] },
        { key },
      );
      expect([status, body.errors], domain).to.deep.equal([
        422,
        [
          {
            pointer: '/domains/1',
            code: 'no_words',
            detail: 'domains[1] must hold at least one letter or digit.',
          },
        ],
      ]);
    }
    const { items } = await ask(SEARCH, { ...whole, domains: ['acme.example" -nobody'] }, key);
    expect(items.map(({ contacts }) => contacts.count)).to.deep.equal([0]);
  });

  it('an unknown domain is 404, text without a letter or digit 422, and a key that lacks a scope is told which', async () => {
    const [{ key = '', organization_id = '' } = {}] = worlds;
    const unknown = await gateway.call(GET, { ...whole, domain: 'nobody.example' }, { key });
    expect([unknown.status, unknown.body.code]).to.deep.equal([404, 'company_not_found']);
    const blank = await gateway.call(GET, { ...whole, domain: '//' }, { key });
    expect([blank.status, blank.body.errors]).to.deep.equal([
      422,
      [{ pointer: '/domain', code: 'no_words', detail: 'domain must hold at least one letter or digit.' }],
    ]);
    const listed = await gateway.call(SEARCH, { ...whole, domains: ['acme.example', 'https://'] }, { key });
    expect([listed.status, listed.body.errors]).to.deep.equal([
      422,
      [
        {
          pointer: '/domains/1',
          code: 'no_words',
          detail: 'domains[1] must hold at least one letter or digit.',
        },
      ],
    ]);
    const outside = await ask<{ company: Item }>(
      GET,
      { start_date: '2020-01-01', end_date: '2020-01-02', domain: 'münchen.example' },
      key,
    );
    expect(outside.company.visits).to.deep.equal({ count: 0, last_at: null });
    for (const missing of ['advertising:read', 'visits:read', 'contacts:read']) {
      const scopes = ['advertising:read', 'visits:read', 'contacts:read'].filter(
        (scope) => scope !== missing,
      );
      const lacking = await gateway.keyFor(organization_id, scopes);
      for (const [path, body] of [
        [SEARCH, whole],
        [GET, { ...whole, domain: 'acme.example' }],
      ] as const) {
        const { status, text } = await gateway.call(path, body, { key: lacking });
        expect(status).to.equal(403);
        expect(text).to.include(missing);
        for (const scope of scopes) expect(text).to.not.include(scope);
      }
    }
  });
});
