import { useEffect, useState } from 'preact/hooks';
import type { RequestOf } from '../api.js';
import { count, daysBefore, plural, today } from '../format.js';
import { hrefWith } from '../router.js';
import { call } from '../session.js';

const PATH = '/api/website-visits/search';
const MAX_DAYS = 14;
/** The list comes first: the counts wait until a person has stopped typing. */
const DELAY_MS = 300;
const HEIGHT = 48;

type Filters = RequestOf<typeof PATH>;

/** The last days, or the last ones of a range that ended before them, ascending. */
function daysUpTo(to: string): string[] {
  const first = daysBefore(today(), MAX_DAYS - 1);
  const end = to !== '' && to < first ? to : today();
  return Array.from({ length: MAX_DAYS }, (_, index) => daysBefore(end, MAX_DAYS - 1 - index));
}

/** How many visits each day has, by one request a day; a failure is left to the list, which asks the same server. */
function useCounts(filters: Filters | null, days: readonly string[]): ReadonlyMap<string, number> {
  const [counts, setCounts] = useState<ReadonlyMap<string, number>>(new Map());
  const of = filters && JSON.stringify([filters, days]);
  useEffect(() => {
    if (filters === null) return;
    const abort = new AbortController();
    const countOf = async (day: string) => {
      const range = {
        created_after: `${day}T00:00:00Z`,
        created_before: `${daysBefore(day, -1)}T00:00:00Z`,
      };
      const { total_count } = await call(PATH, { ...filters, ...range, limit: 1 }, abort);
      return [day, total_count] as const;
    };
    const load = () =>
      Promise.all(days.map(countOf)).then(
        (entries) => setCounts(new Map(entries)),
        () => undefined,
      );
    const timer = setTimeout(() => void load(), DELAY_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [of]);
  return counts;
}

interface DayBarsProps {
  /** Of the list, without its days; null where there is nothing to count. */
  filters: Filters | null;
  /** The days that the list is narrowed to; empty where it is open. */
  from: string;
  to: string;
}

/** A bar for each day, which narrows the list to that day, and opens it again. */
export function DayBars({ filters, from, to }: DayBarsProps) {
  const days = daysUpTo(to);
  const counts = useCounts(filters, days);
  const most = Math.max(1, ...days.map((day) => counts.get(day) ?? 0));
  return (
    <ol class="days" aria-label="Visits a day">
      {days.map((day) => {
        const visits = counts.get(day);
        const height = ((visits ?? 0) / most) * HEIGHT;
        const label = `${day}: ${visits === undefined ? 'counting' : plural(visits, 'visit')}${day === today() ? ' so far' : ''}`;
        const isOnly = from === day && to === day;
        return (
          <li key={day}>
            <a
              href={hrefWith(isOnly ? { from: null, to: null } : { from: day, to: day })}
              aria-current={isOnly ? 'true' : undefined}
              title={label}
            >
              <svg viewBox={`0 0 10 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
                <rect width="10" y={HEIGHT - height} height={height} />
              </svg>
              <span class="hidden">{label}</span>
              <span class="second" aria-hidden="true">
                {visits === undefined ? '·' : count(visits)}
              </span>
              <span class="note" aria-hidden="true">
                {Number(day.slice(8))}
              </span>
            </a>
          </li>
        );
      })}
    </ol>
  );
}
