/** The address holds the state of the console and of the API reference. Only this file reads its parameters. */
import { computed, signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/** The API reference, or the console. */
const BASE = location.pathname.startsWith('/docs/api') ? '/docs/api' : '/console';

interface Address {
  /** Path after the base, such as `/contacts`. */
  path: string;
  params: URLSearchParams;
}

/** Length of a query string that every server and proxy accepts. Longer parameters go into the fragment, which is never sent. */
const MAX_SEARCH = 4000;
const FRAGMENT = '#?';

const addressOf = ({ pathname, search, hash }: Pick<URL, 'pathname' | 'search' | 'hash'>): Address => ({
  path: pathname.slice(BASE.length).replace(/\/$/, ''),
  params: new URLSearchParams(hash.startsWith(FRAGMENT) ? hash.slice(FRAGMENT.length) : search),
});
const read = () => addressOf(location);

export const address = signal<Address>(read());
export const path = computed(() => address.value.path);

type Params = Record<string, string | number | boolean | null | undefined>;

/** Leaves out empty parameters, so that one state has one address. */
function search(params: URLSearchParams): string {
  const text = params.toString().replaceAll('%2C', ',').replaceAll('%3A', ':');
  if (text === '') return '';
  return text.length > MAX_SEARCH ? `${FRAGMENT}${text}` : `?${text}`;
}

function assign(params: URLSearchParams, changes: Params): URLSearchParams {
  const next = new URLSearchParams(params);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === undefined || value === '' || value === false) next.delete(name);
    else next.set(name, String(value));
  }
  return next;
}

/** The parameters of an address, without those that are empty. */
export const paramsWith = (params: Params): URLSearchParams => assign(new URLSearchParams(), params);

export function href(to: string, params: Params = {}): string {
  return BASE + to + search(paramsWith(params));
}

/** Address of this view with other parameters. */
export function hrefWith(changes: Params): string {
  return BASE + address.value.path + search(assign(address.value.params, changes));
}

export function navigate(to: string, { replace = false } = {}): void {
  const isHere = to === location.pathname + location.search + location.hash;
  history[replace || isHere ? 'replaceState' : 'pushState'](null, '', to);
  address.value = read();
}

/** `replace` is for typing, so that Back leaves the view instead of removing one letter. */
export function setParams(changes: Params, { replace = false } = {}): void {
  navigate(hrefWith(changes), { replace });
}

/** Parameters to read in place of those of the address. */
let others: URLSearchParams | undefined;

export const param = (name: string): string => (others ?? address.value.params).get(name) ?? '';

/** Runs a function that reads parameters with other parameters than those of the address. */
export function withParams<T>(params: URLSearchParams, run: () => T): T {
  others = params;
  try {
    return run();
  } finally {
    others = undefined;
  }
}

/**
 * For use after a response arrives: whether the reader is still in the view and the named parameters, such as an open panel, are unchanged.
 * A late response thus never moves the reader.
 */
export function stillShown(...names: string[]): () => boolean {
  const shown = () => JSON.stringify([path.value, ...names.map(param)]);
  const before = shown();
  return () => shown() === before;
}

/** Changes parameters only if `stillShown`. */
export function whileShown(...names: string[]): typeof setParams {
  const isShown = stillShown(...names);
  return (changes, options) => {
    if (isShown()) setParams(changes, options);
  };
}

/** Page number from 1; an invalid value counts as 1. */
export function pageParam(): number {
  const text = param('page');
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1;
}
export const hasParam = (...names: string[]): boolean => names.some((name) => address.value.params.has(name));

/** The parameters that open a panel. */
const PANEL_PARAMS = ['contact', 'audience', 'key', 'new', 'tab'];
const panelOf = ({ path, params }: Address) => [path, ...PANEL_PARAMS.map((name) => params.get(name))].join();

/** Questions for everything that would be lost with the open panel. */
const losses = new Map<symbol, string>();

/** Asks the question before a person leaves something unsaved; `null` asks nothing. */
export function useLoss(question: string | null): void {
  useLayoutEffect(() => {
    if (question === null) return;
    const place = Symbol();
    losses.set(place, question);
    return () => void losses.delete(place);
  }, [question]);
}

export const hasLoss = () => losses.size > 0;
export const mayLose = (): boolean => [...new Set(losses.values())].every((question) => confirm(question));

/** Follows a link; asks first if a panel with unsaved changes would close. */
export function leaveTo(to: string): void {
  if (panelOf(addressOf(new URL(to, location.href))) === panelOf(address.value) || mayLose()) navigate(to);
}

export function startRouter(): void {
  addEventListener('popstate', () => {
    const next = read();
    if (panelOf(next) === panelOf(address.value) || mayLose()) address.value = next;
    else history.pushState(null, '', hrefWith({}));
  });
  addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest?.('a');
    if (link?.target !== '' || link.origin !== location.origin) return;
    // Plain-text pages have an extension and are left to the browser.
    if (!link.pathname.startsWith(BASE) || !/^[\w/-]*$/.test(link.pathname.slice(BASE.length))) return;
    event.preventDefault();
    leaveTo(link.pathname + link.search + link.hash);
  });
}
