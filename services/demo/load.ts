import { setImmediate } from 'node:timers/promises';
import { STREAMS, type StreamName } from '../../ingest/streams/index.js';
import type { IngestStores } from '../../ingest/streams/stream.js';
import type { CreditStore } from '../accounts/credit-store.js';
import type { KeyStore, StoredKey } from '../accounts/key-store.js';
import { inOrder } from '../shared/record-order.js';
import { checkedIdentifier, joinSql, sql } from '../shared/sql.js';
import { DAY_MS, utcDate } from '../shared/time.js';
import type { Stores } from '../stores/open-stores.js';
import { DEMO_ORGANIZATION } from './calendar.js';
import { campaignRecords, creativeRecords } from './campaigns.js';
import { companyRecords } from './companies.js';
import { audienceRecords, contactRecords } from './contacts.js';
import { currencyRateRecords } from './currency-rates.js';
import { deliveryRecords } from './deliveries.js';
import { visitRecords } from './visits.js';

const CREDITS = 1000;
/** Approximate number of all records, for a progress bar. */
export const DEMO_RECORDS = 61_000;

export interface DemoStores extends IngestStores {
  records: IngestStores['records'] & CreditStore & Pick<KeyStore, 'findKey' | 'insertKey'>;
}

/** A revoked key whose secret nobody knows. */
const revokedKey = (now: number): StoredKey => ({
  id: 'sample00',
  secret_hash: '0'.repeat(64),
  organization_id: DEMO_ORGANIZATION,
  name: 'Former CRM',
  scopes: ['contacts:read', 'ingest:write'],
  created_at: new Date(now - 90 * DAY_MS).toISOString(),
  expires_at: null,
  revoked_at: new Date(now - 9 * DAY_MS).toISOString(),
  last_used_at: new Date(now - 10 * DAY_MS).toISOString(),
  ancestors: [],
});

/** Credits are written last, so they mark a complete load. */
export async function demoIsLoaded(store: CreditStore): Promise<boolean> {
  return (await store.getCredits(DEMO_ORGANIZATION)) !== null;
}

const ANALYTICS_TABLES = [
  'campaigns',
  'creatives',
  'companies',
  'currency_rates',
  'creative_deliveries',
  'company_deliveries',
];

/** Whether any store has data of another organization than the sample's. */
export async function hasOtherData({
  records,
  analytics,
}: Pick<Stores, 'records' | 'analytics'>): Promise<boolean> {
  if (await records.hasOtherOrganization(DEMO_ORGANIZATION)) return true;
  if (analytics.isEmpty) return false;
  const { rows } = await analytics.query({
    name: 'find_other_organization',
    sql: joinSql(
      ANALYTICS_TABLES.map(
        (table) =>
          sql`(SELECT organization_id FROM ${checkedIdentifier(table)} WHERE organization_id != {demo:String} LIMIT 1)`,
      ),
      ' UNION ALL ',
    ),
    params: { demo: DEMO_ORGANIZATION },
  });
  return rows.length > 0;
}

export interface DemoOptions {
  /** Milliseconds since the epoch. The sample ends on the day before. */
  now: number;
  onProgress?(records: number): void;
}

/**
 * Writes the sample through the streams' own writes. Records have the same ids each time, so loading again completes an interrupted load.
 */
export async function loadDemo(stores: DemoStores, { now, onProgress }: DemoOptions): Promise<void> {
  let written = 0;
  for (const [name, records] of demoRecords(utcDate(now))) {
    await STREAMS[name].write(stores, inOrder(records as never[], now, written));
    written += records.length;
    onProgress?.(written);
    await setImmediate();
  }
  const key = revokedKey(now);
  if (!(await stores.records.findKey(key.id))) await stores.records.insertKey(key);
  await stores.records.setCredits(DEMO_ORGANIZATION, CREDITS);
}

const DELIVERIES_AT_ONCE = 10_000;
const RECORDS_AT_ONCE = 1000;

/** Every record of the sample for a day (`YYYY-MM-DD`), in batches, in the order of writing. */
export function* demoRecords(day: string): Generator<[stream: StreamName, records: object[]]> {
  yield ['audiences', audienceRecords(day)];
  yield* batches('contacts', contactRecords(day));
  yield ['network-a-campaigns', campaignRecords(day)];
  yield ['network-a-creatives', creativeRecords(day)];
  yield ['network-a-companies', companyRecords(day)];
  yield ['currency-rates', currencyRateRecords(day)];
  yield* batches('network-a-deliveries', [...deliveryRecords(day)].flat(), DELIVERIES_AT_ONCE);
  yield* batches('website-visits', visitRecords(day));
}

function* batches(
  stream: StreamName,
  records: object[],
  size = RECORDS_AT_ONCE,
): Generator<[StreamName, object[]]> {
  for (let from = 0; from < records.length; from += size) yield [stream, records.slice(from, from + size)];
}
