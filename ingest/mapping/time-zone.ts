/** Offsets of IANA time zones, from the rules that Node.js brings along. */
import { didYouMean } from '../../services/shared/did-you-mean.js';
import { DAY_MS } from '../../services/shared/time.js';

export interface TimeZone {
  /** Milliseconds to add to UTC at an instant. */
  offsetAt(instant: number): number;
  /**
   * The same for a local time, given as if it were UTC. Of a local time that occurs twice, the first occurrence counts; one that a clock
   * change skips is moved on by the length of the gap (`compatible` of Temporal, and RFC 5545).
   */
  offsetOfLocal(local: number): number;
}

const MAX_DAYS = 4096;

const UTC: TimeZone = { offsetAt: () => 0, offsetOfLocal: () => 0 };

/** Throws a `RangeError` whose message suggests a name. */
export function timeZone(name: string): TimeZone {
  if (/^(?:Etc\/)?(?:UTC|GMT)$|^Z$/i.test(name)) return UTC;
  const calendar = calendarOf(name);
  const exactOffset = (instant: number) => {
    const fields: Record<string, number> = {};
    for (const { type, value } of calendar.formatToParts(instant)) fields[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = fields;
    // `Date.UTC` takes years below 100 for those of the 20th century.
    const local = new Date(Date.UTC(2000, month - 1, day, hour, minute, second)).setUTCFullYear(year);
    return local - Math.floor(instant / 1000) * 1000;
  };
  const midnights = new Map<number, number>();
  /** The offset at midnight UTC of a day. */
  const offsetOfDay = (day: number) => {
    let offset = midnights.get(day);
    if (offset === undefined) {
      if (midnights.size >= MAX_DAYS) midnights.clear();
      offset = exactOffset(day * DAY_MS);
      midnights.set(day, offset);
    }
    return offset;
  };
  const offsetAt = (instant: number) => {
    const day = Math.floor(instant / DAY_MS);
    const offset = offsetOfDay(day);
    // Nowhere does a clock change twice in a day.
    return offset === offsetOfDay(day + 1) ? offset : exactOffset(instant);
  };
  return {
    offsetAt,
    offsetOfLocal(local) {
      const day = Math.floor(local / DAY_MS);
      const before = offsetOfDay(day - 1);
      const after = offsetOfDay(day + 2);
      if (before === after) return before;
      const fits = [before, after].filter((offset) => offsetAt(local - offset) === offset);
      return fits.length === 0 ? before : Math.max(...fits);
    },
  };
}

function calendarOf(name: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US-u-ca-iso8601-nu-latn', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    const hint = didYouMean(name, ['UTC', ...Intl.supportedValuesOf('timeZone')]);
    throw new RangeError(
      `${JSON.stringify(name)} is not a time zone; use a name such as UTC or Europe/Berlin. ${hint}`.trimEnd(),
    );
  }
}
