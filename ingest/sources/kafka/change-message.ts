/** Opens messages of Kafka Connect and Debezium. Each message holds a record of the stream, or a deletion. */

import { isObject } from '../../../services/shared/json.js';
import { type DeadLetter, deadLetter } from '../../records/outcome.js';
import { parseJson } from '../../records/parse-json.js';
import type { Stream } from '../../streams/stream.js';

type Fields = Record<string, unknown>;
/** A Kafka record. Its key is parsed only if it is needed. */
type Keyed = { readonly key: Buffer | null };

const NO_VALUE = deadLetter(
  'no_value',
  '',
  'The record has no value, and its key names no record that can be deleted.',
);
const UNSUPPORTED = deadLetter('unsupported_operation', '/op', 'Only c, r, u and d change a single record.');

/**
 * Opens `{schema, payload}` of Kafka Connect and `{before, after, op}` of Debezium. A deletion, and a record without a value (a tombstone,
 * or null), become `{deleted: true}` with the fields that identify the record, from the message or otherwise from the key. Any other value
 * stays unchanged. Records and deletions of Debezium without `updated_at` get the time of the change, so that one clock orders both. A
 * tombstone gets `deletedAt`, the time of the deletion before it. Has no side effects.
 */
export function openMessage(
  value: unknown,
  keyed: Keyed,
  stream: Stream,
  deletedAt?: string,
): { value: unknown } | DeadLetter {
  const message = payloadOf(value);
  if (message === null) return deletionOf(keyFields(keyed, stream), deletedAt);
  if (!isChange(message)) return { value: message };
  const changedAt = stream.deletableBy && timeOf(message);
  if (message.op === 'd')
    return deletionOf(isObject(message.before) ? message.before : keyFields(keyed, stream), changedAt);
  if (!['c', 'r', 'u'].includes(message.op)) return UNSUPPORTED;
  return { value: isObject(message.after) ? withTime(message.after, changedAt) : message.after };
}

const deletionOf = (fields: Fields | undefined, deletedAt: string | undefined) =>
  fields ? { value: { ...withTime(fields, deletedAt), deleted: true } } : NO_VALUE;

/** Adds the time of a change. An `updated_at` of the source stays: then the source's own clock orders all changes of the row. */
const withTime = (fields: Fields, updatedAt: string | undefined): Fields =>
  updatedAt === undefined || (fields.updated_at ?? null) !== null
    ? fields
    : { ...fields, updated_at: updatedAt };

/**
 * Time when the source made the change, otherwise the time when the connector read the change; undefined if the message has no plausible
 * time.
 */
function timeOf({ source, ts_ms: readMs }: Fields): string | undefined {
  const changedMs = isObject(source) ? source.ts_ms : undefined;
  const ms = [changedMs, readMs].find((each) => typeof each === 'number' && isPlausible(each));
  return ms === undefined ? undefined : new Date(ms as number).toISOString();
}

const isPlausible = (ms: number) => Number.isInteger(ms) && ms >= OLDEST_MS && ms < NEWEST_MS;
const OLDEST_MS = Date.UTC(2000, 0, 1);
const NEWEST_MS = Date.UTC(2286, 0, 1);

function payloadOf(value: unknown): unknown {
  const isWrapped =
    isObject(value) && 'schema' in value && 'payload' in value && Object.keys(value).length === 2;
  return isWrapped ? value.payload : value;
}

const isChange = (value: unknown): value is Fields & { op: string } =>
  isObject(value) && typeof value.op === 'string' && ('before' in value || 'after' in value);

/** The fields in a key: JSON, or `organization/id` as Reachline writes it, plain or as JSON. Undefined if the stream has no deletions. */
function keyFields({ key }: Keyed, { organizationField, deletableBy }: Stream): Fields | undefined {
  if (key === null || deletableBy === undefined) return undefined;
  const parsed: { value: unknown } | DeadLetter = parseJson(key);
  const fields = 'value' in parsed ? payloadOf(parsed.value) : undefined;
  if (isObject(fields)) return fields;
  const text = typeof fields === 'string' ? fields : key.toString();
  const [organization, ...parts] = text.split('/');
  if (parts.length !== deletableBy.length) return undefined;
  const named = deletableBy.map((name, index): [string, unknown] => [name, parts[index]]);
  return { [organizationField]: organization, ...Object.fromEntries(named) };
}
