/** Keyboard shortcuts of every view. Each has a control that does the same. */
import { signal } from '@preact/signals';

export const KEYS = [
  ['/ or ⌘K', 'Search'],
  ['↓', 'Go from the search to the rows'],
  ['j, k', 'Next row, previous row'],
  ['Enter', 'Open the row'],
  ['x', 'Select the row'],
  ['a', 'Go to the actions for the selection'],
  ['⌘Z', 'Undo the last change'],
  ['Esc', 'Close the panel'],
  ['?', 'Show these keys'],
] as const;

export const helpOpen = signal(false);

/** The link of each row of the list. */
const rowLinks = () =>
  [...document.querySelectorAll('main .list tbody tr')]
    .filter((row) => !row.closest('.panel'))
    .flatMap((row) => row.querySelector('a') ?? []);

function moveRow(by: 1 | -1): void {
  const links = rowLinks();
  const current = document.activeElement?.closest('tr') ?? document.querySelector('tr[aria-current]');
  const index = links.findIndex((link) => link.closest('tr') === current);
  const next = links[index < 0 ? 0 : index + by];
  const target = next && current && areRowsBetween(current, next) ? current : next;
  target?.scrollIntoView({ block: 'nearest' });
  if (target === next) next?.focus();
}

/** Whether rows between two rows are not drawn, because they are far from the visible part. */
function areRowsBetween(row: Element, link: Element): boolean {
  const [from, to] = [row.closest('tbody'), link.closest('tbody')];
  if (from === to || from?.parentElement !== to?.parentElement) return false;
  return from?.nextElementSibling !== to && from?.previousElementSibling !== to;
}

/** Focuses the first row, or the view if there are no rows. */
export function focusContent(): void {
  (rowLinks()[0] ?? document.querySelector('main'))?.focus();
}

function focusSearch(): void {
  document.querySelector<HTMLInputElement>('main input[type=search]')?.select();
}

/** Focuses the first action for the selection. */
export const focusSelection = () =>
  document.querySelector<HTMLElement>('.selection :is(button, summary)')?.focus();

const undo = () => document.querySelector<HTMLElement>('.notice [aria-keyshortcuts]')?.click();

export function startKeys(): void {
  addEventListener('keydown', (event) => {
    const isTyping = (event.target as Element).matches('input:not([type=checkbox]), textarea, select');
    const isCommand = event.metaKey || event.ctrlKey;
    const actions: Record<string, () => void> = isCommand
      ? // In a text field, the browser undoes typing.
        { k: focusSearch, ...(isTyping ? {} : { z: undo }) }
      : {
          a: focusSelection,
          '/': focusSearch,
          j: () => moveRow(1),
          k: () => moveRow(-1),
          x: () => document.activeElement?.closest('tr')?.querySelector<HTMLElement>('input')?.click(),
          '?': () => {
            helpOpen.value = true;
          },
        };
    if (event.altKey || event.defaultPrevented || (isTyping && !isCommand)) return;
    if (!Object.hasOwn(actions, event.key) || document.querySelector('dialog[open]')) return;
    event.preventDefault();
    actions[event.key]?.();
  });
}
