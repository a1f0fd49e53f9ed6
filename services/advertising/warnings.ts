/** Warnings of a report, as `code: sentence` (contract 5.11). The functions have no side effects. */
import { firstFew } from '../shared/text.js';
import { addDays, cutsMonth, earlier } from './calendar.js';
import type { ContextRow } from './context-query.js';
import { isKnownObjective, isKnownStatus, normalizeObjective, normalizeStatus } from './normalization.js';
import type { Filters, ListFilter, ReportParams } from './report-params.js';

export interface WarningFacts {
  report: ReportParams;
  context: ContextRow;
  filters: Filters;
  /** Statuses as written in the request. */
  statuses?: readonly string[] | null;
  objectiveTypes?: readonly string[] | null;
  /** Whether empty periods were left out. */
  sparse: boolean;
  /** Currencies of all matches, including `unknown`. */
  currencies?: readonly string[];
  /** Id of a creative with deliveries in a currency that is not its own. */
  foreignId?: string;
  /** Whether the response shows money. */
  money?: boolean;
  /** Whether the items of the response are ordered by an amount. */
  sortedByAmount?: boolean;
  /** Whether the response shows metrics of companies. */
  companyMetrics?: boolean;
}

export function warningsOf(facts: WarningFacts): string[] {
  const { report, context } = facts;
  const warnings: string[] = [];
  const warn = (code: string, sentence: string) => warnings.push(`${code}: ${sentence}`);
  rangeWarnings(report, context, warn);
  requestWarnings(facts, warn);
  if (facts.sparse) {
    warn('timeseries_sparse', 'The series would be too long, so periods without deliveries are left out.');
  }
  const { currencies = [], money, sortedByAmount, foreignId } = facts;
  const mixed: string[] = [];
  if ((money || sortedByAmount) && currencies.length > 1) {
    const order = sortedByAmount
      ? ', so that items are ordered within each currency, the currency of most items first.'
      : '.';
    mixed.push(
      `Amounts are in different currencies (${firstFew(currencies)}) and are not comparable across campaigns${order}`,
    );
  }
  if (foreignId) {
    mixed.push(
      `Some creatives, such as ${foreignId}, have deliveries under campaigns of other currencies than their own. Only totals have the figures of these deliveries; set currency to convert and include them.`,
    );
  }
  if (mixed.length > 0) warn('mixed_currencies', mixed.join(' '));
  if (facts.companyMetrics) {
    warn(
      'company_metrics_approximate',
      'Networks round or withhold small figures of companies, so they need not add up to those of campaigns.',
    );
  }
  return [...new Set(warnings)].sort();
}

type Warn = (code: string, sentence: string) => void;

function rangeWarnings(
  { range, granularity, today, lastFinalDay }: ReportParams,
  context: ContextRow,
  warn: Warn,
) {
  if (range.end > lastFinalDay) {
    warn('data_provisional', `The network may still restate days after ${lastFinalDay}.`);
  }
  if (range.end > today) {
    warn('range_includes_future', `The range ends after today, ${today} UTC.`);
  }
  const { first_date: first, last_date: last } = context;
  const yesterday = addDays(today, -1);
  const lastAsked = earlier(range.end, yesterday);
  if (range.start <= lastAsked && (last === null || last < lastAsked)) {
    warn(
      'data_delayed',
      last === null ? 'No delivery has arrived yet.' : `No delivery has arrived yet for days after ${last}.`,
    );
  }
  if (first !== null && range.start < first) {
    warn('range_before_first_data', `The first delivery is of ${first}.`);
  }
  if (granularity === 'monthly' && cutsMonth(range)) {
    warn(
      'partial_month',
      'The range begins or ends inside a month; the figures of that month are of its days in the range alone.',
    );
  }
}

function requestWarnings({ filters, context, statuses, objectiveTypes }: WarningFacts, warn: Warn) {
  const unknown = (code: string, what: string, values: readonly string[]) => {
    if (values.length > 0) warn(code, `${what}: ${firstFew(values)}.`);
  };
  unknown(
    'unknown_status',
    'Matches nothing',
    (statuses ?? []).filter(
      (status) => !isKnownStatus(status) && !context.statuses?.includes(normalizeStatus(status)),
    ),
  );
  unknown(
    'unknown_objective_type',
    'Matches nothing',
    (objectiveTypes ?? []).filter(
      (objective) =>
        !isKnownObjective(objective) && !context.objective_types?.includes(normalizeObjective(objective)),
    ),
  );
  const missing = (name: ListFilter) =>
    filters[name]?.filter((value) => !context[name]?.includes(value)) ?? [];
  unknown('unknown_campaign_ids', 'No campaign has the id', missing('campaign_ids'));
  unknown('unknown_creative_ids', 'No creative has the id', missing('creative_ids'));
  unknown('unknown_company_ids', 'No company has the id', [
    ...missing('company_ids'),
    ...missing('network_a_company_ids'),
  ]);
  unknown('unmatched_domains', 'No company has the domain', missing('domains'));
}
