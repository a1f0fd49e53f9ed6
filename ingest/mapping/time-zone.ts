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
  const days = new Map<number, { before: number; after: number; changesAt: number }>();
  const offsetAt = (instant: number) => {
    const number = Math.floor(instant / DAY_MS);
    let day = days.get(number);
    if (day === undefined) {
      if (days.size >= MAX_DAYS) days.clear();
      day = changeOf(number * DAY_MS, exactOffset);
      days.set(number, day);
    }
    return instant < day.changesAt ? day.before : day.after;
  };
  return {
    offsetAt,
    offsetOfLocal(local) {
      const before = offsetAt(local - DAY_MS);
      const after = offsetAt(local + DAY_MS);
      if (before === after) return before;
      const fits = [before, after].filter((offset) => offsetAt(local - offset) === offset);
      return fits.length === 0 ? before : Math.max(...fits);
    },
  };
}

/** The offsets at both ends of a day, and the instant of the change between them: nowhere does a clock change twice in a day. */
function changeOf(midnight: number, offsetAt: (instant: number) => number) {
  const before = offsetAt(midnight);
  const after = offsetAt(midnight + DAY_MS);
  let unchanged = midnight;
  let changesAt = midnight + DAY_MS;
  while (before !== after && changesAt - unchanged > 1000) {
    const middle = Math.floor((unchanged + changesAt) / 2000) * 1000;
    if (offsetAt(middle) === before) unchanged = middle;
    else changesAt = middle;
  }
  return { before, after, changesAt };
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
