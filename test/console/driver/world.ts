/** Two organizations with no word in common, and their true state, read by the API. */
import { setTimeout as pause } from 'node:timers/promises';
import { DAY_MS, utcDate } from '../../../services/shared/time.js';
import { startTestGateway, type TestGateway } from '../../support/gateway.js';
import { Random } from '../../support/random.js';

export interface Organization {
  /** A word in every text of the organization and in no text of the other organization. */
  marker: string;
  id: string;
  key: string;
  audiences: readonly string[];
}

/** Cells of the stored state of an organization, such as `member aud_x contact_1`. */
export type State = ReadonlyMap<string, string>;

export interface World {
  gateway: TestGateway;
  organizations: readonly [Organization, Organization];
  read<T = Record<string, unknown>>(of: Organization, path: string, body?: object): Promise<T>;
  stateOf(of: Organization): Promise<State>;
}

const day = (back: number) => utcDate(Date.now() - back * DAY_MS);
export const LONG_RANGE = { start: day(1085), end: day(1) };

const COUNTRIES = ['FR', 'US', 'GB'];
const TITLES = ['engineer', 'manager', 'buyer'];
const AUDIENCES = ['customers', 'newsletter', 'trial', 'blocked'];
/** More Germans than one request changes, and fewer people of other countries than one page has. */
const SIZES = [
  { germans: 1040, others: 120 },
  { germans: 70, others: 60 },
];

export async function startWorld(): Promise<World> {
  const gateway = await startTestGateway({}, undefined, { analyticsOnDemand: false });
  const organizations = await Promise.all(
    ['Alphix', 'Betrix'].map((marker, index) => organizationOf(gateway, marker, index)),
  );
  const read: World['read'] = async <T>(of: Organization, path: string, body: object = {}) =>
    (await gateway.call(path, { organization_id: of.id, ...body }, { key: of.key })).body as T;
  return {
    gateway,
    organizations: organizations as [Organization, Organization],
    read,
    stateOf: (of) => stateOf(read, of),
  };
}

async function organizationOf(gateway: TestGateway, marker: string, index: number): Promise<Organization> {
  const word = marker.toLowerCase();
  const id = `org_${word}`;
  const key = await gateway.keyFor(id);
  const random = new Random(index + 1);
  const ingest = async (stream: string, records: readonly object[]) => {
    const { body, status } = await gateway.ingest(stream, records, { key });
    if (status !== 200 || body.rejected !== 0)
      throw new Error(`${stream}: ${JSON.stringify(body).slice(0, 500)}`);
  };
  const audiences = AUDIENCES.map((name) => `aud_${word}_${name}`);
  await ingest(
    'audiences',
    AUDIENCES.map((name) => ({
      id: `aud_${word}_${name}`,
      name: `${marker} ${name}`,
      description: `The ${name} of ${marker}`,
    })),
  );
  const { germans, others } = SIZES[index] as (typeof SIZES)[number];
  await ingest(
    'contacts',
    Array.from({ length: germans + others }, (_, number) => ({
      contact_id: `${word}_${String(number).padStart(4, '0')}`,
      first_name: random.pick(['Ada', 'Bo', 'Cy', 'Di', 'Ed']),
      last_name: `${marker}son ${number}`,
      job_title: `${marker} ${random.pick(TITLES)}`,
      company_name: `${marker} Works ${random.below(7)}`,
      work_emails: [`p${number}@${word}.example`],
      phones: [`+49 30 ${number}`],
      city: `${marker}burg`,
      country: number < germans ? 'DE' : random.pick(COUNTRIES),
      audience_ids: audiences.filter(() => random.chance(0.15)),
      created_at: new Date(Date.now() - (30 + random.below(300)) * DAY_MS - number * 1000).toISOString(),
    })),
  );
  await ingest(
    'website-visits',
    Array.from({ length: 240 + 60 * index }, (_, number) => ({
      id: `${word}_visit_${number}`,
      type: 'audience',
      audienceId: random.pick(audiences),
      startUrl: `https://${word}.example/${random.pick(['pricing', 'docs', 'blog'])}`,
      ipAddress: '192.0.2.7',
      browser: random.pick(['Chrome', 'Firefox']),
      platform: 'Linux',
      country: random.pick(['DE', ...COUNTRIES]),
      intentScore: random.below(100),
      createdAt: new Date(Date.now() - 120_000 - number * 4_300_000 - index * 60_000).toISOString(),
    })),
  );
  await ingest('currency-rates', rates());
  const campaigns = Array.from({ length: 20 }, (_, number) => ({
    id: `${word}_cam_${number}`,
    network_a_campaign_id: `${word}_${number}`,
    name: `${marker} campaign ${number}`,
    currency: number % 3 === 2 ? 'EUR' : 'USD',
    status: random.pick(['ACTIVE', 'PAUSED']),
    objective_type: random.pick(['WEBSITE_VISITS', 'VIDEO_VIEWS']),
  }));
  await ingest('network-a-campaigns', campaigns);
  const deliveries = campaigns.flatMap(({ id: campaign_id }, number) =>
    daysOf(number).map((back) => {
      const impressions = random.between(100, 9000);
      return {
        date: day(back),
        campaign_id,
        creative_id: `${campaign_id}_creative`,
        impressions,
        clicks: random.below(100),
        ad_spend: (random.between(100, 99_999) / 100).toFixed(2),
        reported_at: new Date().toISOString(),
      };
    }),
  );
  await ingest('network-a-deliveries', deliveries);
  return { marker, id, key, audiences };
}

/** Most campaigns run each day for some months; two run only on some days, one long ago and one later. */
function daysOf(campaign: number): number[] {
  const first = campaign === 0 ? 520 : campaign === 1 ? 130 : 1;
  return Array.from({ length: campaign < 2 ? 5 : 70 + campaign }, (_, index) => first + index);
}

const rates = () =>
  Array.from({ length: 1100 }, (_, back) => ({
    date: day(back),
    currency: 'USD',
    per_eur: `1.${100 + (back % 90)}`,
  }));

/** Fields in which two reads may differ although nobody changed anything. */
const PASSING = new Set(['updated_at', 'created_at', 'member_count', 'organization_id']);

async function stateOf(read: World['read'], of: Organization): Promise<State> {
  const state = new Map<string, string>();
  let cursor: string | null | undefined;
  do {
    const { contacts, next_cursor } = await read<{
      contacts: Record<string, unknown>[];
      next_cursor: string | null;
    }>(of, '/api/contacts/search', { limit: 1000, ...(cursor ? { cursor } : {}) });
    for (const { contact_id, audience_ids, ...fields } of contacts) {
      for (const [name, value] of Object.entries(fields))
        if (!PASSING.has(name)) state.set(`contact ${contact_id} ${name}`, JSON.stringify(value));
      for (const audience of audience_ids as string[]) state.set(`member ${audience} ${contact_id}`, 'true');
    }
    cursor = next_cursor;
  } while (cursor);
  const { audiences } = await read<{ audiences: Record<string, unknown>[] }>(of, '/api/audiences/search', {
    limit: 200,
  });
  for (const { id, ...fields } of audiences)
    for (const [name, value] of Object.entries(fields))
      if (!PASSING.has(name)) state.set(`audience ${id} ${name}`, JSON.stringify(value));
  const { keys } = await read<{ keys: { key_id: string; name: string }[] }>(of, '/api/keys/list', {
    limit: 100,
  });
  for (const { key_id, name } of keys) state.set(`key ${key_id}`, JSON.stringify(name));
  return state;
}

/** Cells in which two states differ, with their content in the second state; undefined if absent there. */
export function changes(before: State, after: State): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  for (const [cell, value] of after) if (before.get(cell) !== value) found.set(cell, value);
  for (const cell of before.keys()) if (!after.has(cell)) found.set(cell, undefined);
  return found;
}

export function applied(state: State, changed: ReadonlyMap<string, string | undefined>): State {
  const next = new Map(state);
  for (const [cell, value] of changed)
    if (value === undefined) next.delete(cell);
    else next.set(cell, value);
  return next;
}

export { pause };
