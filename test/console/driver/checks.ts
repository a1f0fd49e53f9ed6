/** Checks that what a tab shows belongs to one request, to its labels and to its session, and adds up. */
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
  Companies: 'companies',
};

export const viewOf = ({ url }: Screen) => new URL(url, 'http://x').pathname.replace(/^\/console/, '');
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

/** The part of a request that labels can express. */
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
    ['currency', screen.choices.Currency],
    ['country', chipsOf(screen).country as string | undefined],
  ];
  return shown.flatMap(([name, label]) => {
    const isShown = label !== undefined && label !== '' && label !== 'of each campaign';
    const isViewed = name !== 'currency' || screen.choices.Currency !== undefined;
    if (!isViewed || (params[name] ?? '') === (isShown ? label : '')) return [];
    return [`the address says ${name}=${params[name]}, and the label ${label}`];
  });
}

const money = (value: unknown, currency: unknown): string =>
  value === null || value === undefined
    ? '–'
    : currency
      ? new Intl.NumberFormat('en', { style: 'currency', currency: String(currency) }).format(
          value as `${number}`,
        )
      : new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(
          value as `${number}`,
        );

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

function explains(screen: Screen, table: ShownTable, { path, body, answer = {} }: Exchange): boolean {
  for (const [head, expected] of Object.entries(rowsOf(path, answer, body))) {
    const index = table.heads.indexOf(head);
    if (index < 0) continue;
    // The first rows of a long list are always drawn.
    const most = table.hasGaps ? 50 : expected.length;
    for (let row = 0; row < Math.min(most, expected.length); row++)
      if (!isFigure(texts(table.rows[row], index), expected[row] ?? '')) return false;
    if (table.rows.length < Math.min(most, expected.length)) return false;
    // Further pages follow the first one.
    if (!answer.next_cursor && !table.hasGaps && table.rows.length !== expected.length) return false;
  }
  if (screen.count !== undefined && number(screen.count) !== answer.total_count) return false;
  return totalsExplained(screen, answer);
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
      `no answer of this session has rows, count and totals as they are shown together: ${screen.count}; ${first}; ${JSON.stringify(screen.totals).slice(0, 300)}`,
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
  if (table.checked === table.rows.length || table.checked === selected) return [];
  return [`"${selection}", and ${table.checked} rows are ticked`];
}

/** Checks that charts of money and counts sum to the totals above them, and their previous periods to the comparison. */
export function judgeCharts(screen: Screen, charts: readonly ShownChart[]): string[] {
  if (screen.totals.length === 0 || /Page 1 of [^1]/.test(screen.page ?? '')) return [];
  if (screen.notes.some((note) => /left out|leaves? out|not (?:all|drawn|shown)|without/i.test(note)))
    return [];
  return charts.flatMap(({ label, values }) => {
    const [metric = '', currency] = label.split(', ');
    if (!['Spend', 'Impressions', 'Clicks', 'Engagements'].includes(metric)) return [];
    const totals = screen.totals.find(
      (list) => currency === undefined || list.some(([name, text]) => name === 'All in' && text === currency),
    );
    const shown = totals?.find(([name]) => name === metric)?.[1];
    if (shown === undefined || values.length === 0) return [];
    const faults: string[] = [];
    const sum = (texts: string[]) => texts.reduce((total, text) => total + (number(text) || 0), 0);
    const now = sum(values.map((value) => value.replace(/^[^ ]+: /, '').replace(/, before.*/, '')));
    const total = number(shown.split(' ')[0] ?? '');
    // Each period is rounded to the cent.
    const close = (a: number, b: number) => Math.abs(a - b) <= 0.006 * values.length + 0.006;
    if (!close(now, total))
      faults.push(`the chart ${label} sums to ${now.toFixed(2)}, the total above it is ${total}`);
    const earlier = screen.comparisons.find((text) => currency === undefined || text.startsWith(currency));
    const from = new RegExp(`${metric} (?:up|down) [^,;]*, from ([^;]*?)(?:;|\\.$)`).exec(earlier ?? '')?.[1];
    const before = values.flatMap((value) => /, before (.*)$/.exec(value)?.[1] ?? []);
    if (from !== undefined && before.length > 0 && !close(sum(before), number(from)))
      faults.push(
        `the chart ${label} sums to ${sum(before).toFixed(2)} before, the comparison says from ${from}`,
      );
    if (
      from === undefined &&
      before.some((value) => /[1-9]/.test(value)) &&
      /none before/.test(earlier ?? '')
    )
      faults.push(`the chart ${label} has values before (${before[0]}), the comparison says: ${earlier}`);
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
      const [found] = screen.markers[marker] ?? [];
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
