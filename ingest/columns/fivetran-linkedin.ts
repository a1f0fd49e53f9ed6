/**
 * Converts the tables of a connector for an advertising account on network_a to records of the streams. Times without an offset are
 * UTC; money is in US dollars, the conversion value at the exchange rate of the row's own costs. Columns that a table lacks are joined
 * from the other tables of the same export.
 */
import { decimalText, unitsText } from '../../services/advertising/money.js';
import { deadLetter } from '../records/outcome.js';
import { ColumnsError, type ToRecord } from './columns.js';

type Row = Record<string, string>;

/** The tables, and the columns that identify each. */
const TABLES = {
  campaign_history: {
    marks: ['id', 'campaign_group_id', 'last_modified_time'],
    stream: 'network-a-campaigns',
  },
  campaign_group_history: {
    marks: ['id', 'account_id', 'name', 'last_modified_time'],
    stream: 'network-a-campaigns',
  },
  creative_history: { marks: ['id', 'campaign_id', 'created_time'], stream: 'network-a-creatives' },
  ad_analytics_by_creative: { marks: ['creative_id', 'day', 'impressions'], stream: 'network-a-deliveries' },
} as const;
export type Table = keyof typeof TABLES;

/** The table of a header; null when unknown. */
export function recognizeTable(header: readonly string[]): Table | null {
  const tables = Object.keys(TABLES) as Table[];
  return tables.find((table) => TABLES[table].marks.every((mark) => header.includes(mark))) ?? null;
}

export const streamOfTable = (table: Table) => TABLES[table].stream;

/** Values of other tables of the export. */
export interface Joined {
  /** Campaign of a creative. */
  campaignOf: ReadonlyMap<string, string>;
  groupName: ReadonlyMap<string, string>;
}

/** The table that a table is joined with. */
export const JOINED_TABLE: Partial<Record<Table, Table>> = {
  campaign_history: 'campaign_group_history',
  ad_analytics_by_creative: 'creative_history',
};

/** Rows as objects, for joins. */
export function asRows(header: readonly string[], cells: readonly (readonly string[])[]): Row[] {
  return cells.map((row) =>
    Object.fromEntries(header.map((name, index) => [name, row[index]?.trim() ?? ''])),
  );
}

/** The joined value by id, of the newest version of each row. */
export function joinRows(table: Table, rows: Row[]): Map<string, string> {
  const value = table === 'creative_history' ? 'campaign_id' : 'name';
  const newest = new Map<string, Row>();
  for (const row of rows) {
    const id = row.id ?? '';
    const before = newest.get(id);
    if (before === undefined || version(row) >= version(before)) newest.set(id, row);
  }
  return new Map([...newest].map(([id, row]) => [id, row[value] ?? '']));
}

const version = (row: Row) => row.last_modified_time || row.last_modified_at || row.created_time || '';

/** Plans the conversion of a table's rows. */
export function planTable(table: Table, header: readonly string[], joined: Joined): ToRecord {
  if (table === 'campaign_group_history')
    throw new ColumnsError('Campaign groups are not records of a stream.');
  const convert = CONVERSIONS[table];
  return (cells) => {
    const row: Row = {};
    for (const [index, name] of header.entries()) row[name] = cells[index]?.trim() ?? '';
    return convert(row, joined);
  };
}

const CONVERSIONS: Record<
  Exclude<Table, 'campaign_group_history'>,
  (row: Row, joined: Joined) => ReturnType<ToRecord>
> = {
  campaign_history: (row, { groupName }) => ({
    record: definedFields({
      id: row.id,
      network_a_campaign_id: row.id,
      name: row.name,
      account_id: row.account_id,
      campaign_group_id: row.campaign_group_id,
      campaign_group_name: groupName.get(row.campaign_group_id ?? ''),
      status: row.status,
      objective_type: row.objective_type,
      format: row.format,
      cost_type: row.cost_type,
      currency: 'USD',
      updated_at: timestamp(version(row)),
    }),
  }),

  creative_history: (row) => ({
    record: definedFields({
      id: row.id,
      network_a_creative_id: row.id,
      campaign_id: row.campaign_id,
      name: row.name,
      status: row.intended_status || row.status,
      review_status: row.review_status,
      landing_page_url: row.click_uri,
      updated_at: timestamp(version(row)),
    }),
  }),

  ad_analytics_by_creative(row, { campaignOf }) {
    if (amount(row.cost_in_usd) === undefined && Number(row.cost_in_local_currency) > 0) {
      const detail =
        'The row has a cost in local currency and none in US dollars, so its currency is not known.';
      return deadLetter('currency_unknown', '', detail);
    }
    const conversionValue = inDollars(row);
    if (conversionValue === null) {
      const detail =
        'The row has a conversion value in local currency, but not both costs, so its exchange rate to US dollars is not known.';
      return deadLetter('currency_unknown', '', detail);
    }
    const creative = row.creative_id ?? '';
    return {
      record: definedFields({
        date: row.day?.slice(0, 10),
        campaign_id: campaignOf.get(creative) || `unknown_${creative}`,
        creative_id: creative,
        ad_spend: amount(row.cost_in_usd),
        impressions: count(row.impressions),
        clicks: count(row.clicks),
        landing_page_clicks: count(row.landing_page_clicks),
        engagements: count(row.total_engagements),
        reactions: count(row.likes),
        comments: count(row.comments),
        shares: count(row.shares),
        follows: count(row.follows),
        video_views: count(row.video_views),
        video_completions: count(row.video_completions),
        leads: count(row.one_click_leads),
        lead_form_opens: count(row.one_click_lead_form_opens),
        conversions: count(row.external_website_conversions),
        conversion_value: conversionValue,
      }),
    };
  },
};

function definedFields(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
  );
}

/** ISO 8601; `2019-09-14 17:53:17.393` is UTC. */
function timestamp(text: string): string | undefined {
  if (text === '') return undefined;
  const written = text.replace(' ', 'T');
  return /(?:Z|[+-]\d{2}:?\d{2})$/i.test(written) ? written : `${written}Z`;
}

/** A count, which may be exported as `3.0`. */
function count(text: string | undefined): number | string | undefined {
  if (text === undefined || text === '') return undefined;
  return /^\d+(\.0+)?$/.test(text) ? Number(text) : text;
}

const MONEY = /^(?<whole>\d{1,26})(?:\.(?<fraction>\d{1,12}))?$/;
const UNITS = 10n ** 12n;

/** An amount in units of 10^-12; null when it is not an amount. */
function units(text: string | undefined): bigint | null {
  const groups = MONEY.exec(amount(text) ?? '')?.groups;
  return groups ? BigInt(groups.whole ?? '') * UNITS + BigInt((groups.fraction ?? '').padEnd(12, '0')) : null;
}

/**
 * The conversion value in US dollars, at the exchange rate of the row's own costs; rounded half to even. Null when the row has no
 * exchange rate.
 */
function inDollars(row: Row): string | undefined | null {
  const local = amount(row.conversion_value_in_local_currency);
  const value = units(local);
  // Absent, 0, or not an amount, which validation rejects.
  if (value === null || value === 0n) return local;
  const dollars = units(row.cost_in_usd);
  const costs = units(row.cost_in_local_currency);
  if (!dollars || !costs) return null;
  if (dollars === costs) return local;
  const quotient = (value * dollars) / costs;
  const remainder = 2n * ((value * dollars) % costs);
  const up = remainder > costs || (remainder === costs && quotient % 2n === 1n);
  return unitsText(up ? quotient + 1n : quotient);
}

/** Exports write small and large amounts with an exponent. */
function amount(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  return /^\d+(?:\.\d+)?e[+-]?\d+$/i.test(text) ? decimalText(text) : text;
}
