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
function daysUpTo(to: string): string[] {
  const first = daysBefore(today(), MAX_DAYS - 1);
  const end = to !== '' && to < first ? to : today();
  return Array.from({ length: MAX_DAYS }, (_, index) => daysBefore(end, MAX_DAYS - 1 - index));
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
  const days = daysUpTo(to);
  const range = {
    created_after: `${days[0]}T00:00:00Z`,
    created_before: `${daysBefore(days.at(-1) ?? today(), -1)}T00:00:00Z`,
  };
  const answer = useRequest(PATH, filters && { ...filters, ...range, limit: 1, facets: ['day'] });
  // While new counts are loading, the previous counts stay, as the rows do.
  const { data } = shownOf(answer) ?? {};
  const counts = new Map(data?.facets?.day?.map(({ value, count }) => [value, count]));
  const most = Math.max(1, ...days.map((day) => counts.get(day) ?? 0));
  if (answer.error) return <Failed what="The visits a day" answer={answer} />;
  return (
    <ol class="days" aria-label="Visits a day" aria-busy={answer.state !== 'current'}>
      {days.map((day) => {
        const visits = data && (counts.get(day) ?? 0);
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
                <span class="second"> {shortPeriod(day).split(' ')[1]}</span>
              </span>
            </a>
          </li>
        );
      })}
    </ol>
  );
}
