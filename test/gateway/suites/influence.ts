import { expect } from 'chai';
import { drawnQuestion, drawnWorld, FIRST, ingestWorld } from '../../influence/drawn-world.js';
import { influences, iso, type Question, type World } from '../../influence/oracle.js';
import { gatewaySuite, useGateway } from '../../support/gateway.js';
import { Random, runs, SEED } from '../../support/random.js';

const INFLUENCE = '/api/advertising/network_a/influence';
const DAY = 86_400_000;
const WORLDS = 2;
const QUESTIONS = runs(10);
type Item = ReturnType<typeof influences>['items'][number];
type Body = {
  items: Item[];
  total_count: number;
  totals: Record<string, unknown> & {
    spend: { currency: string; ad_spend: string }[];
    weeks: { influenced: number; newly_influenced: number }[];
  };
};

const requestOf = ({ start, end, lookback, outcome, thresholds, campaigns, kinds }: Question) => ({
  ...{ start_date: iso(start), end_date: iso(end), lookback_days: lookback, outcome_days: outcome },
  ...{ thresholds, outcomes: kinds, ...(campaigns && { campaign_ids: campaigns }) },
});

/** Sort keys of the contract, by their names. */
const KEYS: Record<string, (item: Item) => string | number | null> = {
  exposed_on: (item) => item.exposed_on,
  first_outcome: (item) => item.first_outcome?.at ?? null,
  newly_influenced: ({ first_outcome: first, known_before }) =>
    first && `${known_before ? 0 : 1} ${first.at}`,
  contacts: (item) => item.contacts,
  visits: (item) => item.visits,
  impressions: (item) => item.exposure.impressions ?? 0,
  name: (item) => item.name?.toLowerCase() ?? null,
};

function ordered(items: readonly Item[], by: string, direction: string): Item[] {
  const key = KEYS[by] as (item: Item) => string | number | null;
  return [...items].sort((left, right) => {
    const [a, b] = [key(left), key(right)];
    const byDomain = left.domain < right.domain ? -1 : 1;
    if (a === b) return byDomain;
    if (a === null || b === null) return a === null ? 1 : -1;
    return a < b === (direction === 'asc') ? -1 : 1;
  });
}

export const influence = gatewaySuite(`Influence (TEST_SEED=${SEED})`, (start) => {
  const gateway = useGateway(undefined, () => start({}, { now: () => Date.parse('2026-11-21T12:00:00Z') }));
  const random = new Random(SEED);
  const worlds: { organization_id: string; key: string; world: World }[] = [];

  before(async function () {
    this.timeout(60_000);
    for (let index = 0; index < WORLDS; index++) {
      const organization_id = `org_influence_${index}`;
      const key = await gateway.keyFor(organization_id);
      const sample: Question = {
        start: FIRST + 5,
        end: FIRST + 25,
        lookback: 7,
        outcome: 10,
        thresholds: { impressions: 5 },
        campaigns: null,
        kinds: [],
      };
      // Contacts and visits lie around the edges of the windows that the deliveries of the same seed have.
      const edges = influences(drawnWorld(SEED + index).world, sample).items.flatMap(({ exposed_on }) => {
        const day = Date.parse(exposed_on) / DAY;
        return [day - 1, day, day + 1, day + 10, day + 11];
      });
      const { world, streams } = drawnWorld(SEED + index, edges);
      await ingestWorld(gateway, organization_id, key, streams);
      worlds.push({ organization_id, key, world });
    }
    await gateway.stores.records.refresh();
  });

  const ask = async (key: string, body: object): Promise<Body> => {
    const answer = await gateway.call(INFLUENCE, body, { key });
    expect(answer.status, answer.text).to.equal(200);
    return answer.body as Body;
  };

  async function allPages(key: string, body: object, page_size: number): Promise<Body> {
    const first = await ask(key, { ...body, page_size });
    const items = [...first.items];
    for (let page = 2; items.length < first.total_count; page++) {
      const next = await ask(key, { ...body, page_size, page });
      expect(next.totals).to.deep.equal(first.totals);
      items.push(...next.items);
    }
    return { ...first, items };
  }

  it('answers what an oracle computes day by day, on every page, in every order', async function () {
    this.timeout(runs(120_000));
    let influenced = 0;
    for (let count = 0; count < QUESTIONS; count++) {
      const { key, world } = random.pick(worlds);
      const question = drawnQuestion(random);
      const expected = influences(world, question);
      const sort_by = random.pick(Object.keys(KEYS));
      const sort_direction = random.pick(['asc', 'desc']);
      const body = { ...requestOf(question), sort_by, sort_direction };
      const { items, totals } = await allPages(key, body, random.pick([1, 2, 50]));
      const context = `${count} ${JSON.stringify(body)}`;
      expect(items, context).to.deep.equal(ordered(expected.items, sort_by, sort_direction));
      const { spend, weeks, ...figures } = totals;
      expect(figures, context).to.deep.equal(expected.totals);
      const spent = spend.filter(({ ad_spend }) => Number(ad_spend) > 0);
      expect(
        Object.fromEntries(spent.map((each) => [each.currency, Number(each.ad_spend)])),
        context,
      ).to.deep.equal(expected.spend);
      const sumOf = (name: 'influenced' | 'newly_influenced') =>
        weeks.reduce((sum, week) => sum + week[name], 0);
      expect([sumOf('influenced'), sumOf('newly_influenced')], context).to.deep.equal([
        figures.influenced,
        figures.newly_influenced,
      ]);
      influenced += expected.totals.influenced;
    }
    expect(influenced).to.be.above(0);
  });

  const wide = { start_date: iso(FIRST), end_date: iso(FIRST + 39), page_size: 200 };

  it('never has more companies when a threshold is raised', async () => {
    const [{ key }] = worlds as [(typeof worlds)[number]];
    let before: string[] | undefined;
    for (const least of [1, 3, 9, 27, 81]) {
      const { items } = await ask(key, { ...wide, thresholds: { impressions: least } });
      const domains = items.map(({ domain }) => domain);
      if (before) expect(before).to.include.members(domains);
      before = domains;
    }
    expect(before).to.deep.equal([]);
  });

  it('names ids as evidence that the searches of contacts and visits find', async () => {
    const [{ organization_id, key }] = worlds as [(typeof worlds)[number]];
    const { items } = await ask(key, { ...wide, thresholds: { impressions: 3 } });
    let named = 0;
    for (const { domain, exposed_on, evidence } of items) {
      const idsOf = async (path: string, body: object, list: string, id: string) => {
        const { body: found } = await gateway.call(path, { organization_id, limit: 1000, ...body }, { key });
        return (found[list] as Record<string, string>[]).map((each) => each[id]);
      };
      const contacts = { query: `"${domain}"`, match: 'all' };
      expect(await idsOf('/api/contacts/search', contacts, 'contacts', 'contact_id')).to.include.members(
        evidence.contact_ids,
      );
      const from = Date.parse(exposed_on) + DAY;
      const visits = {
        company_domain: domain,
        created_after: new Date(from).toISOString(),
        created_before: new Date(from + 30 * DAY).toISOString(),
      };
      expect(await idsOf('/api/website-visits/search', visits, 'visits', 'id')).to.include.members(
        evidence.visit_ids,
      );
      named += evidence.contact_ids.length + evidence.visit_ids.length;
    }
    expect(named).to.be.above(10);
  });

  it('exports the items of all pages, and their plain fields as CSV', async () => {
    const [{ key }] = worlds as [(typeof worlds)[number]];
    const { page_size, ...body } = wide;
    const { items } = await ask(key, { ...body, page_size });
    const as = (Accept: string) => gateway.call(INFLUENCE, body, { key, headers: { Accept } });
    const lines = (await as('application/x-ndjson')).text.trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as Item)).to.deep.equal(items);
    const [head, ...rows] = (await as('text/csv')).text.trim().split('\r\n');
    expect(head).to.equal(
      'domain,name,company_ids,exposed_on,reached_by,impressions,clicks,engagements,known_before,influenced,contacts,visits,first_outcome_at',
    );
    expect(rows.map((row) => row.split(',')[0])).to.deep.equal(items.map(({ domain }) => domain));
  });

  it('needs three scopes, and names the one that a key lacks', async () => {
    const scopes = ['advertising:read', 'visits:read', 'contacts:read'];
    for (const missing of scopes) {
      const key = await gateway.keyFor(
        'org_a',
        scopes.filter((scope) => scope !== missing),
      );
      const answer = await gateway.call(INFLUENCE, wide, { key });
      expect([answer.status, answer.body.code, answer.body.required_scope]).to.deep.equal([
        403,
        'insufficient_scope',
        missing,
      ]);
    }
  });

  it('refuses a range of 367 days, no threshold, and thresholds and days beyond their limits', async () => {
    const refused = async (body: object, pointer: string, code: string) => {
      const answer = await gateway.call(INFLUENCE, { ...wide, ...body });
      expect(answer.status, answer.text).to.equal(422);
      const errors = answer.body.errors as { pointer: string; code: string }[];
      expect(errors.map((error) => [error.pointer, error.code])).to.deep.equal([[pointer, code]]);
    };
    const year = { start_date: '2025-01-01', end_date: '2026-01-01' };
    expect((await gateway.call(INFLUENCE, year)).status).to.equal(200);
    await refused({ ...year, end_date: '2026-01-02' }, '/end_date', 'range_too_long');
    await refused({ thresholds: {} }, '/thresholds', 'too_few_items');
    await refused({ thresholds: { impressions: 0 } }, '/thresholds/impressions', 'too_small');
    await refused({ thresholds: { shares: 1 } }, '/thresholds/shares', 'unknown_field');
    await refused({ lookback_days: 91 }, '/lookback_days', 'too_large');
    await refused({ outcome_days: 181 }, '/outcome_days', 'too_large');
    await refused({ outcomes: [] }, '/outcomes', 'too_few_items');
  });

  it('counts anew after a visit up to the day of exposure, an erasure and a restatement', async function () {
    this.timeout(60_000);
    const organization_id = 'org_influence_later';
    const key = await gateway.keyFor(organization_id);
    const day = iso(FIRST);
    const send = async (stream: string, ...records: object[]) => {
      const answer = await gateway.ingest(stream, records, { key });
      expect(answer.body, answer.text).to.include({ accepted: records.length });
      await gateway.stores.records.refresh();
    };
    const delivery = { date: day, campaign_id: 'c0', company_id: 'co', reported_at: `${day}T01:00:00Z` };
    const after = `${iso(FIRST + 1)}T00:00:00Z`;
    await send('network-a-companies', { id: 'co', domain: 'acme.example' });
    await send('network-a-deliveries', { ...delivery, impressions: 7 });
    const person = { company_domain: 'acme.example', work_emails: ['ann@acme.example'] };
    await send('contacts', { contact_id: 'ann', ...person, created_at: after, updated_at: after });
    const read = async () => (await ask(key, wide)).items[0];
    const known = { exposed_on: day, influenced: true, known_before: false, contacts: 1 };
    expect(await read()).to.include(known);
    await send('website-visits', {
      id: 'v',
      companyDomain: 'acme.example',
      createdAt: `${day}T23:59:59.999Z`,
    });
    expect(await read()).to.include({ ...known, known_before: true, visits: 0 });
    const [ofContacts] = (await ask(key, { ...wide, outcomes: ['contacts'] })).items;
    expect(ofContacts, 'known before, whichever outcomes are asked').to.include({
      ...known,
      known_before: true,
    });
    const erased = await gateway.call(
      '/api/contacts/erase',
      { organization_id, email: 'ann@acme.example' },
      { key },
    );
    expect(erased.status, erased.text).to.equal(200);
    await gateway.stores.records.refresh();
    const item = await read();
    expect(item).to.include({ influenced: false, contacts: 0, first_outcome: null });
    expect(item?.evidence.contact_ids).to.deep.equal([]);
    await send('network-a-deliveries', { ...delivery, reported_at: `${day}T02:00:00Z`, impressions: 6 });
    expect(await read()).to.equal(undefined);
  });

  it('answers a domain that has thousands of company records', async function () {
    this.timeout(60_000);
    const key = await gateway.keyFor('org_influence_shared');
    const domain = [...Array.from({ length: 3 }, () => 'a'.repeat(60)), 'example'].join('.');
    const companies = Array.from({ length: 1500 }, (_, index) => ({ id: `company_${index}`, domain }));
    for (let from = 0; from < companies.length; from += 500) {
      await gateway.ingest('network-a-companies', companies.slice(from, from + 500), { key });
    }
    const delivery = { date: iso(FIRST), campaign_id: 'c0', company_id: 'company_7', impressions: 7 };
    await gateway.ingest('network-a-deliveries', [{ ...delivery, reported_at: `${iso(FIRST)}T01:00:00Z` }], {
      key,
    });
    const { items } = await ask(key, wide);
    expect(items).to.have.length(1);
    expect(items[0]?.company_ids).to.have.length(1500);
    expect(items[0]?.exposure).to.include({ impressions: 7 });
    expect(items[0]?.evidence.campaigns).to.have.length(1);
  });

  it('is complete once the outcome days of every company are over', async () => {
    const isComplete = async (end_date: string, outcome_days: number) => {
      const answer = await gateway.call(INFLUENCE, { start_date: '2026-10-01', end_date, outcome_days });
      return answer.body.complete;
    };
    // Today is 2026-11-21.
    expect(await isComplete('2026-11-19', 1)).to.equal(true);
    expect(await isComplete('2026-11-20', 1)).to.equal(false);
    expect(await isComplete('2026-10-21', 30)).to.equal(true);
    expect(await isComplete('2026-10-22', 30)).to.equal(false);
  });
});
