import { TimeSlice } from '../../services/shared/async.js';
import { parseJson } from '../records/parse-json.js';
import type { RawRecord, RecordSource } from '../records/raw-record.js';
import type { Mapping, SourceRecord } from './compile.js';

/**
 * The records of a source, mapped: with the record of the stream as their `value`, or rejected, or skipped. `onMap` is called with each
 * record before it is mapped.
 */
export async function* mapSource(
  source: RecordSource,
  mapping: Mapping,
  onMap?: (raw: RawRecord) => void,
): AsyncGenerator<RawRecord[]> {
  const slice = new TimeSlice();
  for await (const records of source) {
    for (const raw of records) {
      onMap?.(raw);
      mapRaw(raw, mapping);
      if (slice.shouldYield(raw.bytes.length)) await slice.yieldToEventLoop();
    }
    yield records;
  }
}

function mapRaw(raw: RawRecord, mapping: Mapping): void {
  if (raw.overlong || raw.rejection) return;
  const parsed = raw.value === undefined ? parseJson(raw.bytes) : { value: raw.value };
  if ('code' in parsed) {
    raw.rejection = parsed;
    return;
  }
  // The decoder rejects what is not an object.
  raw.value = parsed.value;
  if (typeof raw.value !== 'object' || raw.value === null || Array.isArray(raw.value)) return;
  const outcome = mapping.apply(raw.value as SourceRecord);
  if (outcome === 'skipped') raw.isSkipped = true;
  else if ('record' in outcome) raw.value = outcome.record;
  else raw.rejection = outcome;
}
