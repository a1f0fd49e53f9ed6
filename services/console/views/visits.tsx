import type { Visit } from '../../visits/schema.js';
import { DayBars } from '../components/day-bars.js';
import { EndlessList } from '../components/endless-list.js';
import { Filters } from '../components/filters.js';
import { SavedFiltersButton } from '../components/saved-filters-button.js';
import { SearchBox, SelectFilter, TextFilter } from '../components/search-box.js';
import { NoMatch, NoPermission, NothingYet } from '../components/states.js';
import type { Column } from '../components/table.js';
import { CurlButton, ExportButton } from '../components/toolbar.js';
import { daysBefore, isDate, minute, NONE, plural } from '../format.js';
import { hasParam, href, param } from '../router.js';
import { missingScope, organizationId } from '../session.js';
import { usePages } from '../use-request.js';

const PAGE = 100;
const FILTERS = [
  'audience_id',
  'country',
  'city',
  'browser',
  'platform',
  'ip_address',
  'min_intent_score',
  'has_recording',
  'from',
  'to',
];

/** The request without its days, and the days it is narrowed to. */
function requestOf() {
  const text = ['audience_id', 'country', 'city', 'browser', 'platform', 'ip_address'].filter(
    (name) => param(name) !== '',
  );
  const minIntent = param('min_intent_score');
  const recording = param('has_recording');
  const [from, to] = [param('from'), param('to')].map((day) => (isDate(day) ? day : ''));
  const filters = {
    organization_id: organizationId.value,
    ...(param('query') === '' ? {} : { start_url: param('query') }),
    ...Object.fromEntries(text.map((name) => [name, param(name)])),
    ...(/^-?\d+$/.test(minIntent) ? { min_intent_score: Number(minIntent) } : {}),
    ...(recording === '' ? {} : { has_recording: recording === 'true' }),
  };
  const body = {
    ...filters,
    ...(from ? { created_after: `${from}T00:00:00Z` } : {}),
    // The last day counts as a whole.
    ...(to ? { created_before: `${daysBefore(to, -1)}T00:00:00Z` } : {}),
    limit: PAGE,
  };
  return { filters, body, from: from ?? '', to: to ?? '' };
}

export function Visits() {
  const scope = missingScope('visits:read');
  const { filters, body, from, to } = requestOf();
  const pages = usePages('/api/website-visits/search', scope ? null : body, ({ visits }) => visits);
  if (scope) return <NoPermission scope={scope} what="visits" />;
  return (
    <div class="view">
      <div class="toolbar">
        <h1 class="hidden">Visits</h1>
        <SearchBox label="Search landing pages" />
        <Filters names={FILTERS}>
          <TextFilter name="country" label="Country" />
          <TextFilter name="city" label="City" />
          <TextFilter name="browser" label="Browser" />
          <TextFilter name="platform" label="Platform" />
          <TextFilter name="ip_address" label="IP address" placeholder="83.149.0.0/16" />
          <TextFilter name="audience_id" label="Audience id" />
          <TextFilter name="min_intent_score" label="Intent from" type="number" />
          <SelectFilter
            name="has_recording"
            label="Recording"
            options={[
              ['', 'any'],
              ['true', 'with'],
              ['false', 'without'],
            ]}
          />
          <TextFilter name="from" label="From (UTC)" type="date" />
          <TextFilter name="to" label="To (UTC)" type="date" />
        </Filters>
        <output class="total">{pages.total !== undefined && plural(pages.total, 'visit')}</output>
        <div class="actions">
          <SavedFiltersButton />
          <ExportButton source={{ name: 'visits', path: '/api/website-visits/search', body }} />
          <CurlButton url="/api/website-visits/search" body={body} />
        </div>
      </div>
      <DayBars filters={pages.loading || pages.error ? null : filters} from={from} to={to} />
      <EndlessList
        label="Visits"
        columns={COLUMNS}
        pages={pages}
        keyOf={({ id, createdAt }) => `${id} ${createdAt}`}
        empty={
          hasParam('query', ...FILTERS) ? (
            <NoMatch what="visits" clear={['query', ...FILTERS]} />
          ) : (
            <NothingYet stream="website-visits">This organization has no visits yet.</NothingYet>
          )
        }
      />
    </div>
  );
}

const COLUMNS: readonly Column<Visit>[] = [
  { label: 'Time (UTC)', class: 'time', cell: ({ createdAt }) => minute(createdAt) },
  {
    label: 'Landing page',
    class: 'wide',
    cell: ({ startUrl }) => <PageAddress url={startUrl} />,
  },
  {
    label: 'Audience',
    class: 'third',
    cell: ({ audienceId }) =>
      audienceId === null ? NONE : <a href={href('/audiences', { audience: audienceId })}>{audienceId}</a>,
  },
  { label: 'Intent', class: 'figure', cell: ({ intentScore }) => intentScore ?? NONE },
  {
    label: 'Place',
    class: 'second',
    cell: ({ city, country }) => [city, country].filter(Boolean).join(', ') || NONE,
  },
  {
    label: 'Browser',
    class: 'third',
    cell: ({ browser, platform }) => [browser, platform].filter(Boolean).join(', ') || NONE,
  },
  { label: 'IP address', class: 'third', cell: ({ ipAddress }) => <code>{ipAddress ?? NONE}</code> },
  {
    label: 'Recording',
    class: 'third',
    cell: ({ hasRecording }) => (hasRecording === null ? NONE : hasRecording ? 'yes' : 'no'),
  },
];

/** On a phone without the host, which is the same nearly everywhere. */
function PageAddress({ url }: { url: string | null }) {
  if (url === null) return <>{NONE}</>;
  const [, host, rest] = /^(?:https?:)?\/\/([^/?#]*)(.*)$/.exec(url) ?? [];
  return (
    <span title={url}>
      <span class="host second">{host}</span>
      {rest ?? url}
    </span>
  );
}
