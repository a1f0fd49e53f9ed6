/** The page of the address below /docs: '' for the overview, else the name of a guide or the id of an operation. */
import { signal } from '@preact/signals';

const BASE = '/docs';

const pageOf = () => location.pathname.slice(BASE.length + 1).replace(/\/$/, '');

export const page = signal(pageOf());
/** Counts navigations: a link to a part of the same page scrolls to it again. */
export const visits = signal(0);

export const href = (to: string) => (to === '' ? BASE : `${BASE}/${to}`);

function update(): void {
  page.value = pageOf();
  visits.value++;
}

/** Links between pages of the reference change the address without loading anything. */
export function startRouter(): void {
  addEventListener('popstate', update);
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest('a');
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const isPage = link.pathname === BASE || /^\/docs\/\w[\w-]*$/.test(link.pathname);
    if (link.origin !== location.origin || !isPage || link.target) return;
    event.preventDefault();
    history.pushState(null, '', link.href);
    update();
  });
}
