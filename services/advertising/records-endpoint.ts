/** Exports the stored records of the advertising streams in the format of ingest. */
import type { Static, TSchema } from 'typebox';
import { cursorListWith } from '../http/cursor-list.js';
import type { HandlerContext } from '../http/endpoint.js';
import { cursorRequest, cursorResponse } from '../search/cursor.js';
import type { Page, SortKey } from '../search/query.js';
import { type Json, toJson } from '../shared/json.js';
import { timeOfOrder } from '../shared/record-order.js';
import {
  arrayOf,
  id,
  looseObject,
  nullable,
  organizationId,
  strictObject,
  stringEnum,
  Type,
} from '../shared/schema.js';
import { utcDate } from '../shared/time.js';
import { addDays } from './calendar.js';
import { SUMMED_METRICS } from './metrics.js';
import { type AdvertisingServices, advertising, endpoint } from './operation.js';
import { run } from './page.js';
import {
  BEFORE_ALL,
  deliveryDaysQuery,
  deliveryRecordsQuery,
  KEYS,
  RECORD_FIELDS,
  RECORD_STREAMS,
  type RecordPosition,
  type RecordRow,
  recordCountQuery,
  recordsQuery,
} from './record-queries.js';
import {
  CampaignRecord,
  CompanyRecord,
  CreativeRecord,
  CurrencyRateRecord,
  DeliveryRecord,
} from './records.js';

const { organization_id, ...fields } = {
  ...CompanyRecord.properties,
  ...CreativeRecord.properties,
  ...CampaignRecord.properties,
  ...CurrencyRateRecord.properties,
  ...DeliveryRecord.properties,
} as Record<string, TSchema> & { organization_id: TSchema };

const AdvertisingRecord = looseObject(
  {
    organization_id,
    ...Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, Type.Optional(field)])),
  },
  {
    $id: 'AdvertisingRecord',
    description: 'A record of one of the streams, with the fields of its stream that have a value.',
  },
);

const ListRecordsRequest = strictObject({
  organization_id: Type.Optional(nullable(organizationId)),
  stream: stringEnum('Stream of the records.', RECORD_STREAMS),
  ...cursorRequest('Records'),
});
type ListRecordsRequest = Static<typeof ListRecordsRequest>;

const ListRecordsResponse = looseObject({
  organization_id: id('Organization of the records.'),
  items: arrayOf('The records of this page, by day, then by their ids.', AdvertisingRecord),
  ...cursorResponse('records'),
});

type Call = HandlerContext<ListRecordsRequest, unknown, AdvertisingServices>;

/** Ids contain no spaces (contract 3.1). */
const SEPARATOR = ' ';
const LAST_DAY_MS = Date.parse('2149-06-06');
/** Maximum number of days in which a page looks for deliveries at once. */
const MAX_DAYS_PER_PAGE = 400;

const toPosition = ({ createdAt, id }: SortKey): RecordPosition => ({
  date: utcDate(Math.min(Math.max(createdAt, 0), LAST_DAY_MS)),
  ids: id.split(SEPARATOR),
});

const toSortKey = ({ date, ids }: RecordPosition): SortKey => ({
  rank: 0,
  createdAt: Date.parse(date),
  id: ids.join(SEPARATOR),
});

const isMetric = (name: string) => Object.hasOwn(SUMMED_METRICS, name);

interface Rows {
  rows: RecordRow[];
  /** Position at which the next page begins; null after the last page. */
  next: RecordPosition | null;
}

const positionOf = (stream: ListRecordsRequest['stream'], row: RecordRow): RecordPosition => ({
  date: (row.day as string | undefined) ?? BEFORE_ALL.date,
  ids: KEYS[stream].map((name) => String(row[name])),
});

/** The next rows; fewer than `limit` if the examined days have no more rows. */
async function readRows(call: Call, after: RecordPosition, limit: number): Promise<Rows> {
  const { organizationId, body } = call;
  const { stream } = body;
  const page = (rows: RecordRow[]): Rows => ({
    rows,
    next: rows.length < limit ? null : positionOf(stream, rows.at(-1) as RecordRow),
  });
  if (stream !== 'network-a-deliveries') {
    return page((await run<RecordRow>(call, recordsQuery(stream, organizationId, after, limit))).rows);
  }
  const { rows: days } = await run<{ day: string; inserted: number }>(
    call,
    deliveryDaysQuery(organizationId, after.date, MAX_DAYS_PER_PAGE),
  );
  let inserted = 0;
  const last = days.find((day) => {
    inserted += day.inserted;
    return inserted >= limit;
  });
  const lastDay = (last ?? days.at(-1))?.day;
  if (lastDay === undefined) return { rows: [], next: null };
  const query = deliveryRecordsQuery(organizationId, after, lastDay, limit);
  const found = page((await run<RecordRow>(call, query)).rows);
  // Restated rows count once, so a page may be short although later days follow.
  const isEnd = last === undefined && days.length < MAX_DAYS_PER_PAGE;
  return found.next || isEnd ? found : { ...found, next: { date: addDays(lastDay, 1), ids: [] } };
}

/** Whether a stored value stands for a field that the record lacks: null, or in a delivery a metric of 0 or an empty id. */
const isAbsent = (stream: ListRecordsRequest['stream'], name: string, value: unknown): boolean =>
  value === null ||
  (stream === 'network-a-deliveries' && (isMetric(name) ? Number(value) === 0 : value === ''));

/** A row as a record for ingest, with its time and without fields that have no value. */
function toRecord({ organizationId, body }: Call, row: RecordRow): Record<string, unknown> {
  const { day, version, ...values } = row;
  const given = Object.entries({ ...(day !== undefined && { date: day }), ...values }).filter(
    ([name, value]) => !isAbsent(body.stream, name, value),
  );
  const time = timeOfOrder(version);
  return {
    organization_id: organizationId,
    ...Object.fromEntries(given),
    ...(body.stream === 'network-a-deliveries' ? { reported_at: time } : { updated_at: time }),
  };
}

const listRecords = cursorListWith<AdvertisingServices>()({
  items: 'items',
  item: AdvertisingRecord,
  request: ListRecordsRequest,
  response: ListRecordsResponse,
  async readPage(call, { limit, after, skipsTotal }): Promise<Page<Json<object>>> {
    const { organizationId, body } = call;
    const { rows, next } = await readRows(call, after ? toPosition(after) : BEFORE_ALL, limit);
    const total = skipsTotal
      ? 0
      : ((await run<{ records: number }>(call, recordCountQuery(body.stream, organizationId))).rows[0]
          ?.records ?? 0);
    return {
      items: rows.map((row) => toJson(toRecord(call, row))),
      total,
      next: next && toSortKey(next),
    };
  },
});

export const listAdvertisingRecords = endpoint({
  ...advertising,
  ...listRecords,
  list: {
    ...listRecords.list,
    columns: ({ stream }) => [
      'organization_id',
      ...RECORD_FIELDS[stream],
      stream === 'network-a-deliveries' ? 'reported_at' : 'updated_at',
    ],
  },
  path: '/api/advertising/network_a/records',
  name: 'ListAdvertisingRecords',
  summary: 'List the records of an advertising stream',
  description:
    'Every stored record of a stream, by day and ids, in the form that `POST /api/ingest/{stream}` takes: how to copy advertising data, or to leave. Metrics that are 0 are left out. `reported_at` and `updated_at` are those of the record, else its acceptance, so that a copy orders later records as this store does. A page ends early where days have fewer records than were inserted.',
  slots: () => 2,
  example: { organization_id: 'org_demo', stream: 'network-a-deliveries', limit: 2 },
});
