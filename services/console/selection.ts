/** The rows of the list of contacts that are chosen. */
import { computed, signal } from '@preact/signals';
import type { Contact } from '../contacts/schema.js';
import type { Chosen } from './memberships.js';

/** In the order of the list, as far as it is loaded. */
export const loaded = signal<readonly Contact[]>([]);
const chosenIds = signal<ReadonlySet<string>>(new Set());
/** All that match, loaded or not. */
export const isEverything = signal(false);

export const isChosen = (id: string) => isEverything.value || chosenIds.value.has(id);
export const chosenCount = computed(() => chosenIds.value.size);
export const isEveryLoaded = computed(
  () => loaded.value.length > 0 && loaded.value.every(({ contact_id }) => isChosen(contact_id)),
);

let lastId: string | undefined;

export function clearSelection(): void {
  chosenIds.value = new Set();
  isEverything.value = false;
  lastId = undefined;
}

/** `isRange` goes on from the row that was toggled before. */
export function toggle(id: string, isRange: boolean): void {
  const ids = loaded.value.map(({ contact_id }) => contact_id);
  const next = new Set(isEverything.value ? ids : chosenIds.value);
  const choose = !next.has(id);
  const [from, to] = [ids.indexOf(lastId ?? id), ids.indexOf(id)].sort((a, b) => a - b) as [number, number];
  for (const each of isRange && from >= 0 ? ids.slice(from, to + 1) : [id]) {
    if (choose) next.add(each);
    else next.delete(each);
  }
  lastId = id;
  isEverything.value = false;
  chosenIds.value = next;
}

export function toggleLoaded(): void {
  const ids = isEveryLoaded.value ? [] : loaded.value.map(({ contact_id }) => contact_id);
  isEverything.value = false;
  chosenIds.value = new Set(ids);
}

export const chosenContacts = (): Chosen & { kind: 'ids' } => ({
  kind: 'ids',
  contacts: loaded.value.filter(({ contact_id }) => chosenIds.value.has(contact_id)),
});
