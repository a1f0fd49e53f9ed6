/** Records as rows of the tables. A table's row is the values of its columns, in their order. */

import { SUMMED_METRICS, SUMMED_NAMES } from '../../advertising/metrics.js';
import { moneyText } from '../../advertising/money.js';
import { caseFold, normalizeObjective, normalizeStatus } from '../../advertising/normalization.js';
import type {
  CampaignRecord,
  CompanyRecord,
  CreativeRecord,
  DeliveryRecord,
} from '../../advertising/records.js';
import { normalizeDomain } from '../../search/normalize.js';
import { type OrderedRecord, recordOrder } from '../../shared/record-order.js';
import type { Rows } from './client.js';

type Value = string | number | null;
/** A column and what a record puts in it. */
type Column<T> = readonly [name: string, value: (record: T, ordered: OrderedRecord<T>) => Value];
interface Table<T> {
  name: string;
  columns: readonly Column<T>[];
}

type Given = string | null | undefined;
const given = (value: Given): string | null => (value === undefined || value === '' ? null : value);
const keyed = (value: Given, key: (text: string) => string): string | null => {
  const text = given(value);
  return text === null ? null : key(text);
};

function money(value: string | number | null | undefined): string | null {
  if (value === null || value === undefined || value === '') return null;
  const text = moneyText(value);
  if (text === null) throw new RangeError('an amount of money passed validation but is none');
  return text;
}

/** Columns that hold a field of the record as it is. */
function fields<T>(...names: (keyof T & string)[]): Column<T>[] {
  return names.map((name) => [name, (record) => given(record[name] as Given)]);
}

const campaigns: Table<CampaignRecord> = {
  name: 'campaigns',
  columns: [
    ...fields<CampaignRecord>(
      'organization_id',
      'id',
      'network_a_campaign_id',
      'name',
      'account_id',
      'campaign_group_id',
      'campaign_group_name',
      'status',
      'objective_type',
      'format',
      'cost_type',
      'currency',
      'start_date',
      'end_date',
    ),
    ['daily_budget', (record) => money(record.daily_budget)],
    ['total_budget', (record) => money(record.total_budget)],
    ['name_key', (record) => keyed(record.name, caseFold)],
    ['campaign_group_name_key', (record) => keyed(record.campaign_group_name, caseFold)],
    ['status_key', (record) => keyed(record.status, normalizeStatus)],
    ['objective_type_key', (record) => keyed(record.objective_type, normalizeObjective)],
    ['version', (record, { acceptedAt, sequence }) => recordOrder(record.updated_at, acceptedAt, sequence)],
  ],
};

const creatives: Table<CreativeRecord> = {
  name: 'creatives',
  columns: [
    ...fields<CreativeRecord>(
      'organization_id',
      'id',
      'campaign_id',
      'network_a_creative_id',
      'name',
      'status',
      'review_status',
      'format',
      'headline',
      'landing_page_url',
      'image_url',
    ),
    ['name_key', (record) => keyed(record.name, caseFold)],
    ['headline_key', (record) => keyed(record.headline, caseFold)],
    ['status_key', (record) => keyed(record.status, normalizeStatus)],
    ['version', (record, { acceptedAt, sequence }) => recordOrder(record.updated_at, acceptedAt, sequence)],
  ],
};

const domain = (record: CompanyRecord) => given(keyed(record.domain, normalizeDomain));

const companies: Table<CompanyRecord> = {
  name: 'companies',
  columns: [
    ...fields<CompanyRecord>(
      'organization_id',
      'id',
      'network_a_company_id',
      'name',
      'network_a_url',
      'industry',
      'employee_range',
      'country',
      'logo_url',
    ),
    ['domain', domain],
    ['name_key', (record) => keyed(record.name, caseFold)],
    ['domain_key', (record) => keyed(domain(record), caseFold)],
    ['version', (record, { acceptedAt, sequence }) => recordOrder(record.updated_at, acceptedAt, sequence)],
  ],
};

const deliveries: Table<DeliveryRecord> = {
  name: 'deliveries',
  columns: [
    ...fields<DeliveryRecord>('organization_id', 'date', 'campaign_id'),
    ['creative_id', (record) => record.creative_id ?? ''],
    ['company_id', (record) => record.company_id ?? ''],
    ...SUMMED_NAMES.map((name): Column<DeliveryRecord> => {
      if (SUMMED_METRICS[name].kind === 'money') return [name, (record) => money(record[name]) ?? '0'];
      return [name, (record) => record[name] ?? 0];
    }),
    ['version', (record, { acceptedAt, sequence }) => recordOrder(record.reported_at, acceptedAt, sequence)],
  ],
};

const SPECIAL = /[\\\t\n\r]/;
const ESCAPES: { [character: string]: string } = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function tabSeparated(value: Value): string | number {
  if (value === null) return '\\N';
  if (typeof value === 'number' || !SPECIAL.test(value)) return value;
  return value.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] as string);
}

/** Joined row by row: one text that grows by every cell costs more than twice as much, most of it collecting garbage. */
function toRows<T>({ name: table, columns }: Table<T>, records: readonly OrderedRecord<T>[]): Rows {
  const names = columns.map(([name]) => name);
  const cells = new Array<string | number>(columns.length);
  const lines: string[] = [];
  for (const ordered of records) {
    for (let place = 0; place < columns.length; place++) {
      const [, value] = columns[place] as Column<T>;
      cells[place] = tabSeparated(value(ordered.record, ordered));
    }
    lines.push(cells.join('\t'));
  }
  return { table, columns: names, text: lines.length === 0 ? '' : `${lines.join('\n')}\n` };
}

export const campaignRows = (records: readonly OrderedRecord<CampaignRecord>[]) => toRows(campaigns, records);
export const creativeRows = (records: readonly OrderedRecord<CreativeRecord>[]) => toRows(creatives, records);
export const companyRows = (records: readonly OrderedRecord<CompanyRecord>[]) => toRows(companies, records);
export const deliveryRows = (records: readonly OrderedRecord<DeliveryRecord>[]) =>
  toRows(deliveries, records);
