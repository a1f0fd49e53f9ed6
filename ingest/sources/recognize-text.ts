/** Recognizes the preset of a text by its first records. */
import { sourceRecordOf } from '../mapping/map-source.js';
import type { SourceRecord } from '../mapping/mapping.js';
import { PRESETS, type Preset } from '../presets/index.js';
import { type TakenColumn, withKnownColumns } from '../presets/known-columns.js';
import { checkPreset, presetsNamed, type RecognitionFailure, recognizePreset } from '../presets/recognize.js';
import type { RawRecord } from '../records/raw-record.js';
import { resumed } from './resumed.js';
import type { OpenedText } from './text.js';

const PEEKED_RECORDS = 100;

/**
 * Finds the preset of a text. The name of a preset requires the marks of that preset in the first records. The name of a source, or `auto`,
 * recognizes a preset by the first records. The text can still be read from its beginning.
 */
export async function recognizeText(
  text: OpenedText,
  name: string,
  streamName: string,
): Promise<RecognizedText | RecognitionFailure> {
  const sample = { samples: await peekRecords(text), columns: text.header?.columns };
  const found = await (Object.hasOwn(PRESETS, name)
    ? checkPreset(name, sample)
    : recognizePreset(presetsNamed(name), streamName, sample));
  return 'reason' in found
    ? found
    : { ...found, ...withKnownColumns(found.name, found.preset, sample.columns) };
}

/** The preset of a text, including columns that were added by their names. */
export interface RecognizedText {
  name: string;
  preset: Preset;
  taken: TakenColumn[];
  /** Presets of the same source that read records of other streams from the same text. */
  others: { name: string; preset: Preset }[];
}

/** The first records of a text, which can still be read from its beginning. Rows of CSV have only the columns that they fill. */
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
