/** Finds the preset of an export by its columns, or by the fields of its first records. */
import type { SourceRecord } from '../mapping/mapping.js';
import { PRESETS } from './index.js';
import { presetMapping } from './named-mappings.js';
import type { Preset } from './preset.js';

/** Presets of every source. */
export const AUTO = 'auto';

/** The presets of a name: that of one table, those of all tables of a source, or all. */
export function presetsNamed(name: string): string[] {
  return Object.keys(PRESETS).filter((each) => name === AUTO || each === name || each.startsWith(`${name}/`));
}

/** The preset that fits, or why there is not exactly one. */
export type Recognition = { name: string; preset: Preset } | { reason: string };

/**
 * Recognizes the first records of an export as those of one of the presets `names` that is for a stream. Where a preset asks for all
 * that another one asks for and more, only the first counts.
 */
export function recognizePreset(
  names: readonly string[],
  streamName: string,
  samples: readonly SourceRecord[],
): Recognition {
  const candidates = names.map((name) => candidateOf(name, samples));
  const fitting = candidates.filter(({ missing }) => missing?.length === 0);
  const ofStream = fitting.filter(({ preset }) => preset.stream === streamName);
  const [first, second] = ofStream.filter(
    ({ marks }) =>
      !ofStream.some(
        (other) => other.marks.length > marks.length && marks.every((mark) => other.marks.includes(mark)),
      ),
  );
  if (first !== undefined && second === undefined) return first;
  if (first !== undefined) {
    const fits = ofStream.map(({ name, preset }) => `  --preset ${name}   ${preset.description}`);
    return { reason: `More than one preset fits; name the one that is meant:\n${fits.join('\n')}` };
  }
  const [elsewhere] = fitting;
  if (elsewhere !== undefined) {
    const { name, preset } = elsewhere;
    return {
      reason: `This looks like ${preset.description}, which belongs to the stream ${preset.stream} (--preset ${name}).`,
    };
  }
  return {
    reason: `No preset fits.${nearest(candidates.filter(({ preset }) => preset.stream === streamName))}`,
  };
}

interface Candidate {
  name: string;
  preset: Preset;
  marks: readonly string[];
  /** What the sample that comes closest lacks; undefined where all are of another kind. */
  missing: string[] | undefined;
}

function candidateOf(name: string, samples: readonly SourceRecord[]): Candidate {
  const preset = PRESETS[name] as Preset;
  const mapping = presetMapping(name);
  let missing: string[] | undefined;
  for (const sample of samples) {
    const marks = mapping.missingMarks(sample);
    if (marks !== null && (missing === undefined || marks.length < missing.length)) missing = marks;
  }
  return { name, preset, marks: preset.recognize, missing };
}

/** What the preset that comes closest misses. */
function nearest(candidates: readonly Candidate[]): string {
  const [closest] = candidates
    .filter(({ missing, marks }) => missing !== undefined && missing.length < marks.length)
    .sort((a, b) => (a.missing?.length ?? 0) / a.marks.length - (b.missing?.length ?? 0) / b.marks.length);
  if (closest === undefined) return '';
  const missing = closest.missing?.map((path) => JSON.stringify(path)).join(', ');
  return ` Of those for this stream ${closest.name} comes closest; it misses ${missing}.`;
}
