/** What a person sees of a tab at one moment, by roles, labels and texts. */
import type { BrowserContext, Page } from 'playwright-core';

export interface ShownTable {
  label: string;
  isBusy: boolean;
  heads: string[];
  /** The column that orders the rows, and its direction, such as `Spend descending`. */
  sorted: string;
  rows: string[][];
  checked: number;
  /** Whether rows far from the visible part are left out. */
  hasGaps: boolean;
}

export interface Screen {
  url: string;
  organization: string | undefined;
  asksForKey: boolean;
  chips: string[];
  /** The count that the view shows, such as `94 contacts`. */
  count: string | undefined;
  query: string | undefined;
  /** The selected text of each select, by its label. */
  choices: Record<string, string>;
  from: string | undefined;
  to: string | undefined;
  granularity: string | undefined;
  tab: string | undefined;
  page: string | undefined;
  tables: ShownTable[];
  /** Each list of figures, as pairs of label and figure. */
  totals: [label: string, figure: string][][];
  comparisons: string[];
  days: string[];
  alerts: string[];
  /** All explanations outside of tables. */
  notes: string[];
  selection: string | undefined;
  selectAll: string | undefined;
  notice: string | undefined;
  canUndo: boolean;
  buttons: string[];
  /** Work that continues in every view. */
  doing: string[];
  /** The text around the first place of the word of each organization. */
  markers: Record<string, string | undefined>;
}

/** What changes in the tab during a step; the driver reads these values repeatedly. */
export type Progress = Pick<Screen, 'url' | 'notice' | 'doing'> & { canStop: boolean };

const READ = `globalThis.readScreen = (markers) => {
  const text = (element) => (element?.textContent ?? '').replace(/\\s+/g, ' ').trim();
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const visible = (element) => element.checkVisibility();
  const segment = (label) => text(document.querySelector('main [aria-label="' + label + '"] [aria-current]'));
  const labelOf = (element) =>
    element.getAttribute('aria-label') ?? text(element.closest('label')?.querySelector('span'));
  const tables = all('main table').filter(visible).map((table) => {
    const rows = all('tbody:not([aria-hidden]) tr', table);
    const drawn = rows.filter((row) => row.cells.length > 1);
    const sorted = table.querySelector('th[aria-sort]:not([aria-sort=none])');
    return {
      label: table.getAttribute('aria-label') ?? '',
      isBusy: table.getAttribute('aria-busy') === 'true' || table.querySelector('tbody[aria-hidden]') !== null,
      heads: all('thead th', table).map((head) => text(head).replace(/ ?[↑↓]$/, '')),
      sorted: sorted ? text(sorted).replace(/ ?[↑↓]$/, '') + ' ' + sorted.getAttribute('aria-sort') : '',
      rows: drawn.map((row) => [...row.cells].map(text)),
      checked: drawn.filter((row) => row.querySelector('input[type=checkbox]:checked')).length,
      hasGaps: rows.length > drawn.length,
    };
  });
  const selection = document.querySelector('main [aria-label=Selection]');
  const progress = readProgress();
  const buttons = all('button, summary, a.button').filter(visible).filter((button) => !button.disabled).map(text);
  const found = {};
  const values = all('input, textarea, select').map(({ value }) => value).join(' ');
  const everything = document.documentElement.outerHTML + ' ' + values + ' ' + decodeURIComponent(location.href.replace(/%(?![0-9a-f]{2})/gi, '%25')) + ' ' + document.title;
  const folded = everything.toLowerCase();
  for (const marker of markers) {
    const at = folded.indexOf(marker.toLowerCase());
    found[marker] = at < 0 ? undefined : everything.slice(Math.max(0, at - 40), at + 40);
  }
  const choices = {};
  for (const select of all('main select').filter(visible))
    choices[labelOf(select)] = text(select.selectedOptions[0]);
  return {
    ...progress,
    organization: document.querySelector('[title="Organization of the key"]')?.textContent ?? undefined,
    asksForKey: all('input[name=key]').some(visible),
    chips: all('main [aria-label="Filters in force"] li:not([aria-busy=true]) > span').map(text),
    count: all('main output').map(text).find((each) => /^[\\d,]+ (contact|visit|audience|campaign|creative|compan)/.test(each)),
    query: document.querySelector('main input[type=search]')?.value,
    choices,
    from: all('main input[type=date]').find((input) => labelOf(input) === 'From')?.value,
    to: all('main input[type=date]').find((input) => labelOf(input) === 'To')?.value,
    granularity: segment('Granularity') || undefined,
    tab: segment('Table') || undefined,
    page: all('main nav[aria-label=Pages] span').map(text)[0],
    tables,
    totals: all('main dl.totals').map((list) => all('dt', list).map((term) => [text(term), text(term.nextElementSibling)])),
    comparisons: all('main p').map(text).filter((each) => /gainst \\d/.test(each)),
    days: all('main [aria-label="Visits a day"]:not([aria-busy=true]) a').map((link) => link.title),
    alerts: all('main [role=alert]').filter(visible).map(text),
    notes: all('main :is([role=alert], [role=status], output, p, figcaption)').filter((each) => visible(each) && !each.closest('tbody')).map(text),
    selection: selection ? text(selection.querySelector('[role=status]')) : undefined,
    selectAll: selection ? all('button', selection).filter((button) => visible(button) && !button.disabled).map(text).find((each) => /^Select all/.test(each)) : undefined,
    canUndo: buttons.includes('Undo'),
    buttons,
    markers: found,
  };
};
globalThis.readProgress = () => {
  const text = (element) => element.textContent.replace(/\\s+/g, ' ').trim();
  const notice = document.querySelector('[role=status] > .notice');
  const jobs = document.querySelector('[aria-label="Work in progress"]');
  return {
    url: location.pathname + location.search,
    notice: notice ? text(notice.querySelector('span')) : undefined,
    doing: jobs ? [...jobs.querySelectorAll('[role=status]')].map(text) : [],
    canStop: jobs?.querySelector('button[aria-label^=Stop]') != null,
  };
};
addEventListener('input', () => { globalThis.typedAt = performance.now(); }, true);
/** Resolves once what is to be drawn is drawn, with the milliseconds since somebody typed. */
globalThis.drawn = () => new Promise((resolve) =>
  requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - (globalThis.typedAt ?? -10_000)))));`;

/** Adds a script that runs in each page before the page's own scripts. */
export const installReader = (context: BrowserContext): Promise<unknown> => context.addInitScript(READ);

export const readScreen = (page: Page, markers: readonly string[]): Promise<Screen> =>
  page.evaluate(`readScreen(${JSON.stringify(markers)})`);
export const readProgress = (page: Page): Promise<Progress> => page.evaluate('readProgress()');
export const drawn = (page: Page): Promise<number> => page.evaluate('drawn()');

export interface ShownChart {
  label: string;
  /** The text read while pointing at each period, such as `2026-10: $6,399.78, before $162.00`. */
  values: string[];
}

/**
 * Moves a simulated mouse over every period of every chart, and reads the value that `.chart-value` shows. Each period must be at least
 * one pixel wide.
 */
const POINT = `(periods) => [...document.querySelectorAll('main .chart')].map((chart) => {
  const over = chart.querySelector('.u-over');
  const box = over?.getBoundingClientRect();
  const values = [];
  for (let index = 0; box && index < periods; index++) {
    // The position of a mouse is a whole number of pixels.
    const left = Math.ceil(box.left + (index * box.width) / periods + 0.001);
    const middle = Math.floor(box.left + ((index + 0.5) * box.width) / periods);
    const at = { bubbles: true, clientX: Math.max(left, middle), clientY: box.top + 10 };
    if (index === 0) over.dispatchEvent(new MouseEvent('mouseenter', at));
    over.dispatchEvent(new MouseEvent('mousemove', at));
    values.push(chart.querySelector('.chart-value').textContent);
  }
  over?.dispatchEvent(new MouseEvent('mouseleave', { bubbles: true }));
  return { label: chart.querySelector('strong').textContent, values };
})`;

export const readCharts = (page: Page, periods: number): Promise<ShownChart[]> =>
  page.evaluate(`(${POINT})(${periods})`);
