import type { ContactBatch, ContactPage, ContactSearch } from '../../services/contacts/contact-store.js';
import type { ErasureProof, ErasureSearch } from '../../services/contacts/erasure-store.js';
import type { FacetField } from '../../services/contacts/fields.js';
import type { Contact } from '../../services/contacts/schema.js';
import type { FacetedPage } from '../../services/search/facets.js';
import type { Page } from '../../services/search/query.js';
import type { Cancellable } from '../../services/shared/async.js';
import { fromJson, type Json } from '../../services/shared/json.js';
import type { RecordStore } from '../../services/stores/common/record-store.js';
import type { Visit, VisitFacet } from '../../services/visits/schema.js';
import type { VisitSearch } from '../../services/visits/visit-store.js';

type ParsedContactPage = FacetedPage<Contact, FacetField> & Pick<ContactPage, 'partial'>;

interface ParsedReads {
  getContact(organizationId: string, contactId: string, request?: Cancellable): Promise<Contact | null>;
  getContacts(
    organizationId: string,
    contactIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<Omit<ContactBatch, 'contacts'> & { contacts: Contact[] }>;
  searchContacts(search: ContactSearch, request?: Cancellable): Promise<ParsedContactPage>;
  searchVisits(search: VisitSearch, signal?: AbortSignal): Promise<FacetedPage<Visit, VisitFacet>>;
  listErasures(search: ErasureSearch): Promise<Page<ErasureProof>>;
}

/** A records store whose contacts, visits and proofs are objects, as tests compare them. */
export type ParsedStore = Omit<RecordStore, keyof ParsedReads> & ParsedReads;

export function parsed(store: RecordStore): ParsedStore {
  const reads: ParsedReads = {
    async getContact(...args) {
      const contact = await store.getContact(...args);
      return contact === null ? null : fromJson(contact);
    },
    async getContacts(...args) {
      const batch = await store.getContacts(...args);
      return { ...batch, contacts: batch.contacts.map((contact) => fromJson(contact)) };
    },
    searchContacts: async (...args) => parsedPage(await store.searchContacts(...args)),
    searchVisits: async (...args) => parsedPage(await store.searchVisits(...args)),
    listErasures: async (...args) => parsedPage(await store.listErasures(...args)),
  };
  return new Proxy(store, {
    get(target, name) {
      if (name in reads) return reads[name as keyof ParsedReads];
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  }) as unknown as ParsedStore;
}

export function parsedPage<T, Field extends string>(
  page: FacetedPage<Json<T>, Field>,
): FacetedPage<T, Field> {
  return { ...page, items: page.items.map((item) => fromJson(item)) };
}
