/** Whether what a tab shows belongs to one request, to its labels, to its session, and adds up. */
import { DAY_MS, utcDate } from '../../../services/shared/time.js';
import type { Exchange } from './proxy.js';
import type { Screen, ShownChart, ShownTable } from './screen.js';
import type { Organization } from './world.js';

type Request = Record<string, unknown>;
type Item = Record<string, unknown>;

const texts = (row: readonly string[] | undefined, index: number) => row?.[index] ?? '';
const number = (text: string) => Number(text.replace(/[^\d.-]/g, ''));

/** Words by which a page says that something it shows does not belong to its labels. */
const OLD = /\b(old|older|earlier|outdated|out of date|of before)\b|^These figures are for /i;

const saysOld = ({ notes }: Screen) =>
  notes.some((note) => OLD.test(note) && !/^(?:\w+ )?against /i.test(note));

/** What the labels of a list mean, as the API names it. */
export interface Meaning {
  path: string;
  table: string;
  request: Request;
}

const CHIPS: Record<string, Record<string, string>> = {
  '/contacts': { Country: 'country', 'Job title': 'job_title', Company: 'company_name', City: 'city' },
  '/visits': { Country: 'country', Browser: 'browser', City: 'city' },
  '/advertising': { Status: 'status', Objective: 'objective' },
};
const SORTS: Record<string, Request> = {
  newest: {},
  oldest: { sort_by: 'created_at', sort_direction: 'asc' },
  'last changed': { sort_by: 'updated_at', sort_direction: 'desc' },
  'last name': { sort_by: 'last_name', sort_direction: 'asc' },
  company: { sort_by: 'company_name', sort_direction: 'asc' },
};
const HEADS: Record<string, string> = {
  Spend: 'ad_spend',
  Impressions: 'impressions',
  Clicks: 'clicks',
  Campaign: 'name',
  Creative: 'name',
  Status: 'status',
};
const COMPARISONS: Record<string, string | undefined> = {
  nothing: undefined,
  'the days before': 'previous_period',
  'the month before': 'previous_month',
  'the year before': 'previous_year',
};
const AD_TABS: Record<string, string> = {
  Campaigns: 'campaigns',
  Creatives: 'creatives',
};

export const viewOf = ({ url }: Pick<Screen, 'url'>) =>
  new URL(url, 'http://x').pathname.replace(/^\/console/, '');
const paramsOf = ({ url }: Screen) => Object.fromEntries(new URL(url, 'http://x').searchParams);

function chipsOf(screen: Screen): Request {
  const names = CHIPS[viewOf(screen)] ?? {};
  return Object.fromEntries(
    screen.chips.map((chip) => {
      const [label = '', value = ''] = chip.split(/: (.*)/s);
      return [names[label] ?? label, value];
    }),
  );
}

const defined = (request: Request): Request =>
  Object.fromEntries(
    Object.entries(request)
      .filter(([, value]) => value !== undefined && value !== '' && value !== null)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
const same = (a: Request, b: Request) => JSON.stringify(defined(a)) === JSON.stringify(defined(b));

/** The meaning of the labels; undefined in a view without a list that is judged. */
export function meaningOf(screen: Screen): Meaning | undefined {
  const query = screen.query?.trim();
  const chips = chipsOf(screen);
  switch (viewOf(screen)) {
    case '/contacts':
      return {
        path: '/api/contacts/search',
        table: 'Contacts',
        request: { query, ...chips, ...(query ? {} : SORTS[screen.choices.Sort ?? 'newest']) },
      };
    case '/visits':
      return { path: '/api/website-visits/search', table: 'Visits', request: visitRequest(query, chips) };
    case '/audiences':
      return {
        path: '/api/audiences/search',
        table: 'Audiences',
        request: { query },
      };
    case '/advertising': {
      const table = screen.tab ?? 'Campaigns';
      const [, head = '', order = ''] =
        /^(.*) (ascending|descending)$/.exec(
          screen.tables.find(({ label }) => label === table)?.sorted ?? '',
        ) ?? [];
      const currency = screen.choices.Currency;
      const { status, objective } = chips as Record<string, string>;
      return {
        path: `/api/advertising/network_a/${AD_TABS[table]}`,
        table,
        request: {
          search: query,
          start_date: screen.from,
          end_date: screen.to,
          granularity: screen.granularity?.toLowerCase(),
          statuses: status?.toUpperCase(),
          objective_types: objective?.toUpperCase().replaceAll(' ', '_'),
          compare_to: COMPARISONS[screen.choices['Compare with'] ?? 'nothing'],
          currency: currency === undefined || currency.length > 3 ? undefined : currency,
          ...(head === ''
            ? {}
            : { sort_by: HEADS[head] ?? head, sort_direction: order.replace('ending', '') }),
        },
      };
    }
    default:
      return undefined;
  }
}

function visitRequest(query: string | undefined, chips: Request): Request {
  const { 'From (UTC)': from, 'To (UTC)': to, ...others } = chips as Record<string, string>;
  const next = to && new Date(Date.parse(to) + 86_400_000).toISOString().slice(0, 10);
  return {
    start_url: query,
    ...others,
    created_after: from && `${from}T00:00:00Z`,
    created_before: next && `${next}T00:00:00Z`,
  };
}

const PASSING = [
  'organization_id',
  'limit',
  'explain',
  'cursor',
  'facets',
  'include_counts',
  'page',
  'page_size',
  'metrics',
  'campaign_ids',
];

/** The request without the fields that the labels of a view do not show: paging, and the default order of contacts. */
function saidBy(path: string, body: Request): Request {
  const request = { ...body };
  for (const name of PASSING) delete request[name];
  if (
    path === '/api/contacts/search' &&
    request.sort_by === 'created_at' &&
    request.sort_direction === 'desc'
  ) {
    delete request.sort_by;
    delete request.sort_direction;
  }
  for (const [name, value] of Object.entries(request)) if (Array.isArray(value)) request[name] = value.join();
  return request;
}

/** Differences between the address and the labels, for the parameters that have a label in the view. */
function addressFaults(screen: Screen): string[] {
  const params = paramsOf(screen);
  const shown: [name: string, label: string | undefined][] = [
    ['query', screen.query?.trim()],
    ['country', chipsOf(screen).country as string | undefined],
  ];
  const { Currency: currency } = screen.choices;
  const faults = shown.flatMap(([name, label = '']) =>
    (params[name] ?? '') === label
      ? []
      : [`the address says ${name}=${params[name]}, and the label ${label}`],
  );
  if (currency !== undefined && !currenciesOf(params.currency).includes(currency))
    faults.push(`the address says currency=${params.currency}, and the label ${currency}`);
  return faults;
}

/** Labels of the currency that an address may lead to. Most campaigns are in dollars; if dollars have no rates, money stays as it is. */
function currenciesOf(name: string | undefined): string[] {
  if (name === undefined) return ['USD', 'of each campaign'];
  return [name === 'own' ? 'of each campaign' : name];
}

const FORMATS = new Map<unknown, Intl.NumberFormat>();

function money(value: unknown, currency: unknown): string {
  if (value === null || value === undefined) return '–';
  let format = FORMATS.get(currency);
  if (!format) {
    const inCurrency = { style: 'currency', currency: String(currency) } as const;
    const plain = { minimumFractionDigits: 2, maximumFractionDigits: 2 };
    format = new Intl.NumberFormat('en', currency ? inCurrency : plain);
    FORMATS.set(currency, format);
  }
  return format.format(value as `${number}`);
}

const fullName = ({ first_name, last_name }: Item) => [first_name, last_name].filter(Boolean).join(' ');

/** Texts of the table in which a response would be drawn, by column heading. */
function rowsOf(path: string, answer: Item, request: Request): Record<string, string[]> {
  const list = (name: string) => (answer[name] ?? []) as Item[];
  if (path === '/api/contacts/search') return { Name: list('contacts').map(fullName) };
  if (path === '/api/website-visits/search')
    return {
      'Time (UTC)': list('visits').map(({ createdAt }) => String(createdAt).slice(0, 16).replace('T', ' ')),
    };
  if (path === '/api/audiences/search') {
    const audiences = list('audiences');
    return {
      Name: audiences.map(({ name }) => String(name)),
      Members: audiences.map(({ member_count }) => Number(member_count).toLocaleString('en')),
    };
  }
  const items = list('items');
  return {
    [path.endsWith('campaigns') ? 'Campaign' : path.endsWith('creatives') ? 'Creative' : 'Company']:
      items.map(({ id, name, headline, domain }) => String(name ?? headline ?? domain ?? id)),
    ...(path.endsWith('companies')
      ? {}
      : { Spend: items.map(({ ad_spend, currency }) => money(ad_spend, request.currency ?? currency)) }),
    Impressions: items.map(({ impressions }) => Number(impressions).toLocaleString('en')),
  };
}

/** A figure may be followed by its change. */
const isFigure = (shown: string, figure: string) => shown === figure || shown.startsWith(`${figure} `);

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `28 Oct – 26 Nov 2026`, as ranges are written. */
function rangeOf(start: unknown, end: unknown): string {
  const [first, last] = [start, end].map((date) => {
    const [year = '', month = '', day = ''] = String(date).split('-');
    return { year, text: `${Number(day)} ${MONTHS[Number(month) - 1]}` };
  }) as [{ year: string; text: string }, { year: string; text: string }];
  const year = first.year === last.year ? '' : ` ${first.year}`;
  return `${first.text}${year} – ${last.text} ${last.year}`;
}

/** Whether rows, count, totals, chips and ranges of the screen all belong to this request and its response. */
function explains(screen: Screen, table: ShownTable, exchange: Exchange): boolean {
  const { path, body, answer = {} } = exchange;
  for (const [head, expected] of Object.entries(rowsOf(path, answer, body))) {
    const index = table.heads.indexOf(head);
    if (index < 0) continue;
    // The first rows of a long list are always drawn.
    const most = table.hasGaps ? 50 : expected.length;
    for (let row = 0; row < Math.min(most, expected.length); row++)
      if (!isFigure(texts(table.rows[row], index), expected[row] ?? '')) return false;
    if (table.rows.length < Math.min(most, expected.length)) return false;
    // If the response has a cursor, the table may also show further pages.
    if (!answer.next_cursor && !table.hasGaps && table.rows.length !== expected.length) return false;
  }
  if (screen.count !== undefined && number(screen.count) !== answer.total_count) return false;
  return (
    totalsExplained(screen, answer) && chipsExplained(screen, exchange) && rangesExplained(screen, exchange)
  );
}

function totalsExplained(screen: Screen, answer: Item): boolean {
  const totals = (answer.totals ?? []) as Item[];
  if (screen.totals.length === 0) return true;
  return (
    screen.totals.length === totals.length &&
    screen.totals.every((shown, index) =>
      shown.every(
        ([label, figure]) =>
          label !== 'Spend' || isFigure(figure, money(totals[index]?.ad_spend, totals[index]?.currency)),
      ),
    )
  );
}

/** Whether the chips belong to the shown response, which may be old. Chips of a request that is still running are busy. */
function chipsExplained(screen: Screen, { body }: Exchange): boolean {
  const { statuses: [status] = [], objective_types: [objective] = [] } = body as Record<string, string[]>;
  const filters: Request = { ...body, status, objective };
  const chips = chipsOf(screen);
  const plain = (value: unknown) =>
    String(value ?? '')
      .toUpperCase()
      .replaceAll(' ', '_');
  return Object.values(CHIPS[viewOf(screen)] ?? {}).every(
    (name) => plain(chips[name]) === plain(filters[name]),
  );
}

/** The range that figures are compared with, and the range that old figures belong to. */
function rangesExplained(screen: Screen, { body, answer = {} }: Exchange): boolean {
  const { previous_start_date: start, previous_end_date: end } = answer;
  const earlier = start && end ? rangeOf(start, end) : undefined;
  const own = `${rangeOf(body.start_date, body.end_date)}${body.currency ? `, in ${body.currency}` : ''}`;
  return (
    screen.comparisons.every((text) => earlier !== undefined && text.includes(`gainst ${earlier}.`)) &&
    screen.notes.every((note) => {
      const [, of] = /^These figures are for (.*?)\.(?: |$)/.exec(note) ?? [];
      return of === undefined || of === own;
    })
  );
}

export interface Judged {
  /** The request whose response is shown. */
  shown: Exchange | undefined;
  /** Whether the page gives no hint that it is old, loading or failed. */
  isCurrent: boolean;
  faults: string[];
}

/** Checks that the main list, its count, its totals and its actions come from one response, and that this response matches the labels. */
export function judgeList(screen: Screen, exchanges: readonly Exchange[], key: string): Judged {
  const meaning = meaningOf(screen);
  const table = screen.tables.find(({ label }) => label === meaning?.table);
  const none: Judged = { shown: undefined, isCurrent: false, faults: [] };
  if (!meaning || screen.asksForKey) return none;
  const isMarked = table?.isBusy === true || saysOld(screen);
  const address = isMarked ? [] : addressFaults(screen);
  const asked = exchanges.filter(
    ({ path, answer, key: its, body }) =>
      path === meaning.path &&
      its === key &&
      answer !== undefined &&
      body.cursor === undefined &&
      !body.facets,
  );
  const ofLabels = asked.filter(({ path, body }) => same(saidBy(path, body), meaning.request));
  const faults = [...address];
  const selectAll = screen.selectAll && number(screen.selectAll);
  if (selectAll !== undefined && !ofLabels.some(({ answer }) => answer?.total_count === selectAll))
    faults.push(
      `"${screen.selectAll}" is offered, which no answer to ${JSON.stringify(meaning.request)} has`,
    );
  if (!table || table.rows.length === 0) {
    if (screen.count !== undefined && screen.alerts.length === 0 && !isMarked) {
      if (!ofLabels.some(({ answer }) => answer?.total_count === number(screen.count ?? '')))
        faults.push(`"${screen.count}" is of no answer to ${JSON.stringify(meaning.request)}`);
    }
    return { shown: undefined, isCurrent: false, faults };
  }
  if (table.isBusy && table.rows.every((row) => row.every((cell) => cell === ''))) return { ...none, faults };
  const explaining = asked.filter((exchange) => explains(screen, table, exchange));
  if (explaining.length === 0) {
    const first = table.rows[0]?.join(' | ');
    faults.push(
      `no answer of this session has rows, count, totals, chips and ranges as they are shown together: ${screen.count}; ${first}; ${JSON.stringify([screen.chips, screen.comparisons, screen.notes, screen.totals]).slice(0, 600)}`,
    );
    return { shown: undefined, isCurrent: !isMarked, faults };
  }
  const shown =
    explaining.findLast(({ path, body }) => same(saidBy(path, body), meaning.request)) ?? explaining.at(-1);
  if (shown && !isMarked && !ofLabels.includes(shown)) {
    const of = JSON.stringify(defined(saidBy(shown.path, shown.body)));
    const labels = JSON.stringify(defined(meaning.request));
    faults.push(`the list is of ${of}, its labels say ${labels}, and nothing says that it is old`);
  }
  return { shown, isCurrent: !isMarked && screen.alerts.length === 0, faults };
}

/** Facets of days are requested separately from the list. */
export function judgeDays(screen: Screen, exchanges: readonly Exchange[], key: string): string[] {
  const meaning = meaningOf(screen);
  const counted = screen.days.filter((day) => !day.includes('counting'));
  if (viewOf(screen) !== '/visits' || counted.length === 0 || !meaning) return [];
  if (screen.tables.some(({ label, isBusy }) => label === 'Visits' && isBusy) || saysOld(screen)) return [];
  const { created_after: _, created_before: __, ...filters } = meaning.request;
  const isOf = ({ path, body, answer, key: its }: Exchange) => {
    if (path !== meaning.path || its !== key || !answer || !(body.facets as string[])?.includes('day'))
      return false;
    const { created_after: ___, created_before: ____, ...its_filters } = saidBy(path, body);
    if (!same(its_filters, filters)) return false;
    const facets = (answer.facets as { day: { value: string; count: number }[] }).day;
    const counts = new Map(facets.map(({ value, count }) => [value, count]));
    return counted.every(
      (day) => number(day.slice(11).replace(/ visit.*/, '')) === (counts.get(day.slice(0, 10)) ?? 0),
    );
  };
  if (exchanges.some(isOf)) return [];
  return [
    `the bars (${counted[3]}, ${counted[4]} …) are of no answer to ${JSON.stringify(filters)}, and nothing says so`,
  ];
}

/** Checks that the count of selected contacts equals the number of ticked rows. */
export function judgeSelection(screen: Screen): string[] {
  const { selection } = screen;
  const table = screen.tables.find(({ label }) => label === 'Contacts');
  const selected =
    selection === undefined ? 0 : number(/^[\d,]+ contacts? selected/.exec(selection)?.[0] ?? '0');
  if (selected === 0 || !table || table.hasGaps) return [];
  const isAll = table.checked === table.rows.length && selected === number(screen.count ?? '');
  if (isAll || table.checked === selected) return [];
  return [`"${selection}", ${table.checked} of ${table.rows.length} rows are ticked, of ${screen.count}`];
}

/** Days or months of a range, as charts name them. */
export function periodsOf(from: string, to: string, granularity: 'daily' | 'monthly'): string[] {
  const days: string[] = [];
  for (let time = Date.parse(from); time <= Date.parse(to); time += DAY_MS) days.push(utcDate(time));
  return granularity === 'daily' ? days : [...new Set(days.map((day) => day.slice(0, 7)))];
}

/** Checks that charts sum to the totals above them, and that charts of the earlier range sum to what the comparison says. */
export function judgeCharts(
  screen: Screen,
  charts: readonly ShownChart[],
  periods: readonly string[],
): string[] {
  // Further pages have the rest, and the caption says so.
  if (screen.totals.length === 0 || screen.notes.some((note) => /of this page together, without/.test(note)))
    return [];
  return charts.flatMap(({ label, values }) => {
    const missing = periods.findIndex((period, index) => !values[index]?.startsWith(`${period}: `));
    if (missing >= 0)
      return [`the chart ${label} has no ${periods[missing]}, but ${values[missing] || 'nothing'}`];
    const [metric = '', currency] = label.split(', ');
    if (!['Spend', 'Impressions', 'Clicks', 'Engagements'].includes(metric)) return [];
    const totals = screen.totals.find(
      (list) => currency === undefined || list.some(([name, text]) => name === 'All in' && text === currency),
    );
    const shown = totals?.find(([name]) => name === metric)?.[1];
    if (shown === undefined) return [`the chart ${label} is of no total`];
    const faults: string[] = [];
    const sum = (texts: string[]) => texts.reduce((total, text) => total + (number(text) || 0), 0);
    const now = sum(values.map((value) => value.replace(/^[^ ]+: /, '').replace(/, before.*/, '')));
    const total = number(shown.split(' ')[0] ?? '');
    // Each period is rounded to the cent.
    const close = (a: number, b: number) => Math.abs(a - b) <= 0.006 * values.length + 0.006;
    if (!close(now, total))
      faults.push(`the chart ${label} sums to ${now.toFixed(2)}, the total above it is ${total}`);
    const [, compared, from = '0'] = / (none before|from (.*))$/.exec(shown) ?? [];
    if (compared === undefined) return faults;
    const before = values.flatMap((value) => /, before (.*?)(?: on \S+)?$/.exec(value)?.[1] ?? []);
    if (before.length === 0) {
      // The response about the earlier range may have failed; the page must say so.
      if (screen.alerts.length === 0)
        faults.push(`the chart ${label} has nothing before, its total says ${shown}`);
      return faults;
    }
    // Days are compared with days of the same weekday, which are not exactly those of the total.
    const days = values.flatMap((value) => / on (\S+)$/.exec(value)?.[1] ?? []);
    if (days.length === 0 && !close(sum(before), number(from)))
      faults.push(`the chart ${label} sums to ${sum(before).toFixed(2)} before, its total says ${shown}`);
    const lags = new Set(
      days.map((day, index) => (Date.parse(periods[index] ?? '') - Date.parse(day)) / DAY_MS),
    );
    const [lag = 7] = lags;
    if (lags.size > 1 || lag <= 0 || lag % 7 !== 0)
      faults.push(`the chart ${label} compares days with those of ${[...lags]} days before`);
    return faults;
  });
}

/** Checks that a tab shows nothing of the other organization. */
export function judgeSession(
  screen: Screen,
  of: Organization | undefined,
  others: readonly Organization[],
): string[] {
  return others
    .filter((other) => other !== of)
    .flatMap(({ marker }) => {
      const found = screen.markers[marker];
      return found === undefined ? [] : [`signed in to ${of?.id ?? 'nothing'}, and the tab has: ${found}`];
    });
}

/** Checks that no request contains anything of an organization other than the organization of its key. */
export const judgeRequests = (
  exchanges: readonly Exchange[],
  organizations: readonly Organization[],
): string[] =>
  exchanges.flatMap(({ key, path, text }) =>
    organizations.flatMap((other) =>
      other.key !== key && new RegExp(other.marker, 'i').test(decodeURIComponent(path) + text)
        ? [
            `a request with the key of another organization says ${other.marker}: ${path} ${text.slice(0, 200)}`,
          ]
        : [],
    ),
  );
