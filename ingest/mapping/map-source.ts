import { TimeSlice } from '../../services/shared/async.js';
import { parseJson } from '../records/parse-json.js';
import type { RawRecord, RecordSource } from '../records/raw-record.js';
import type { Mapping, SourceRecord } from './mapping.js';

/** The records of a source, each mapped, rejected, or skipped. */
export async function* mapSource(source: RecordSource, mapping: Mapping): AsyncGenerator<RawRecord[]> {
  const slice = new TimeSlice();
  for await (const records of source) {
    for (const raw of records) {
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
  const { value } = parsed;
  // The decoder rejects what is not an object.
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const outcome = mapping.apply(value as SourceRecord);
  if (outcome === 'skipped') raw.isSkipped = true;
  else if ('record' in outcome) raw.mapped = outcome.record;
  else raw.rejection = outcome;
}
