/** Looks up whether the contacts of an input are people who have a contact already (contract 6.2g). */
import { hash } from 'node:crypto';
import type { ContactStore } from '../services/contacts/contact-store.js';
import { type DuplicateKey, duplicateKeys, MAX_HOLDERS } from '../services/contacts/duplicates.js';
import type { ContactRecord } from '../services/contacts/schema.js';
import { withOwnSignal } from '../services/shared/async.js';
import { type AcceptedRecord, type DeadLetter, deadLetter } from './records/outcome.js';

/** What to do with a contact that has a new id, if its person already has a contact with another id. */
export type OnDuplicate = 'create' | 'update' | 'reject';

export interface PersonMatch {
  line: number;
  /** The existing contact of the person. */
  contact_id: string;
  field: 'work_emails' | 'network_a_url';
  /** The address that both contacts have, in the form of the record. */
  value: string;
}

const MAX_MATCHES = 10;
const RECORDS_PER_QUERY = 500;
/** Maximum number of ids and addresses of one input with which later records are compared. The oldest is forgotten first. */
const MAX_REMEMBERED = 250_000;

/** Resolves the people of one input, record by record. Two inputs at the same moment may both create a person. */
export class PeopleResolver {
  readonly #store: Pick<ContactStore, 'findPeople'>;
  readonly #onDuplicate: OnDuplicate;
  /** Contacts by identity key: the contacts that have this key. By id: the contact that the record with this id became. */
  readonly #seen = new Map<string, string[]>();
  /** The first people who have a contact already. */
  readonly matches: PersonMatch[] = [];

  constructor(store: Pick<ContactStore, 'findPeople'>, onDuplicate: OnDuplicate) {
    this.#store = store;
    this.#onDuplicate = onDuplicate;
  }

  /** Sets `person` and, with `update`, the id of the records. Returns the reasons of rejected records, by index. */
  async resolve(
    records: readonly AcceptedRecord<object>[],
    signal?: AbortSignal,
  ): Promise<Map<number, DeadLetter>> {
    const rejected = new Map<number, DeadLetter>();
    for (let start = 0; start < records.length; start += RECORDS_PER_QUERY) {
      const part = (records as readonly AcceptedRecord<ContactRecord>[]).slice(
        start,
        start + RECORDS_PER_QUERY,
      );
      const known = await this.#lookUp(part, signal);
      for (const [index, each] of part.entries()) {
        const rejection = this.#resolveOne(each, known);
        if (rejection) rejected.set(start + index, rejection);
      }
    }
    return rejected;
  }

  /** Looks up people in the store. Ids of earlier records are known without a look-up. */
  async #lookUp(records: readonly AcceptedRecord<ContactRecord>[], signal?: AbortSignal): Promise<Known> {
    const known: Known = { ids: new Set(), holders: new Map() };
    const wanted = new Map<string, { ids: Map<string, string>; keys: Map<string, DuplicateKey> }>();
    for (const { record } of records) {
      const { organization_id: organizationId, contact_id: id } = record;
      const idPlace = placeOf(organizationId, 'id', id);
      if (record.deleted || this.#seen.has(idPlace)) continue;
      const own = wanted.get(organizationId) ?? { ids: new Map(), keys: new Map() };
      wanted.set(organizationId, own);
      own.ids.set(idPlace, id);
      for (const key of duplicateKeys(record)) {
        own.keys.set(placeOf(organizationId, key.kind, key.value), key);
      }
    }
    for (const [organizationId, { ids, keys }] of wanted) {
      const query = { organizationId, contactIds: [...ids.values()], keys: [...keys.values()] };
      const find = (own?: AbortSignal) => this.#store.findPeople(query, own);
      // A store counts its responses as in flight until the signal ends.
      const found = await (signal ? withOwnSignal(signal, find) : find());
      for (const id of found.contactIds) known.ids.add(placeOf(organizationId, 'id', id));
      for (const [index, place] of [...keys.keys()].entries()) {
        known.holders.set(place, found.holders[index] as string[]);
      }
    }
    return known;
  }

  #resolveOne(each: AcceptedRecord<ContactRecord>, known: Known): DeadLetter | undefined {
    const { record } = each;
    if (record.deleted) return undefined;
    const { organization_id: organizationId, contact_id: id } = record;
    const idPlace = placeOf(organizationId, 'id', id);
    const keys = duplicateKeys(record);
    const places = keys.map(({ kind, value }) => placeOf(organizationId, kind, value));
    const earlier = this.#seen.get(idPlace)?.[0];
    if (earlier !== undefined || known.ids.has(idPlace)) {
      each.person = 'updated';
      record.contact_id = earlier ?? id;
      this.#remember(places, record.contact_id);
      return undefined;
    }
    const holdersOf = (place: string) => [
      ...(known.holders.get(place) ?? []),
      ...(this.#seen.get(place) ?? []),
    ];
    const holders = [...new Set(places.flatMap(holdersOf))];
    const [holder, another] = holders;
    if (holder === undefined) {
      each.person = 'created';
      this.#remember([idPlace, ...places], id);
      return undefined;
    }
    each.person = another === undefined ? 'matched' : 'ambiguous';
    const shared = sharedAddress(
      record,
      keys.filter((_, index) => holdersOf(places[index] as string).length > 0),
    );
    if (another === undefined) {
      this.#remember(places, holder);
      if (this.matches.length < MAX_MATCHES) {
        this.matches.push({ line: each.line ?? each.sequence, contact_id: holder, ...shared });
      }
    }
    const { field, value } = shared;
    if (this.#onDuplicate === 'create') {
      this.#remember([idPlace], id);
    } else if (another !== undefined) {
      const detail = `${field} has ${value}. Several contacts have an address of this record (${holder}, ${another}): leave the row out, or delete those that are not needed.`;
      return deadLetter('ambiguous_person', `/${field}`, detail);
    } else if (this.#onDuplicate === 'reject') {
      return deadLetter(
        'contact_exists',
        `/${field}`,
        `${field} has ${value}, as the contact ${holder} has.`,
      );
    } else {
      this.#remember([idPlace], holder);
      record.contact_id = holder;
    }
    return undefined;
  }

  #remember(places: readonly string[], id: string): void {
    for (const place of places) {
      const ids = this.#seen.get(place) ?? [];
      if (ids.length < MAX_HOLDERS && !ids.includes(id)) this.#seen.set(place, [...ids, id]);
      if (this.#seen.size <= MAX_REMEMBERED) continue;
      const [oldest] = this.#seen.keys();
      this.#seen.delete(oldest as string);
    }
  }
}

interface Known {
  ids: Set<string>;
  holders: Map<string, string[]>;
}

/** Maximum length of a text that is remembered as it is. Longer texts are remembered by their hash. */
const MAX_PLACE_LENGTH = 128;

function placeOf(organizationId: string, kind: DuplicateKey['kind'] | 'id', value: string): string {
  const place = `${organizationId}\n${kind}\n${value}`;
  return place.length > MAX_PLACE_LENGTH ? hash('sha256', place, 'base64') : place;
}

/** The first of the keys, in the form of the record. */
function sharedAddress(
  { work_emails, network_a_url }: ContactRecord,
  keys: readonly DuplicateKey[],
): Pick<PersonMatch, 'field' | 'value'> {
  const isShared = (address: ContactRecord) =>
    duplicateKeys(address).some((own) =>
      keys.some(({ kind, value }) => own.kind === kind && own.value === value),
    );
  const email = work_emails?.find((each) => isShared({ work_emails: [each] } as ContactRecord));
  return email === undefined
    ? { field: 'network_a_url', value: network_a_url ?? '' }
    : { field: 'work_emails', value: email };
}
