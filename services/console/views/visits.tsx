import { useMemo } from 'preact/hooks';
import type { Visit } from '../../visits/schema.js';
import type { RequestOf } from '../api.js';
import { ColumnsButton, useColumns } from '../components/columns.js';
import { DayBars } from '../components/day-bars.js';
import { EndlessList } from '../components/endless-list.js';
import {
  FilterButton,
  FilterChips,
  type FilterField,
  type FilterValues,
  filterValue,
  namesOf,
} from '../components/filters.js';
import { SearchBox } from '../components/search-box.js';
import { SharedFiltersButton } from '../components/shared-filters-button.js';
import { NoMatch, NoPermission, NothingYet } from '../components/states.js';
import type { Column } from '../components/table.js';
import { CurlButton, ExportButton } from '../components/toolbar.js';
import { daysBefore, minute, NONE, plural } from '../format.js';
import { audienceHref } from '../memberships.js';
import { hasParam, param } from '../router.js';
import { missingScope, organizationId } from '../session.js';
import { shownOf, usePages, useRequest } from '../use-request.js';

const PATH = '/api/website-visits/search';
const PAGE = 100;
/** One request gets the names of up to this many audiences. The others are shown by their ids. */
const NAMED_AUDIENCES = 200;
const FILTERS = [
  { name: 'country', label: 'Country' },
  { name: 'city', label: 'City' },
  { name: 'browser', label: 'Browser' },
  { name: 'platform', label: 'Platform' },
  { name: 'ip_address', label: 'IP address', placeholder: '83.149.0.0/16' },
  { name: 'company_domain', label: 'Company domain' },
  { name: 'audience_id', label: 'Audience id' },
  { name: 'min_intent_score', label: 'Intent from', type: 'number' },
  {
    name: 'has_recording',
    label: 'Recording',
    options: [
      ['true', 'with'],
      ['false', 'without'],
    ],
  },
  { name: 'from', label: 'From (UTC)', type: 'date' },
  { name: 'to', label: 'To (UTC)', type: 'date' },
] as const satisfies readonly FilterField[];
const FILTER_NAMES = namesOf(FILTERS);
const IS_NUMBER = /^-?\d+(?:\.\d+)?$/;

/** The request without its days, and the days that it is narrowed to. */
function requestOf() {
  const values = Object.fromEntries(FILTERS.map((field) => [field.name, filterValue(field)]));
  const { min_intent_score: intent, has_recording: recording, from = '', to = '', ...text } = values;
  const filters = {
    organization_id: organizationId.value,
    ...(param('query') === '' ? {} : { start_url: param('query') }),
    ...Object.fromEntries(Object.entries(text).filter(([, value]) => value !== '')),
    // The server rejects what is no whole number, and says so.
    ...(intent ? { min_intent_score: IS_NUMBER.test(intent) ? Number(intent) : (intent as never) } : {}),
    ...(recording ? { has_recording: recording === 'true' } : {}),
  };
  const body = {
    ...filters,
    ...(from ? { created_after: `${from}T00:00:00Z` } : {}),
    // The last day is included.
    ...(to ? { created_before: `${daysBefore(to, -1)}T00:00:00Z` } : {}),
    limit: PAGE,
  };
  return { filters, body, from, to };
}

/** Filters of a request, with the names of the URL parameters. */
const filterValues = ({
  created_after: from,
  created_before: to,
  ...filters
}: Partial<RequestOf<typeof PATH>>): FilterValues => ({
  ...filters,
  from: from?.slice(0, 10),
  to: to && daysBefore(to.slice(0, 10), 1),
});

export function Visits() {
  const scope = missingScope('visits:read');
  const { filters, body, from, to } = requestOf();
  const pages = usePages(PATH, scope ? null : body, ({ visits }) => visits);
  const cannotName = scope ?? missingScope('audiences:read');
  const named = useRequest('/api/audiences/search', cannotName ? null : { limit: NAMED_AUDIENCES });
  const audiences = shownOf(named)?.data.audiences;
  const allColumns = useMemo(
    () => columnsOf(new Map(audiences?.map(({ id, name }) => [id, name]))),
    [audiences],
  );
  const columns = useColumns('visits', allColumns);
  if (scope) return <NoPermission scope={scope} what="visits" />;
  return (
    <div class="view">
      <div class="toolbar">
        <h1 class="hidden">Visits</h1>
        <SearchBox label="Search landing pages" />
        <FilterButton fields={FILTERS} />
        <div class="actions">
          <ColumnsButton list="visits" columns={allColumns} />
          <SharedFiltersButton
            view="visits"
            filterOf={() => {
              const { organization_id: _, limit: __, ...filter } = requestOf().body;
              return filter;
            }}
            paramsOf={({ start_url: query, has_recording: recording, ...filter }) => ({
              query,
              ...filterValues(filter),
              // A parameter that is false is left out.
              has_recording: recording == null ? null : String(recording),
            })}
          />
          <ExportButton source={{ name: 'visits', path: '/api/website-visits/search', body }} />
          <CurlButton url="/api/website-visits/search" body={body} />
        </div>
      </div>
      <FilterChips
        fields={FILTERS}
        shown={pages.of && filterValues(pages.of)}
        total={pages.total === undefined ? undefined : plural(pages.total, 'visit')}
      />
      <DayBars filters={pages.state === 'current' && !pages.loading ? filters : null} from={from} to={to} />
      <EndlessList
        label="Visits"
        columns={columns}
        pages={pages}
        keyOf={({ id, createdAt }) => `${id} ${createdAt}`}
        empty={
          hasParam('query', ...FILTER_NAMES) ? (
            <NoMatch what="visits" clear={['query', ...FILTER_NAMES]} />
          ) : (
            <NothingYet stream="website-visits">This organization has no visits yet.</NothingYet>
          )
        }
      />
    </div>
  );
}

const columnsOf = (audienceNames: ReadonlyMap<string, string>): readonly Column<Visit>[] => [
  { label: 'Time (UTC)', class: 'time', cell: ({ createdAt }) => minute(createdAt) },
  {
    label: 'Landing page',
    class: 'wide',
    cell: ({ startUrl }) => <PageAddress url={startUrl} />,
  },
  {
    label: 'Audience',
    choice: 'standard',
    class: 'third',
    cell: ({ audienceId }) =>
      audienceId === null ? (
        NONE
      ) : (
        <a href={audienceHref(audienceId)}>{audienceNames.get(audienceId) ?? audienceId}</a>
      ),
  },
  {
    label: 'Company',
    choice: 'standard',
    class: 'second',
    cell: ({ companyDomain }) => companyDomain ?? NONE,
  },
  { label: 'Intent', choice: 'standard', class: 'figure', cell: ({ intentScore }) => intentScore ?? NONE },
  {
    label: 'Place',
    choice: 'standard',
    class: 'second',
    cell: ({ city, country }) => [city, country].filter(Boolean).join(', ') || NONE,
  },
  {
    label: 'Browser',
    choice: 'standard',
    class: 'third',
    cell: ({ browser, platform }) => [browser, platform].filter(Boolean).join(', ') || NONE,
  },
  {
    label: 'IP address',
    choice: 'extra',
    class: 'third',
    cell: ({ ipAddress }) => <code>{ipAddress ?? NONE}</code>,
  },
  {
    label: 'Recording',
    choice: 'extra',
    class: 'third',
    cell: ({ hasRecording }) => (hasRecording === null ? NONE : hasRecording ? 'yes' : 'no'),
  },
];

/** On a phone the host is left out, because it is nearly always the same. */
export function PageAddress({ url }: { url: string | null }) {
  if (url === null) return <>{NONE}</>;
  const [, host, rest] = /^(?:https?:)?\/\/([^/?#]*)(.*)$/.exec(url) ?? [];
  return (
    <span title={url}>
      <span class="host second">{host}</span>
      {rest ?? url}
    </span>
  );
}
