/** The examples of the OpenAPI document: the responses of a gateway to the sample data of one day. */

import { DEMO_ORGANIZATION } from '../../services/demo/calendar.js';
import { demoRecords } from '../../services/demo/load.js';
import { endpoints } from '../../services/gateway/api.js';
import type { Json } from '../../services/http/openapi.js';
import { utcDate } from '../../services/shared/time.js';
import { startSampleGateway } from '../support/gateway.js';

/** The tests of SQL use the same day, so that one folder of the sample serves both. */
export const DAY = '2026-11-01';
const NOW = Date.parse(`${DAY}T12:00:00Z`);
const INGEST_PATH = '/api/ingest/{stream}';
/** Fixed ids, which replace the random ids of the records that the examples create. */
const CREATED_IDS = {
  '/api/contacts/create': ['contact_id', 'con_06jf7k2v1csyf9x5n0r8t4m2qa'],
  '/api/audiences/create': ['audience_id', 'aud_06jf7k2v1csyf9x5n0r8t4m2qb'],
} as const;

/** Dates of examples are relative to today; this makes them relative to the day of the sample. */
function atDay(value: unknown): unknown {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value)) return value;
  return utcDate(Date.parse(value) - Date.parse(utcDate(Date.now())) + Date.parse(DAY));
}

/** The first record of each stream, without the organization, which the key decides. */
function firstRecords(): Json {
  const records: Json = {};
  for (const [stream, [first]] of demoRecords(DAY)) {
    const { organization_id: _, organizationId: __, ...record } = first as Json;
    records[stream] ??= record;
  }
  return records;
}

/** Sends every request example to a gateway with the sample data. Throws if one does not get a 200. */
export async function responseExamples(): Promise<{ records: Json; responses: Json }> {
  const gateway = await startSampleGateway({}, { now: () => NOW });
  try {
    const key = await gateway.keyFor(DEMO_ORGANIZATION);
    const records = firstRecords();
    const responses: Json = {};
    const send = async (path: string, url: string, body: unknown) => {
      const answer = await gateway.call(url, body, { key });
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
      responses[path] = answer.body;
    };
    // Operations that only read come first.
    const ordered = [...endpoints].sort(
      (a, b) => Number(a.idempotent ?? false) - Number(b.idempotent ?? false),
    );
    for (const { path, example, exampleQuery } of ordered) {
      const body = Object.fromEntries(
        Object.entries(example as Json).map(([name, value]) => [name, atDay(value)]),
      );
      const query = new URLSearchParams(exampleQuery as Record<string, string>);
      await send(path, query.size > 0 ? `${path}?${query}` : path, body);
    }
    for (const [stream, record] of Object.entries(records)) {
      await send(INGEST_PATH, INGEST_PATH.replace('{stream}', stream), [record]);
    }
    await send(INGEST_PATH, INGEST_PATH.replace('{stream}', 'contacts'), [records.contacts]);
    return { records, responses: withKnownIds(responses) };
  } finally {
    await gateway.close();
  }
}

/** Fixed cursor of the feed of changes, whose epoch is random. */
const FEED_CURSOR = 'WyJzTkhxM3hLd21NcVpONjBrIiwiYWVkMmJkZTFlYTVmZDUyYSIsMCxbMjJdLFsyMjE5XV0';

/** Fixed ids in place of keys, whose ids and secrets are random. */
const KEY_IDS = ['Nj4bTq7W', 'k2Yd9LsE'];

function withKnownIds(responses: Json): Json {
  const created = responses['/api/keys/create'] as { key: string; api_key: { key_id: string } };
  const { keys } = responses['/api/keys/list'] as { keys: { key_id: string }[] };
  const feed = responses['/api/contacts/changes'] as { next_cursor: string };
  let text = JSON.stringify(responses)
    .replaceAll(created.key, `rl_live_${KEY_IDS[0]}_<secret>`)
    .replaceAll(feed.next_cursor, FEED_CURSOR);
  for (const [index, { key_id }] of [created.api_key, keys[0] as { key_id: string }].entries()) {
    text = text.replaceAll(key_id, KEY_IDS[index] as string);
  }
  for (const [path, [field, id]] of Object.entries(CREATED_IDS)) {
    text = text.replaceAll((responses[path] as Record<string, string>)[field] as string, id);
  }
  return JSON.parse(text) as Json;
}
