/** Seeded histories of records as networks send them, and their final state, computed in another way. */
import { randomBytes } from 'node:crypto';
import type { OutgoingRecord } from '../../../ingest/sources/kafka/producer.js';
import { DAY_MS } from '../../../services/shared/time.js';
import type { Random } from '../../support/random.js';

const ORGANIZATIONS = 3;
const FIRST_DAY = Date.parse('2026-06-01T00:00:00Z');
/** A record is at most this many records out of order. */
const WINDOW = 10_000;

/** Records in the order of sending, and the resulting state by key. */
export interface History {
  /** Organizations that only this history uses, so that tests can share stores. */
  organizations: readonly string[];
  records: OutgoingRecord[];
  expected: Map<string, string>;
}

const freshOrganizations = () =>
  Array.from({ length: ORGANIZATIONS }, () => `org_${randomBytes(4).toString('hex')}`);

/** Adds a tenth of repetitions and shuffles within a window, then applies the result record by record. */
function history<T extends object>(
  random: Random,
  organizations: readonly string[],
  originals: readonly T[],
  keyOf: (record: T) => string,
  apply: (before: T | undefined, record: T) => T,
  stateOf: (record: T) => [key: string, state: string],
): History {
  const sent: { position: number; record: T }[] = [];
  originals.forEach((record, index) => {
    const times = random.chance(0.1) ? 2 : 1;
    for (let time = 0; time < times; time++) sent.push({ position: index + random.below(WINDOW), record });
  });
  sent.sort((left, right) => left.position - right.position);
  const states = new Map<string, T>();
  for (const { record } of sent) {
    const [key] = stateOf(record);
    states.set(key, apply(states.get(key), record));
  }
  return {
    organizations,
    records: sent.map(({ record }) => ({ key: keyOf(record), value: JSON.stringify(record) })),
    expected: new Map(Array.from(states.values(), stateOf)),
  };
}

interface Delivery {
  organization_id: string;
  date: string;
  campaign_id: string;
  creative_id: string;
  impressions: number;
  clicks: number;
  ad_spend: string;
  reported_at: string;
}

/** The newest report of a key wins; among equally new reports, the later. */
export function deliveryHistory(random: Random, count: number): History {
  const organizations = freshOrganizations();
  const keys = Math.max(1, Math.floor(count / 3));
  const originals = Array.from({ length: count }, (): Delivery => {
    const key = random.below(keys);
    return {
      organization_id: random.pick(organizations),
      date: new Date(FIRST_DAY + (key % 100) * DAY_MS).toISOString().slice(0, 10),
      campaign_id: `c${key % 40}`,
      creative_id: `r${key}`,
      impressions: random.below(100_000),
      clicks: random.below(500),
      ad_spend: `${random.below(1000)}.${String(random.below(100)).padStart(2, '0')}`,
      // Few different times, so that many are equal.
      reported_at: new Date(FIRST_DAY + random.below(4) * 3_600_000).toISOString(),
    };
  });
  const keyOf = (record: Delivery) =>
    [record.organization_id, record.date, record.campaign_id, record.creative_id].join('/');
  return history(
    random,
    organizations,
    originals,
    keyOf,
    (before, record) => (before && record.reported_at < before.reported_at ? before : record),
    (record) => [
      keyOf(record),
      [record.impressions, record.clicks, Number(record.ad_spend).toFixed(2)].join('|'),
    ],
  );
}

interface Visit {
  organizationId: string;
  id: string;
  createdAt: string;
  city: string;
}

/** The first record with an id and time stays. */
export function visitHistory(random: Random, count: number): History {
  const organizations = freshOrganizations();
  const originals = Array.from({ length: count }, (_, index): Visit => {
    const id = random.chance(0.1) ? random.below(index + 1) : index;
    return {
      organizationId: organizations[id % ORGANIZATIONS] as string,
      id: `v${id}`,
      createdAt: new Date(FIRST_DAY + (id % 90) * DAY_MS).toISOString(),
      city: `City ${random.below(1000)}`,
    };
  });
  return history(
    random,
    organizations,
    originals,
    (record) => `${record.organizationId}/${record.id}`,
    (before, record) => before ?? record,
    (record) => [`${record.organizationId}/${record.id}/${Date.parse(record.createdAt)}`, record.city],
  );
}

interface Contact {
  organization_id: string;
  contact_id: string;
  first_name?: string;
  last_name?: string | null;
  city?: string | null;
  updated_at: string;
}

/** Given fields overwrite, absent fields stay, and an older record changes nothing. */
export function contactHistory(random: Random, count: number): History {
  const organizations = freshOrganizations();
  const ids = Math.max(1, Math.floor(count / 4));
  const originals = Array.from({ length: count }, (): Contact => {
    const id = random.below(ids);
    return {
      organization_id: organizations[id % ORGANIZATIONS] as string,
      contact_id: `con_${id}`,
      first_name: random.maybe(0.7, () => `First${random.below(100)}`),
      last_name: random.maybe(0.5, () => (random.chance(0.2) ? null : `Last${random.below(100)}`)),
      city: random.maybe(0.5, () => `City${random.below(100)}`),
      updated_at: new Date(FIRST_DAY + random.below(6) * 3_600_000).toISOString(),
    };
  });
  const keyOf = (record: Contact) => `${record.organization_id}/${record.contact_id}`;
  return history(
    random,
    organizations,
    originals,
    keyOf,
    (before, record) => {
      if (before && record.updated_at < before.updated_at) return before;
      const given = Object.entries(record).filter(([, value]) => value !== undefined);
      return { ...before, ...Object.fromEntries(given) } as Contact;
    },
    (record) => [keyOf(record), contactState(record)],
  );
}

export const contactState = ({ first_name, last_name, city }: Partial<Contact>) =>
  [first_name ?? '-', last_name ?? '-', city ?? '-'].join('|');
