/** Finds the preset of an export by its columns, or by the fields of its first records. */
import { TimeSlice } from '../../services/shared/async.js';
import type { NamedColumn, SourceRecord } from '../mapping/mapping.js';
import { PRESETS, type Preset } from './index.js';
import { presetMapping } from './named-mappings.js';

/** Name that stands for the presets of every source. */
export const AUTO = 'auto';

/** The presets that a name stands for: one preset, all presets of a source, or all presets. */
export function presetsNamed(name: string): string[] {
  return Object.keys(PRESETS).filter((each) => name === AUTO || each === name || each.startsWith(`${name}/`));
}

/** The reason why not exactly one preset fits: several presets fit, only presets of another stream fit, or no preset fits. */
export interface RecognitionFailure {
  reason: string;
  code: 'several_presets' | 'other_stream' | 'no_preset';
  /** Presets that fit. */
  fitting: NamedPreset[];
}

interface NamedPreset {
  name: string;
  preset: Preset;
}

/** The preset that fits, or the reason why not exactly one preset fits. */
export type Recognition =
  | (NamedPreset & {
      /** Presets of the same source that read records of other streams from the same file. */
      others: NamedPreset[];
    })
  | RecognitionFailure;

/** The first records of an export, and the columns of a table. */
interface Sample {
  columns: readonly string[] | undefined;
  samples: readonly SourceRecord[];
}

/**
 * Recognizes which of the presets `names` of a stream fits the first records of an export. If one preset requires all columns of another
 * preset and further columns, only the first preset counts. Yields to the event loop.
 */
export async function recognizePreset(
  names: readonly string[],
  streamName: string,
  sample: Sample,
): Promise<Recognition> {
  const candidates: Candidate[] = [];
  const slice = new TimeSlice();
  for (const name of names) {
    candidates.push(await candidateOf(name, sample, slice));
  }
  const all = candidates.filter(({ missing }) => missing?.length === 0);
  const exact = all.filter(({ isExact }) => isExact);
  const fitting = exact.length > 0 ? exact : all;
  const isOfStream = ({ preset }: Candidate) => preset.stream === streamName;
  const closest = fitting.filter(
    ({ preset, marks }) =>
      !fitting.some(
        (other) =>
          other.preset.stream === preset.stream &&
          other.marks.length > marks.length &&
          marks.every((mark) => other.marks.includes(mark)),
      ),
  );
  const [first, second] = closest.filter(isOfStream);
  if (first !== undefined && second === undefined) {
    const { name, preset } = first;
    const others = closest.filter((each) => !isOfStream(each) && sourceOf(each.name) === sourceOf(name));
    return { name, preset, others };
  }
  if (first !== undefined) {
    const ofStream = fitting.filter(isOfStream);
    const fits = ofStream.map(({ name, preset }) => `  --preset ${name}   ${preset.description}`);
    const reason = `More than one preset fits; name the one that is meant:\n${fits.join('\n')}`;
    return { reason, code: 'several_presets', fitting: ofStream };
  }
  const [elsewhere] = fitting;
  if (elsewhere !== undefined) {
    const { name, preset } = elsewhere;
    return {
      code: 'other_stream',
      fitting,
      reason: `This looks like ${preset.description}, which belongs to the stream ${preset.stream} (--preset ${name}).`,
    };
  }
  return {
    code: 'no_preset',
    fitting: [],
    reason: `No preset fits.${nearest(candidates.filter(({ preset }) => preset.stream === streamName))}`,
  };
}

/**
 * Checks that an export fits a named preset: without the columns that the preset requires, metrics would become 0. Records of other kinds,
 * which the preset skips, are not checked. Yields to the event loop.
 */
export async function checkPreset(name: string, sample: Sample): Promise<Recognition> {
  const { preset, missing = [] } = await candidateOf(name, sample, new TimeSlice());
  if (missing.length === 0) return { name, preset, others: [] };
  const listed = missing.map((path) => JSON.stringify(path)).join(', ');
  return {
    code: 'no_preset',
    fitting: [],
    reason: `This is not ${preset.description}: it lacks ${listed}. Let the preset be recognized with --preset ${AUTO}.`,
  };
}

interface Candidate {
  name: string;
  preset: Preset;
  /** The first alternative of each entry of the preset's `recognize`. */
  marks: readonly string[];
  /** Whether the columns have the same capitals as in the preset. */
  isExact: boolean;
  /** Columns that are missing in the closest record of the sample; undefined if all records are of another kind. */
  missing: string[] | undefined;
}

const marksOf = ({ recognize }: Preset) => recognize.map((mark) => [mark].flat()[0] as string);

async function candidateOf(name: string, { columns, samples }: Sample, slice: TimeSlice): Promise<Candidate> {
  const preset = PRESETS[name] as Preset;
  const mapping = presetMapping(name);
  const names = columns && mapping.columnNames(columns);
  const seen =
    columns && mapping.marksOfTable(columns.map((column) => [column, names?.get(column) ?? column]));
  // A table without rows has its columns.
  const rows = columns && samples.length === 0 ? [{}] : samples;
  let missing: string[] | undefined;
  for (const row of rows) {
    const marks = mapping.missingMarks(seen ? cellsOf(row, seen) : row);
    if (marks !== null && (missing === undefined || marks.length < missing.length)) missing = marks;
    if (slice.shouldYield(ROW_BYTES)) await slice.yieldToEventLoop();
  }
  const isMark = new Set(preset.recognize.flat());
  const isExact = ![...(names?.values() ?? [])].some((column) => isMark.has(column));
  return { name, preset, marks: marksOf(preset), isExact, missing };
}

/** Bytes that a row counts for: so many that the time is checked after each row. */
const ROW_BYTES = 1024 * 1024;

/** The cells of some columns under the names of a preset. Missing cells are empty texts. */
const cellsOf = (row: SourceRecord, columns: readonly NamedColumn[]): SourceRecord =>
  Object.fromEntries(columns.map(([column, name]) => [name, Object.hasOwn(row, column) ? row[column] : '']));

const sourceOf = (name: string) => name.split('/', 1)[0];

/** Says which columns the closest preset misses. A preset counts only if it has a matching column that no other source has. */
function nearest(candidates: readonly Candidate[]): string {
  const isOwn = ({ name, preset }: Candidate, mark: string) =>
    !Object.entries(PRESETS).some(
      ([other, each]) =>
        sourceOf(other) !== sourceOf(name) && each.stream === preset.stream && marksOf(each).includes(mark),
    );
  const [closest] = candidates
    .filter((candidate) => {
      const { missing, marks } = candidate;
      if (missing === undefined || missing.length * 2 > marks.length) return false;
      return marks.some((mark) => !missing.includes(mark) && isOwn(candidate, mark));
    })
    .sort((a, b) => (a.missing?.length ?? 0) / a.marks.length - (b.missing?.length ?? 0) / b.marks.length);
  if (closest === undefined) return '';
  const missing = closest.missing?.map((path) => JSON.stringify(path)).join(', ');
  return ` Of those for this stream ${closest.name} comes closest; it misses ${missing}.`;
}
