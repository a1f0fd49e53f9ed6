import { useLayoutEffect, useState } from 'preact/hooks';
import type { OBJECTIVE_TYPES } from '../../advertising/normalization.js';
import {
  AD_LISTS,
  type AdList,
  answered,
  campaignHref,
  figureColumns,
  oldFigures,
  useAds,
  useMainCurrency,
  words,
} from '../ad-lists.js';
import type { RequestOf } from '../api.js';
import { Charts } from '../components/charts.js';
import { ColumnsButton, useColumns } from '../components/columns.js';
import {
  FilterButton,
  FilterChips,
  type FilterField,
  type FilterValues,
  filterValue,
} from '../components/filters.js';
import { Pager } from '../components/pager.js';
import {
  COMPARISONS,
  type Comparison,
  chartMetrics,
  Granularity,
  MetricPicker,
  ReportControls,
  reportOf,
  reportParams,
  Warnings,
} from '../components/report-controls.js';
import { SavedFiltersButton } from '../components/saved-filters-button.js';
import { SearchBox, SelectFilter } from '../components/search-box.js';
import { Segments } from '../components/segments.js';
import { orderOf, SortedTable } from '../components/sorted-table.js';
import { Failed, NoMatch, NoPermission, NothingYet, Trouble } from '../components/states.js';
import { CurlButton, ExportButton } from '../components/toolbar.js';
import { Totals } from '../components/totals.js';
import { count, plural } from '../format.js';
import { withParts } from '../metrics.js';
import { href, hrefWith, pageParam, param } from '../router.js';
import { missingScope, organizationId } from '../session.js';
import { useRequest } from '../use-request.js';
import { seesCompanies } from '../view-scopes.js';

const PAGE = 25;

/** The most common currencies of campaigns among the reference rates of the European Central Bank. */
const CURRENCIES = [
  'EUR',
  'USD',
  'GBP',
  'CHF',
  'JPY',
  'AUD',
  'CAD',
  'SEK',
  'NOK',
  'DKK',
  'PLN',
  'CZK',
  'INR',
  'BRL',
];

/** In the address: money stays in the currency of each campaign. */
const OWN = 'own';

const isList = (name: string): name is keyof typeof AD_LISTS => Object.hasOwn(AD_LISTS, name);

/** Objectives of the server. A new objective does not compile until it is added here. */
const OBJECTIVES: Record<(typeof OBJECTIVE_TYPES)[number], string> = {
  BRAND_AWARENESS: 'Brand awareness',
  ENGAGEMENT: 'Engagement',
  JOB_APPLICANTS: 'Job applicants',
  LEAD_GENERATION: 'Lead generation',
  WEBSITE_CONVERSIONS: 'Website conversions',
  WEBSITE_VISITS: 'Website visits',
  VIDEO_VIEWS: 'Video views',
};

/** A filter set by a link to the creatives or companies of a campaign. */
export const CAMPAIGN: FilterField = {
  name: 'campaign',
  label: 'Campaign',
  show: (id) => <CampaignName id={id} />,
};
const filtersOf = ({ statuses }: AdList): readonly FilterField[] =>
  statuses.length === 0
    ? []
    : [
        { name: 'status', label: 'Status', options: statuses.map((value) => [value, words(value)]) },
        { name: 'objective', label: 'Objective', options: Object.entries(OBJECTIVES) },
      ];

/** Address of another list, without the parameters of this one. */
const tabHref = (name: string) => {
  const others = ['sort', 'direction', 'page', 'status', 'objective', 'query', 'chart', 'campaign'];
  const tab = name === 'campaigns' ? null : name;
  return hrefWith({ tab, ...Object.fromEntries(others.map((other) => [other, null])) });
};

/** Filters of a request, with the names of the URL parameters. */
const filterValues = (
  of: Partial<RequestOf<AdList['path']>> & {
    statuses?: readonly string[];
    objective_types?: readonly string[];
  } = {},
): FilterValues => ({
  status: of.statuses?.[0],
  objective: of.objective_types?.[0],
  campaign: of.campaign_ids?.[0],
});

/** Says which items a chart adds up, and which it leaves out. */
function chartedText({ one, many }: AdList, items: number, total: number): string {
  const all = plural(items, one, many);
  if (items === total) return `${all} together`;
  return `The ${all} of this page together, without the other ${count(total - items)}`;
}

/** Warnings of a response without items. Days that have no figures are not provisional either. */
const warningsOfNothing = (warnings: readonly string[] = []) =>
  warnings.filter((warning) => !/^(data_provisional|data_delayed):/.test(warning));

export function Advertising() {
  const scope = missingScope('advertising:read');
  const tab = isList(param('tab')) ? param('tab') : 'campaigns';
  const list: AdList = AD_LISTS[tab as keyof typeof AD_LISTS];
  const report = reportOf();
  const charts = chartMetrics(list.available, list.charts);
  const metrics = [...new Set([...list.metrics, ...charts])];
  const allColumns = [...list.columns, ...figureColumns(list, metrics)];
  const columns = useColumns(tab, allColumns);
  const order = orderOf(allColumns, list.order);
  const fields = filtersOf(list);
  const [status = '', objective = ''] = fields.map((field) => filterValue(field));
  const page = pageParam();
  const compared = COMPARISONS.some(([name]) => name === param('compare')) ? param('compare') : '';
  const campaign = param('campaign');
  const hasMoney = list.available.includes('ad_spend');
  const chosen = [...CURRENCIES, OWN].find((code) => code === param('currency'));
  const main = useMainCurrency(scope === null && hasMoney && chosen === undefined);
  /** The last range whose money cannot be converted to the main currency. */
  const [unrated, setUnrated] = useState('');
  const range = `${report.start_date} ${report.end_date}`;
  const standard = unrated === range ? OWN : (main.currency ?? OWN);
  const inForce = chosen ?? standard;
  const currency = hasMoney && inForce !== OWN ? inForce : '';
  const body = {
    organization_id: organizationId.value,
    ...report,
    ...(param('query') === '' ? {} : { search: param('query') }),
    ...(status === '' ? {} : { statuses: [status] }),
    ...(objective === '' ? {} : { objective_types: [objective] }),
    ...(campaign === '' ? {} : { campaign_ids: [campaign] }),
    ...(currency === '' ? {} : { currency }),
    ...(compared === '' ? {} : { compare_to: compared as Comparison }),
    metrics: withParts(metrics),
    ...(order as typeof order & { sort_by: 'name' }),
    page,
    page_size: PAGE,
  };
  const { answer, before, shown } = useAds(list, scope || main.loading ? null : body, charts);
  const lacksRates = chosen === undefined && answer.error?.code === 'missing_rates';
  useLayoutEffect(() => {
    if (lacksRates) setUnrated(range);
  }, [lacksRates, range]);
  const { data, of, items = [] } = shown ?? {};
  const shownCharts = shown ? answered(charts, shown) : charts;
  const totals = (data?.totals ?? []) as readonly Record<string, string | number | null>[];
  const previousTotals = (data?.previous_totals ?? []) as typeof totals;
  const isFiltered = of?.search ?? of?.campaign_ids ?? filterValues(of).status ?? filterValues(of).objective;
  if (scope) return <NoPermission scope={scope} what="advertising" />;
  return (
    <div class="view">
      <div class="toolbar report">
        <h1 class="hidden">Advertising</h1>
        <Segments
          label="Table"
          items={[
            // Companies have a view of their own for keys that may open it.
            ...Object.entries(AD_LISTS)
              .filter(([name]) => name === tab || name !== 'companies' || !seesCompanies())
              .map(([name, { label }]) => [label, tabHref(name), name === tab] as const),
            ['What followed', href('/advertising/influence', reportParams()), false],
          ]}
        />
        <ReportControls report={report} withGranularity={false} />
        <SelectFilter name="compare" label="Compare with" options={[['', 'nothing'], ...COMPARISONS]} />
        {hasMoney && (
          <SelectFilter
            name="currency"
            label="Currency"
            value={inForce}
            options={[
              [OWN, 'of each campaign'],
              ...[...new Set([...(main.currency ? [main.currency] : []), ...CURRENCIES])].map(
                (code) => [code, code] as const,
              ),
            ]}
          />
        )}
      </div>
      {!lacksRates && <Trouble answer={answer} old={shown && oldFigures(shown)} />}
      <Failed what="The earlier figures" answer={before} />
      {items.length > 0 &&
        totals.map((total) => (
          <Totals
            key={total.currency}
            metrics={shown ? answered(metrics, shown) : []}
            answer={data ?? {}}
            label={totals.length > 1 ? String(total.currency ?? 'unknown') : undefined}
            of={total}
            before={previousTotals.find(({ currency }) => currency === total.currency)}
            currency={total.currency as string | null}
          />
        ))}
      <Warnings warnings={items.length > 0 ? (data?.warnings ?? []) : warningsOfNothing(data?.warnings)} />
      {shown && items.length > 0 && (
        <Charts
          metrics={shownCharts}
          periods={shown.periods}
          items={items}
          previous={shown.previousItems}
          weeks={shown.weeks}
          caption={`${chartedText(list, items.length, shown.data.total_count)}, ${shown.granularity === 'monthly' ? 'by month' : 'by day'}.`}
        >
          <Granularity report={report} />
          <MetricPicker available={list.available} chosen={charts} />
        </Charts>
      )}
      <div class="toolbar">
        <SearchBox key={tab} label={`Search ${list.many}`} resets={['page']} />
        {fields.length > 0 && <FilterButton fields={fields} />}
        <div class="actions">
          <ColumnsButton list={tab} columns={allColumns} />
          <SavedFiltersButton />
          <ExportButton source={{ name: tab, path: list.path, body: { ...body, metrics } }} />
          <CurlButton url={list.path} body={body} />
        </div>
      </div>
      <FilterChips
        fields={[...fields, CAMPAIGN]}
        shown={of && filterValues(of)}
        total={data && plural(data.total_count, list.one, list.many)}
      />
      {data?.total_count === 0 &&
        (isFiltered ? (
          <NoMatch what={list.many} clear={['query', 'status', 'objective', 'campaign', 'page']} />
        ) : (
          <NothingYet stream="network-a-deliveries">There are no {list.many} in this range.</NothingYet>
        ))}
      {(data === undefined ? answer.state === 'none' : data.total_count > 0) && (
        <SortedTable
          label={list.label}
          columns={columns}
          order={of ?? order}
          rows={data && items}
          keyOf={({ id }) => id}
          busy={answer.loading}
        />
      )}
      {data && of && data.total_count > 0 && (
        <Pager page={of.page ?? 1} pageSize={PAGE} total={data.total_count} one={list.one} many={list.many} />
      )}
    </div>
  );
}

function CampaignName({ id }: { id: string }) {
  const answer = useRequest('/api/advertising/network_a/campaigns', {
    ...reportOf(),
    campaign_ids: [id],
    metrics: ['impressions'],
    granularity: 'monthly',
  });
  return <a href={campaignHref(id)}>{(answer.state === 'current' && answer.data.items[0]?.name) || id}</a>;
}
