import { expect } from 'chai';
import { drawnQuestion, drawnWorld, FIRST } from '../../influence/drawn-world.js';
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
      for (const [stream, records] of Object.entries(streams)) {
        for (let from = 0; from < records.length; from += 40) {
          const lines = records.slice(from, from + 40).map((record) => ({
            ...record,
            ...(stream === 'website-visits' ? { organizationId: organization_id } : { organization_id }),
          }));
          const answer = await gateway.ingest(stream, lines, { key });
          expect(answer.body, answer.text).to.include({ accepted: lines.length });
        }
      }
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
});
