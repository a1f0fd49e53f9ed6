import { expect } from 'chai';
import type { ContactSearch, CreateContact } from '../../services/contacts/contact-store.js';
import type { EraseCommand } from '../../services/contacts/erasure-store.js';
import type { Contact, ContactRecord } from '../../services/contacts/schema.js';
import { contactTerms, toFilters } from '../../services/contacts/search.js';
import type { Page, SortKey, TextQuery } from '../../services/search/query.js';
import { parseQuery } from '../../services/search/query-parser.js';
import { isStale } from '../../services/shared/record-order.js';
import { PartialWriteError } from '../../services/shared/store-errors.js';
import type { Clock } from '../../services/shared/time.js';
import type { RecordStore } from '../../services/stores/common/record-store.js';
import { accepted } from '../support/accepted.js';
import type { ParsedStore } from '../support/parsed-store.js';

export interface OpenStore {
  store: ParsedStore;
  /** Opens the same data as another process would. */
  another(hooks?: StoreHooks): Promise<ParsedStore>;
  /** Clock of all processes; `useClock` sets it. */
  clock: Clock;
  close(): Promise<void>;
}

/** Hooks with which a test delays a store, or stops it as a crash would. */
export interface StoreHooks {
  /** Awaited before each step of a job; the process does no further step once it rejects. */
  beforeJobStep?(): Promise<void>;
  /** Whether the process continues at once with erasures of processes that ended. */
  goesOn?: boolean;
  /** Days for which the process keeps marks of deleted contacts. */
  changesDays?: number;
}

/** Opens a store; the suites keep apart by organization. */
export type Open = () => Promise<OpenStore>;

/** Sets the function that gives the time for the tests of a suite. */
export function useClock(opened: OpenStore, now: () => number): void {
  before(() => {
    opened.clock.now = now;
  });
  after(() => {
    opened.clock.now = Date.now;
  });
}

/** Waits for a write whose records may be stale, and are then left out (contract 6.1). */
export async function withStale(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof PartialWriteError) || ![...error.rejected.values()].every(isStale)) throw error;
  }
}

export const T0 = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

let organizations = 0;

/** An organization no other test uses. */
export function freshOrganization(): string {
  organizations += 1;
  return `org_t${process.pid}_${organizations}`;
}

export type Filters = Parameters<typeof toFilters>[0] & {
  query?: string | null;
  limit?: number;
  updated_after?: string | null;
  match?: ContactSearch['match'];
  sort?: ContactSearch['sort'];
};

export function asked(
  organizationId: string,
  { query, match, sort, limit = 50, updated_after: after, ...filters }: Filters = {},
  page: { audienceId?: string; after?: SortKey } = {},
): ContactSearch {
  return {
    organizationId,
    filters: toFilters(filters),
    updatedAfter: after ? Date.parse(after) : undefined,
    query: query ? contactTerms(parseQuery(query) as TextQuery) : undefined,
    match,
    sort,
    limit,
    ...page,
  };
}

/** Ids that a search finds, in order; the total must agree. */
export async function found(
  store: ParsedStore,
  organizationId: string,
  request: Filters,
  audienceId?: string,
): Promise<string[]> {
  const page = await store.searchContacts(asked(organizationId, { limit: 1000, ...request }, { audienceId }));
  expect(page.total).to.equal(page.items.length);
  expect(page.next).to.equal(null);
  return page.items.map((contact) => contact.contact_id);
}

/** Each `name=value` of a text. */
export const fieldsOf = (text: string, separator: string) =>
  text.split(separator).map((field) => field.split(/(?<=^\w+)=/) as [name: string, value: string]);

/** A search as a table writes it: a query, or fields joined by `&`. */
export const filtersOf = (search: string): Filters =>
  /^\w+=/.test(search) ? Object.fromEntries(fieldsOf(search, ' & ')) : { query: search };

/** The items of every page, each page read from the end of the page before. */
export async function walk<T>(read: (after: SortKey | undefined) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  const cursors = new Set<string>();
  for (let after: SortKey | null | undefined; after !== null; ) {
    const page = await read(after);
    items.push(...page.items);
    after = page.next;
    const cursor = JSON.stringify(after);
    expect(cursors, 'pages go round in circles').not.to.include(cursor);
    cursors.add(cursor);
  }
  return items;
}

/** Every page of a search, by its cursors. */
export const allPages = (store: ParsedStore, search: ContactSearch): Promise<Contact[]> =>
  walk(async (after) => {
    const page = await store.searchContacts({ ...search, after });
    const { next, partial } = page;
    return { ...page, next: next && { ...next, ...(partial && { partial }) } };
  });

type LoadedRecord = Omit<ContactRecord, 'organization_id' | 'contact_id'> & { contact_id?: string };

/** Stores records, by default one millisecond apart, the newest first. */
export async function load(
  store: Pick<RecordStore, 'upsertContacts' | 'refresh'>,
  organizationId: string,
  records: LoadedRecord[],
): Promise<void> {
  await store.upsertContacts(
    accepted(
      records.map((record, index) => ({
        contact_id: `c${index}`,
        created_at: new Date(T0 - index).toISOString(),
        ...record,
        organization_id: organizationId,
      })),
      T0,
    ),
  );
  await store.refresh();
}

const UNKNOWN = [
  ...['data_import_id', 'company_id', 'first_name', 'last_name', 'network_a_url', 'job_title'],
  ...['functional_area', 'company_name', 'company_network_a_url', 'company_domain', 'company_country'],
  ...['company_industry', 'city', 'state_region', 'country', 'postal_code', 'age', 'dob', 'year_of_birth'],
  ...['gender', 'person_image_url', 'company_image_url', 'seniority', 'department'],
];

/** A contact with only the given fields. */
export function newContact(organizationId: string, contactId: string, given: Partial<Contact> = {}): Contact {
  return {
    ...(Object.fromEntries(UNKNOWN.map((name) => [name, null])) as unknown as Contact),
    id: contactId,
    organization_id: organizationId,
    contact_id: contactId,
    work_emails: [],
    personal_emails: [],
    phones: [],
    audience_ids: [],
    created_at: new Date(T0).toISOString(),
    updated_at: new Date(T0).toISOString(),
    ...given,
  };
}

/** A request that creates a contact in the audience `aud`, without a price and despite duplicates. */
export const creation = (
  organizationId: string,
  contactId: string,
  given: Partial<Contact> = {},
  options: Partial<CreateContact> = {},
): CreateContact => ({
  contact: newContact(organizationId, contactId, given),
  audienceId: 'aud',
  requiredCredits: 0,
  onDuplicate: 'create',
  dryRun: false,
  ...options,
});

/** A request that erases a named person, by contact ids unless stated otherwise. */
export const erasure = (
  organizationId: string,
  proofId: string,
  contactIds: string[],
  named: EraseCommand['named'] = [],
): EraseCommand => ({
  organizationId,
  proofId,
  keyId: 'key',
  named: [...named, ...contactIds.map((value) => ({ kind: 'id' as const, value }))],
});

/** Audiences for contacts to join. */
export const loadAudiences = (
  store: Pick<RecordStore, 'upsertAudiences'>,
  organizationId: string,
  ...ids: string[]
): Promise<void> =>
  store.upsertAudiences(
    accepted(
      ids.map((id) => ({ organization_id: organizationId, id, name: id })),
      T0,
    ),
  );

/** A promise that the caller settles. */
export function deferred() {
  let resolve = () => {};
  let reject = (_: Error) => {};
  const promise = new Promise<void>((settle, fail) => {
    resolve = settle;
    reject = fail;
  });
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
