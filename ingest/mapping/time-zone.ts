/** Offsets of IANA time zones, from the rules of Node.js. */
import { didYouMean } from '../../services/shared/did-you-mean.js';
import { DAY_MS } from '../../services/shared/time.js';

export interface TimeZone {
  /** Milliseconds to add to UTC at an instant. */
  offsetAt(instant: number): number;
  /**
   * The offset of a local time, which is passed as if it were UTC. If a local time occurs twice, the first occurrence counts. A local time
   * that a clock change skips moves on by the length of the gap (`compatible` in Temporal, and RFC 5545).
   */
  offsetOfLocal(local: number): number;
}

const UTC: TimeZone = { offsetAt: () => 0, offsetOfLocal: () => 0 };

/** Returns a time zone by its name. Throws a `RangeError` whose message suggests a name. */
export function timeZone(name: string): TimeZone {
  if (/^(?:Etc\/)?(?:UTC|GMT)$|^Z$/i.test(name)) return UTC;
  const format = offsetFormat(name);
  const offsetAt = (instant: number) => {
    // The format is such as "1/1/1850, GMT+00:53:28", and for UTC "GMT".
    const [, sign, ...parts] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(format.format(instant)) ?? [];
    const [hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0));
    return (sign === '-' ? -1000 : 1000) * (hours * 3600 + minutes * 60 + seconds);
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

function offsetFormat(name: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  } catch {
    const hint = didYouMean(name, ['UTC', ...Intl.supportedValuesOf('timeZone')]);
    throw new RangeError(
      `${JSON.stringify(name)} is not a time zone; use a name such as UTC or Europe/Berlin. ${hint}`.trimEnd(),
    );
  }
}
