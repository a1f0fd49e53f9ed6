/** Recognizes the preset of a text by its first records. */
import { sourceRecordOf } from '../mapping/map-source.js';
import type { SourceRecord } from '../mapping/mapping.js';
import { type Recognition, recognizePreset } from '../presets/recognize.js';
import type { RawRecord } from '../records/raw-record.js';
import { resumed } from './resumed.js';
import type { OpenedText } from './text.js';

const PEEKED_RECORDS = 100;

/** The preset, of those named, that the first records of a text are recognized by. The text keeps them. */
export async function recognizeText(
  text: OpenedText,
  names: readonly string[],
  streamName: string,
): Promise<Recognition> {
  const samples = await peekRecords(text);
  return recognizePreset(names, streamName, { columns: text.header?.columns, samples });
}

/** The first records of a text, which keeps them; rows of CSV have the columns that they fill. */
export async function peekRecords(text: OpenedText): Promise<SourceRecord[]> {
  const iterator = text.records[Symbol.asyncIterator]();
  const peeked: RawRecord[][] = [];
  const samples: SourceRecord[] = [];
  while (samples.length < PEEKED_RECORDS) {
    const step = await iterator.next();
    if (step.done) break;
    peeked.push(step.value);
    for (const raw of step.value) {
      if (samples.length === PEEKED_RECORDS) break;
      const row = sourceRecordOf(raw);
      if (row !== undefined) samples.push(row);
    }
  }
  text.records = resumed(peeked, iterator);
  return samples;
}
