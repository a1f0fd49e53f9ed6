/** The address is the state of the console and of the API reference: every view reads its parameters here and nowhere else. */
import { computed, signal } from '@preact/signals';

/** `/console` or `/docs`. */
const BASE = `/${location.pathname.split('/')[1]}`;

interface Address {
  /** Below the base, such as `/contacts`. */
  path: string;
  params: URLSearchParams;
}

/** Characters that every server and proxy takes; longer parameters stay in the fragment, which no server sees. */
const MAX_SEARCH = 4000;
const FRAGMENT = '#?';

const read = (): Address => ({
  path: location.pathname.slice(BASE.length).replace(/\/$/, ''),
  params: new URLSearchParams(
    location.hash.startsWith(FRAGMENT) ? location.hash.slice(FRAGMENT.length) : location.search,
  ),
});

export const address = signal<Address>(read());
export const path = computed(() => address.value.path);

type Params = Record<string, string | number | boolean | null | undefined>;

/** Leaves out what is not given, so that one state has one address. */
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

export function href(to: string, params: Params = {}): string {
  return BASE + to + search(assign(new URLSearchParams(), params));
}

/** The address of this view with other parameters. */
export function hrefWith(changes: Params): string {
  return BASE + address.value.path + search(assign(address.value.params, changes));
}

export function navigate(to: string, { replace = false } = {}): void {
  const isHere = to === location.pathname + location.search + location.hash;
  history[replace || isHere ? 'replaceState' : 'pushState'](null, '', to);
  address.value = read();
}

/** `replace` while typing, so that Back leaves the view and not one letter. */
export function setParams(changes: Params, { replace = false } = {}): void {
  navigate(hrefWith(changes), { replace });
}

export const param = (name: string): string => address.value.params.get(name) ?? '';
/**
 * For what goes on once an answer is there: changes parameters, unless the reader meanwhile left the view or whatever these parameters
 * name, such as a panel. So a late answer never moves the reader.
 */
export function whileShown(...names: string[]): (changes: Params) => void {
  const shown = () => JSON.stringify([path.value, ...names.map(param)]);
  const before = shown();
  return (changes) => {
    if (shown() === before) setParams(changes);
  };
}

/** From 1; what is no page is the first. */
export function pageParam(): number {
  const text = param('page');
  return /^[1-9]\d{0,6}$/.test(text) ? Number(text) : 1;
}
export const hasParam = (...names: string[]): boolean => names.some((name) => address.value.params.has(name));

export function startRouter(): void {
  addEventListener('popstate', () => {
    address.value = read();
  });
  addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = (event.target as Element).closest?.('a');
    if (link?.target !== '' || link.origin !== location.origin) return;
    // Not the plain text of a page, which has an extension.
    if (!link.pathname.startsWith(BASE) || !/^[\w/-]*$/.test(link.pathname.slice(BASE.length))) return;
    event.preventDefault();
    navigate(link.pathname + link.search + link.hash);
  });
}
