import { TimeSlice } from '../../services/shared/async.js';
import { isObject } from '../../services/shared/json.js';
import { deadLetter, NOT_DECODABLE } from '../records/outcome.js';
import { parseJson } from '../records/parse-json.js';
import type { RawRecord, RecordSource } from '../records/raw-record.js';
import { isReportLine } from './cells.js';
import type { Mapping, SourceRecord } from './mapping.js';

const ENTRIES_PER_CHUNK = 200;
/** Maximum bytes of the entries of one message, because each entry repeats the other fields of its message. */
const MAX_ENTRY_BYTES = 16 * 1024 * 1024;
const ENTRIES_TOO_LONG = deadLetter(
  'too_long',
  '',
  `The entries of this record have more than ${MAX_ENTRY_BYTES} bytes, each with the other fields of the record.`,
);

/** Yields the records of a source. Each record is mapped, rejected or skipped. */
export async function* mapSource(source: RecordSource, mapping: Mapping): AsyncGenerator<RawRecord[]> {
  const slice = new TimeSlice();
  for await (const records of mapping.split === undefined ? source : splitLists(source, mapping.split)) {
    for (const raw of records) {
      mapRaw(raw, mapping);
      if (slice.shouldYield(raw.bytes.length)) await slice.yieldToEventLoop();
    }
    yield records;
  }
}

/** Yields the entries of lists in messages, or the columns of rows. Each entry gets its own place in the order of records. */
async function* splitLists(source: RecordSource, split: NonNullable<Mapping['split']>): RecordSource {
  let order = 0;
  const slice = new TimeSlice();
  for await (const records of source) {
    for (const raw of records) {
      let bytes = 0;
      if (raw.overlong === 'piece') {
        yield [raw];
        continue;
      }
      const entries = entriesOf(raw, split);
      if (entries === null) yield [{ ...raw, order: ++order }];
      for (let start = 0; entries !== null && start < entries.length; start += ENTRIES_PER_CHUNK) {
        const chunk: RawRecord[] = [];
        for (const value of entries.slice(start, start + ENTRIES_PER_CHUNK)) {
          const isTooLong = bytes > MAX_ENTRY_BYTES;
          const entry = isTooLong ? rejectedEntry(raw, ++order) : entryOf(raw, value, ++order);
          bytes += entry.bytes.length;
          chunk.push(entry);
          if (slice.shouldYield(entry.bytes.length)) await slice.yieldToEventLoop();
        }
        yield chunk;
      }
    }
  }
}

const rejectedEntry = ({ line }: RawRecord, order: number): RawRecord => ({
  ...{ line, order, bytes: Buffer.alloc(0), rejection: ENTRIES_TOO_LONG },
});

/** The entries of the list in a message; null for a message that has no list. */
function entriesOf(raw: RawRecord, split: NonNullable<Mapping['split']>): ReturnType<typeof split> {
  if (raw.overlong || raw.rejection) return null;
  try {
    const message = parsedValue(raw);
    return isObject(message) ? split(message) : null;
  } catch (error) {
    rejectFor(raw, error);
    return null;
  }
}

function entryOf({ line, value: row, bytes }: RawRecord, value: unknown, order: number): RawRecord {
  // A CSV row keeps its own bytes, so that rejects show the row.
  if (row !== undefined) return { line, order, bytes, value };
  try {
    return { line, order, bytes: Buffer.from(JSON.stringify(value)), value };
  } catch (error) {
    const entry: RawRecord = { line, order, bytes };
    rejectFor(entry, error);
    return entry;
  }
}

/** Number of bytes at the beginning of a row that are searched for a note of a report. */
const REPORT_LINE_BYTES = 256;

/** Skips a note below a report, like a total. A note has too few cells for a row. */
function skipReportLine(raw: RawRecord): void {
  if (raw.rejection?.code !== 'column_count') return;
  const [first = ''] = raw.bytes
    .subarray(0, REPORT_LINE_BYTES)
    .toString('utf8')
    .split(/[,;\t]/, 1);
  if (!isReportLine(first.replaceAll('"', '').trim())) return;
  raw.rejection = undefined;
  raw.isSkipped = true;
}

function mapRaw(raw: RawRecord, mapping: Mapping): void {
  skipReportLine(raw);
  if (raw.overlong || raw.rejection || raw.isSkipped) return;
  try {
    const value = parsedValue(raw);
    // The decoder rejects values that are not objects.
    if (!isObject(value)) return;
    const outcome = mapping.apply(value);
    if (outcome === 'skipped') raw.isSkipped = true;
    else if ('record' in outcome) {
      raw.mapped = outcome.record;
      raw.leftOut = outcome.leftOut;
    } else raw.rejection = outcome;
  } catch (error) {
    rejectFor(raw, error);
  }
}

/** Rejects a record because the mapping failed with an error. The error rejects only this record. */
function rejectFor(raw: RawRecord, error: unknown): void {
  raw.rejection = NOT_DECODABLE;
  raw.fault = error;
}

/** The source record of a raw record; undefined if the raw record is not a JSON object or a row. */
export function sourceRecordOf(raw: RawRecord): SourceRecord | undefined {
  const value = raw.overlong || raw.rejection || raw.isSkipped ? undefined : parsedValue({ ...raw });
  return isObject(value) ? value : undefined;
}

/** A row with renamed columns. */
export function renamed(row: SourceRecord, names: ReadonlyMap<string, string>): SourceRecord {
  if (names.size === 0) return row;
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [names.get(name) ?? name, value]));
}

const textOrNumber = /"(?:[^"\\]|\\.)*"?|[\d.eE+-]+/gs;
const longNumber = /^-?\d[\d.]{15,}(?:[eE][+-]?\d{1,3})?$/;

/** Quotes long numbers to keep every digit; `JSON.parse` keeps about 16. */
const quoteLongNumbers = (json: string) =>
  json.replace(textOrNumber, (found) => (longNumber.test(found) ? `"${found}"` : found));

/** The parsed value of a record; undefined for text that cannot be parsed, whose record is rejected. */
function parsedValue(raw: RawRecord): unknown {
  if (raw.value !== undefined) return raw.value;
  const parsed = parseJson(raw.bytes, quoteLongNumbers);
  if ('value' in parsed) return parsed.value;
  raw.rejection = parsed;
  return undefined;
}
