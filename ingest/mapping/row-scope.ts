/** Checks what a row of a source covers: a row about more than one record, or about a part of a record, is rejected (contract 6.2c). */
import { addDays } from '../../services/advertising/calendar.js';
import { isObject } from '../../services/shared/json.js';
import { type DeadLetter, deadLetter } from '../records/outcome.js';
import type { SourceRecord } from './mapping.js';
import { isAbsentNumber } from './number-format.js';
import { compilePath } from './path.js';
import { textOf } from './source-values.js';

/** Longest value that a rejection quotes, in characters. */
const MAX_QUOTED = 64;

/** Rejects a row whose period has more than one day. `end` is the last day of the period, or with `isAfter` the day after the period. */
export function notADay(start: string, end: string, isAfter = false): DeadLetter | null {
  if (start === end) return null;
  const last = isAfter ? addDays(end, -1) : end;
  if (start === last) return null;
  const detail = `The row is about ${start} to ${last}; export the report by day.`;
  return deadLetter('not_a_day', '/date', detail);
}

/**
 * Compiles `dimensions`, which maps a path to the values that belong to the key of a record; `*` at the end matches any ending. A row with
 * another value, or with two values of one kind, is a part of a record and is rejected.
 */
export function dimensionCheck(
  dimensions: Readonly<Record<string, readonly string[]>>,
): (source: SourceRecord) => DeadLetter | null {
  const checks = Object.entries(dimensions).map(([path, values]) => ({
    path,
    read: compilePath(path),
    kinds: values.map((value) => (value.endsWith('*') ? { start: value.slice(0, -1) } : { text: value })),
  }));
  return (source) => {
    for (const { path, read, kinds } of checks) {
      const given = read(source);
      // Fast path: most rows have none of these columns.
      if (given === undefined || given === '' || given === null) continue;
      const seen = new Set<object>();
      for (const value of valuesOf(given)) {
        const kind = kinds.find(({ start, text }) =>
          start === undefined ? value === text : value.startsWith(start),
        );
        if (kind === undefined || seen.has(kind)) return finerThanKey(path, value);
        seen.add(kind);
      }
    }
    return null;
  };
}

function finerThanKey(path: string, value: string): DeadLetter {
  const quoted = JSON.stringify(value.length > MAX_QUOTED ? `${value.slice(0, MAX_QUOTED)}…` : value);
  return deadLetter(
    'finer_than_key',
    '',
    `The row is only a part of a day: its ${path} is ${quoted}. Export the report without this breakdown.`,
  );
}

/** The texts of a value or list. Connectors also write lists with commas; dashes mean that there is no value. */
function valuesOf(value: unknown): string[] {
  if (typeof value !== 'string' || !value.startsWith('[')) return textsOf(value);
  try {
    return textsOf(JSON.parse(value));
  } catch {
    return textsOf(value);
  }
}

const textsOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value])
    .flatMap((entry) => (isObject(entry) ? ['an object'] : textOf(entry).split(',')))
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '' && !isAbsentNumber(entry));
