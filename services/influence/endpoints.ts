/** Which companies were exposed to ads, and what came after. Nothing is stored, so every response counts what is there now. */

import { daysBetween } from '../advertising/calendar.js';
import { adTotalsQuery, CAMPAIGNS } from '../advertising/campaign-queries.js';
import { isProvisional } from '../advertising/items.js';
import { type AdvertisingServices, exampleRange } from '../advertising/operation.js';
import { contextOf, reportParamsOf, run, withSealedMonths } from '../advertising/page.js';
import { filtersOf, MAX_DAYS, parsePage, type ReportParams } from '../advertising/report-params.js';
import { warningsOf } from '../advertising/warnings.js';
import { readInParts } from '../companies/order.js';
import { SUMS, type Sums } from '../companies/queries.js';
import { endpointsWith, type HandlerContext, type MatchPage, type ParsedBody } from '../http/endpoint.js';
import { Problem } from '../http/problems.js';
import { DOMAIN_RECORDS, type DomainActivityStore, type DomainRecords } from '../search/domain-activity.js';
import { withOwnSignal } from '../shared/async.js';
import { DAY_MS, formatTimestamp } from '../shared/time.js';
import {
  type CampaignRow,
  campaignsQuery,
  type ExposureRow,
  type ExposureSearch,
  exposuresQuery,
} from './exposure-queries.js';
import {
  type Influence,
  isInfluenced,
  isNewlyInfluenced,
  joinOutcomes,
  outcomeSpan,
  sortInfluences,
  weeksOf,
} from './outcomes.js';
import {
  DEFAULT_DAYS,
  DEFAULT_THRESHOLDS,
  InfluenceItem,
  InfluenceRequest,
  InfluenceResponse,
  MAX_RANGE_DAYS,
} from './schema.js';

export interface InfluenceServices extends AdvertisingServices {
  records: DomainActivityStore;
}

type Call = HandlerContext<ParsedBody<typeof InfluenceRequest>, unknown, InfluenceServices>;

const MAX_COMPANIES = 20_000;
const MAX_OUTCOME_DAYS = 200_000;
const EVIDENCE = { ids: 10, campaigns: 20 };

/**
 * Runs a part of the work with a signal that ends with this part. Stores then need not keep room for its results until the request ends.
 */
const apart = <T>(call: Call, work: (part: Call) => Promise<T>): Promise<T> =>
  withOwnSignal(call.signal, (signal) => work({ ...call, signal }));

const tooMany = (code: 'too_many_companies' | 'too_many_outcomes', detail: string) =>
  new Problem(code, detail, { errors: [{ pointer: '/end_date', code, detail }] });

/** The request with its defaults, and the times that it reads. */
function paramsOf(call: Call) {
  const { body, organizationId } = call;
  const days = daysBetween(body.start_date, body.end_date);
  const tooLong = {
    pointer: '/end_date',
    code: 'range_too_long',
    detail: `A range has at most ${MAX_RANGE_DAYS} days: end_date must be at most ${MAX_RANGE_DAYS - 1} days after start_date.`,
  };
  const isTooLong = days >= MAX_RANGE_DAYS && days < MAX_DAYS;
  const report = reportParamsOf(call, ['ad_spend'], isTooLong ? [tooLong] : []);
  const lookback = body.lookback_days ?? DEFAULT_DAYS;
  const outcome = body.outcome_days ?? DEFAULT_DAYS;
  const { campaign_ids: campaignIds } = filtersOf({ campaign_ids: body.campaign_ids });
  const thresholds: Partial<Sums> = body.thresholds ?? DEFAULT_THRESHOLDS;
  const search: ExposureSearch = {
    organizationId,
    range: report.range,
    lookbackDays: lookback,
    thresholds,
    campaignIds,
  };
  const span = {
    from: Date.parse(body.start_date),
    before: Date.parse(body.end_date) + (outcome + 1) * DAY_MS,
  };
  return { report, search, days: { lookback, outcome }, span, kinds: body.outcomes ?? DOMAIN_RECORDS };
}
type Params = ReturnType<typeof paramsOf>;

/** All exposed domains with their outcomes, in order. Throws 422 `too_many_companies` and `too_many_outcomes`. */
async function readInfluences(call: Call, { search, days, kinds }: Params) {
  const { sort_by: by = 'exposed_on', sort_direction: direction } = call.body;
  const { rows } = await run<ExposureRow>(
    call,
    exposuresQuery(search, MAX_COMPANIES + 2, by === 'impressions'),
  );
  const exposures = rows.filter(({ domain }) => domain !== '');
  if (exposures.length > MAX_COMPANIES) {
    throw tooMany(
      'too_many_companies',
      `More than ${MAX_COMPANIES} companies were exposed; shorten the range, raise the thresholds, or name campaign_ids.`,
    );
  }
  // Both kinds, because they say whether a company was known before, whichever outcomes are requested.
  const read = (kind: DomainRecords, daysBefore: number) => {
    const windows = exposures.map((exposure) => {
      const { from, before } = outcomeSpan(exposure, days);
      const ends = kinds.includes(kind) ? before : from;
      return { domain: exposure.domain, from: from - daysBefore * DAY_MS, before: ends };
    });
    const query = { windows, countsEarlier: kind === 'contacts', limit: MAX_OUTCOME_DAYS + 1 };
    const { organizationId, services, signal } = call;
    return windows.length > 0
      ? services.records.countDomainDays(kind, { organizationId, ...query }, signal)
      : [];
  };
  const [contacts, visits] = await Promise.all([read('contacts', 1), read('visits', days.lookback)]);
  if (contacts.length + visits.length > MAX_OUTCOME_DAYS) {
    throw tooMany(
      'too_many_outcomes',
      `The exposed companies have contacts or visits on more than ${MAX_OUTCOME_DAYS} days together; shorten the range, raise the thresholds, or name campaign_ids.`,
    );
  }
  const items = joinOutcomes(exposures, { contacts, visits }, days, kinds);
  return {
    items: sortInfluences(items, by ?? 'exposed_on', direction !== 'asc'),
    companiesWithoutDomain: rows.find(({ domain }) => domain === '')?.exposed ?? 0,
  };
}

/** The ids of the outcomes of some items. */
const oldest = (call: Call, { days, kinds }: Params, kind: DomainRecords, items: readonly Influence[]) =>
  kinds.includes(kind) && items.length > 0
    ? call.services.records.findOldest(
        kind,
        {
          organizationId: call.organizationId,
          windows: items.map((item) => ({ domain: item.domain, ...outcomeSpan(item, days) })),
          limit: EVIDENCE.ids,
        },
        call.signal,
      )
    : [];

/** Items of the response, with their evidence. */
async function withEvidence(
  call: Call,
  params: Params,
  items: readonly Influence[],
): Promise<InfluenceItem[]> {
  const [contactIds, visitIds, campaigns] = await Promise.all([
    oldest(call, params, 'contacts', items),
    oldest(call, params, 'visits', items),
    items.length > 0
      ? run<CampaignRow>(call, campaignsQuery(params.search, items, EVIDENCE.campaigns))
      : { rows: [] },
  ]);
  const campaignsOf = new Map<string, CampaignRow[]>();
  for (const row of campaigns.rows) {
    const known = campaignsOf.get(row.domain);
    if (known) known.push(row);
    else campaignsOf.set(row.domain, [row]);
  }
  return items.map((item, index) => {
    const { domain, first } = item;
    const rows = campaignsOf.get(domain) ?? [];
    const exposure = {
      impressions: rows[0]?.all_impressions ?? 0,
      clicks: rows[0]?.all_clicks ?? 0,
      engagements: rows[0]?.all_engagements ?? 0,
    };
    const evidence = {
      contact_ids: contactIds[index] ?? [],
      visit_ids: visitIds[index] ?? [],
      campaigns: rows.map(({ campaign_id, name, impressions, clicks, engagements }) => ({
        ...{ campaign_id, name, impressions, clicks, engagements },
      })),
    };
    const firstId = first && (first.kind === 'contact' ? evidence.contact_ids : evidence.visit_ids)[0];
    return {
      domain,
      name: item.name,
      company_ids: item.company_ids,
      exposed_on: item.exposed_on,
      reached_by: SUMS.filter(
        (metric) => exposure[metric] >= (params.search.thresholds[metric] ?? Number.POSITIVE_INFINITY),
      ),
      exposure,
      known_before: item.knownBefore,
      influenced: isInfluenced(item),
      contacts: item.contacts,
      visits: item.visits,
      // The outcome may have been deleted since it was counted.
      first_outcome:
        first && firstId !== undefined && firstId !== null
          ? { kind: first.kind, id: firstId, at: formatTimestamp(first.at) }
          : null,
      evidence,
    };
  });
}

/** The money that the campaigns spent on the days that count into exposures, by currency. */
async function readSpend(call: Call, { report, search, days }: Params) {
  const start = Math.max(Date.parse(report.range.start) - (days.lookback - 1) * DAY_MS, 0);
  const range = { ...report.range, start: formatTimestamp(start).slice(0, 10) };
  const filters = filtersOf({ campaign_ids: search.campaignIds });
  const spent: ReportParams = await withSealedMonths(call, { ...report, range }, 'creative');
  const { rows } = await run<{ currency: string | null; ad_spend: string }>(
    call,
    adTotalsQuery(CAMPAIGNS as never, spent, filters),
  );
  return rows.map(({ currency, ad_spend }) => ({ currency, ad_spend: String(ad_spend) }));
}

/** Columns of CSV: the plain fields of an item, its sums, and when the first outcome came. */
const CSV_COLUMNS = [
  ...['domain', 'name', 'company_ids', 'exposed_on', 'reached_by', ...SUMS, 'known_before'],
  ...['influenced', 'contacts', 'visits', 'first_outcome_at'],
];
const flattened = ({ exposure, first_outcome: first, ...item }: InfluenceItem) => ({
  ...item,
  ...exposure,
  first_outcome_at: first?.at ?? null,
});

export const influence = endpointsWith<InfluenceServices>()({
  path: '/api/advertising/network_a/influence',
  name: 'Influence',
  summary: 'Find the companies that were exposed to ads, and what came after',
  description:
    'A company is exposed on the first day on which its sums over `lookback_days` reach a threshold. Contacts and visits count from the day after until `outcome_days` after it. The response says what came *after* an exposure, never that it came because of it. `known_before` says whether the company was known before, and `evidence` names what the numbers are made of. Nothing is stored: a restatement or an erasure changes the next response.',
  tag: 'Advertising',
  scope: ['advertising:read', 'visits:read', 'contacts:read'],
  slots: () => 4,
  request: InfluenceRequest,
  response: InfluenceResponse,
  get example(): InfluenceRequest {
    return { ...exampleRange(), sort_by: 'visits', page_size: 1 };
  },
  problems: ['too_many_companies', 'too_many_outcomes'],
  list: {
    item: InfluenceItem,
    pageFields: ['page', 'page_size'],
    columns: () => CSV_COLUMNS,
    async readPage(call, next, format): Promise<MatchPage> {
      const params = paramsOf(call);
      return readInParts(
        next,
        async () => (await apart(call, (part) => readInfluences(part, params))).items,
        async (some) => {
          const items = await withEvidence(call, params, some);
          return format === 'csv' ? items.map(flattened) : items;
        },
      );
    },
  },
  async handle(call) {
    const params = paramsOf(call);
    const { report, span, search, kinds } = params;
    const { page, size } = parsePage(call.body);
    const count = async (kind: DomainRecords) =>
      kinds.includes(kind)
        ? apart(call, ({ services, organizationId, signal }) =>
            services.records.countPlaced(kind, organizationId, span, signal),
          )
        : { all: 0, withoutDomain: 0 };
    const filters = filtersOf({ campaign_ids: search.campaignIds });
    const [{ items, companiesWithoutDomain }, contacts, visits, spend, context] = await Promise.all([
      apart(call, (part) => readInfluences(part, params)),
      count('contacts'),
      count('visits'),
      apart(call, (part) => readSpend(part, params)),
      apart(call, (part) => contextOf(part, report, filters)),
    ]);
    const sum = (kind: DomainRecords) => items.reduce((total, item) => total + item[kind], 0);
    return {
      start_date: report.range.start,
      end_date: report.range.end,
      items: await withEvidence(call, params, items.slice((page - 1) * size, page * size)),
      page,
      page_size: size,
      total_count: items.length,
      totals: {
        exposed: items.length,
        influenced: items.filter(isInfluenced).length,
        newly_influenced: items.filter(isNewlyInfluenced).length,
        outcomes: {
          contacts: { after_exposure: sum('contacts'), all: contacts.all },
          visits: { after_exposure: sum('visits'), all: visits.all },
        },
        without_domain: {
          companies: companiesWithoutDomain,
          contacts: contacts.withoutDomain,
          visits: visits.withoutDomain,
        },
        spend,
        weeks: weeksOf(items, span),
      },
      complete: span.before <= call.services.clock.now(),
      provisional: isProvisional(report),
      warnings: warningsOf({
        report,
        context,
        filters,
        sparse: false,
        money: true,
        currencies: spend.map(({ currency }) => currency ?? 'unknown'),
        companyMetrics: items.length > 0,
      }),
    };
  },
});

export const influenceEndpoints = [influence];
