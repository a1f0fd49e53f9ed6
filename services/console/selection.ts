/** The selected rows of the list of contacts. The rows themselves are kept, so that actions apply to the contacts that were counted. */
import { computed, signal } from '@preact/signals';
import type { Contact } from '../contacts/schema.js';
import type { ExportSource, RequestOf } from './api.js';

/** Contacts selected one by one, or all matches of a search. */
export type Chosen =
  | { kind: 'ids'; contacts: readonly Contact[] }
  | { kind: 'all'; filter: Filter; total: number; source: ExportSource };
export type Filter = Omit<RequestOf<'/api/contacts/search'>, 'limit' | 'cursor' | 'organization_id'>;

const NOBODY: Chosen = { kind: 'ids', contacts: [] };

export class Selection {
  readonly chosen = signal<Chosen>(NOBODY);
  /** Loaded rows in the order of the list. */
  readonly rows = signal<readonly Contact[]>([]);
  /** Increases when the person selects other contacts. */
  version = 0;
  /** The request whose response the rows are. */
  #request = '';
  #lastId: string | undefined;
  readonly #ids = computed(() => new Set(this.contacts.map(({ contact_id }) => contact_id)));

  readonly count = computed(() => {
    const chosen = this.chosen.value;
    return chosen.kind === 'all' ? chosen.total : chosen.contacts.length;
  });
  readonly isEveryRow = computed(
    () => this.rows.value.length > 0 && this.rows.value.every(({ contact_id }) => this.has(contact_id)),
  );

  has(id: string): boolean {
    return this.chosen.value.kind === 'all' || this.#ids.value.has(id);
  }

  /** Takes the rows of a response. Another request clears the selection; the same request removes contacts that are gone from it. */
  show(request: string, rows: readonly Contact[], total: number): void {
    const chosen = this.chosen.value;
    this.rows.value = rows;
    if (request !== this.#request) this.clear();
    else if (chosen.kind === 'all') this.chosen.value = { ...chosen, total };
    else if (chosen.contacts.length > 0)
      this.chosen.value = {
        kind: 'ids',
        contacts: rows.filter(({ contact_id }) => this.#ids.value.has(contact_id)),
      };
    this.#request = request;
  }

  clear(): void {
    this.choose(NOBODY);
    this.#lastId = undefined;
  }

  choose(chosen: Chosen): void {
    this.version++;
    this.chosen.value = chosen;
  }

  /** `isRange` extends the selection from the row toggled before. */
  toggle(id: string, isRange: boolean): void {
    const ids = this.rows.value.map(({ contact_id }) => contact_id);
    const next = new Set(ids.filter((each) => this.has(each)));
    const choose = !next.has(id);
    const ends = [ids.indexOf(this.#lastId ?? id), ids.indexOf(id)].sort((a, b) => a - b);
    const [from, to] = ends as [number, number];
    for (const each of isRange && from >= 0 ? ids.slice(from, to + 1) : [id]) {
      if (choose) next.add(each);
      else next.delete(each);
    }
    this.#lastId = id;
    this.choose({ kind: 'ids', contacts: this.rows.value.filter(({ contact_id }) => next.has(contact_id)) });
  }

  toggleRows(): void {
    this.choose(this.isEveryRow.value ? NOBODY : { kind: 'ids', contacts: this.rows.value });
  }

  /** The contacts selected one by one. */
  private get contacts(): readonly Contact[] {
    return this.chosen.value.kind === 'ids' ? this.chosen.value.contacts : [];
  }
}
