import type { RequestOf } from '../api.js';
import { count, daysBefore, plural, shortPeriod, today } from '../format.js';
import { hrefWith } from '../router.js';
import { shownOf, useRequest } from '../use-request.js';
import { Failed } from './states.js';

const PATH = '/api/website-visits/search';
const MAX_DAYS = 14;
const HEIGHT = 48;

type Filters = RequestOf<typeof PATH>;

/** The last days up to a date, ascending. */
function daysUpTo(to: string, most: number): string[] {
  const first = daysBefore(today(), most - 1);
  const end = to !== '' && to < first ? to : today();
  return Array.from({ length: most }, (_, index) => daysBefore(end, most - 1 - index));
}

/** The visits of each of the last days up to a date that match the filters. `null` sends no request. */
export function useVisitDays(filters: Filters | null, to = '', most = MAX_DAYS) {
  const days = daysUpTo(to, most);
  const range = {
    created_after: `${days[0]}T00:00:00Z`,
    created_before: `${daysBefore(days.at(-1) ?? today(), -1)}T00:00:00Z`,
  };
  const answer = useRequest(PATH, filters && { ...filters, ...range, limit: 1, facets: ['day'] });
  // While new counts are loading, the previous counts stay, as the rows do.
  const { data } = shownOf(answer) ?? {};
  const counts = new Map(data?.facets?.day?.map(({ value, count }) => [value, count]));
  return { days: days.map((day) => [day, data && (counts.get(day) ?? 0)] as const), answer };
}

interface DayBarsProps {
  /** Filters of the list without its days. Null until the list has its first response. */
  filters: Filters | null;
  /** First day that the list is narrowed to; empty if it is not narrowed. */
  from: string;
  to: string;
}

/** A bar for each day. A click narrows the list to that day; another click shows all days again. */
export function DayBars({ filters, from, to }: DayBarsProps) {
  const { days, answer } = useVisitDays(filters, to);
  if (answer.error) return <Failed what="The visits a day" answer={answer} />;
  return (
    <Bars
      days={days}
      busy={answer.state !== 'current'}
      only={from === to ? from : ''}
      hrefOf={(day) =>
        hrefWith(from === day && to === day ? { from: null, to: null } : { from: day, to: day })
      }
    />
  );
}

interface BarsProps {
  /** Days and their visits; undefined while they are counted. */
  days: readonly (readonly [day: string, visits: number | undefined])[];
  busy: boolean;
  /** The only day that is listed below. */
  only?: string;
  hrefOf(day: string): string;
}

export function Bars({ days, busy, only, hrefOf }: BarsProps) {
  const most = Math.max(1, ...days.map(([, visits]) => visits ?? 0));
  return (
    <ol class="days" aria-label="Visits a day" aria-busy={busy}>
      {days.map(([day, visits]) => {
        const height = ((visits ?? 0) / most) * HEIGHT;
        const label = `${day}: ${visits === undefined ? 'counting' : plural(visits, 'visit')}${day === today() ? ' so far' : ''}`;
        return (
          <li key={day}>
            <a href={hrefOf(day)} aria-current={only === day ? 'true' : undefined} title={label}>
              <svg viewBox={`0 0 10 ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
                <rect width="10" y={HEIGHT - height} height={height} />
              </svg>
              <span class="hidden">{label}</span>
              <span class="second" aria-hidden="true">
                {visits === undefined ? '·' : count(visits)}
              </span>
              <span class="note" aria-hidden="true">
                {Number(day.slice(8))}
                <span class="second"> {shortPeriod(day).split(' ')[1]}</span>
              </span>
            </a>
          </li>
        );
      })}
    </ol>
  );
}
