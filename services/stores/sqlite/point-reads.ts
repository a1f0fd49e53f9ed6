import type { Audience } from '../../audiences/schema.js';
import type { ContactBatch, ContactSearch } from '../../contacts/contact-store.js';
import type { FacetField } from '../../contacts/fields.js';
import type { Contact } from '../../contacts/schema.js';
import { KeyedMutex, TimeSlice } from '../../shared/async.js';
import { fromJson, type Json } from '../../shared/json.js';
import { OverloadedError, StoreUnavailableError } from '../../shared/store-errors.js';
import { InFlightBytes } from '../common/in-flight-bytes.js';
import { PageBuilder } from '../common/page-builder.js';
import { getAudience } from './audiences.js';
import { Connection } from './connection.js';
import { getContact, quickSearch } from './contacts/search.js';
import { withStoreErrors } from './errors.js';
import type { JsonPage } from './pages.js';
import type { WorkerData } from './workers/rpc.js';

/** Bytes of batches whose requests are in flight, above which no batch starts. */
const MAX_IN_FLIGHT_BYTES = 32 * 1024 * 1024;

/** Reads on the calling thread that take microseconds: a hop to another thread or process takes several times as long. */
export class PointReads {
  readonly #data: WorkerData;
  /** One batch per organization at a time: each holds up to 4 MiB. */
  readonly #batches = new KeyedMutex();
  readonly #inFlight = new InFlightBytes(MAX_IN_FLIGHT_BYTES);
  #connection: Connection | undefined;
  #isClosed = false;

  constructor(data: WorkerData) {
    this.#data = data;
  }

  getContact(organizationId: string, id: string): Json<Contact> | null {
    return this.#read((connection) => getContact(connection, organizationId, id));
  }

  /** Null where the search may take long, and belongs to a process that can be killed. */
  searchContacts(search: ContactSearch): JsonPage<Contact, FacetField> | null {
    return this.#read((connection) => quickSearch(connection, search));
  }

  getAudience(organizationId: string, id: string): Audience | null {
    return this.#read((connection) => fromJson(getAudience(connection, organizationId, id)));
  }

  /** Yields to the event loop between contacts. Throws `OverloadedError` while too many batches are in flight. */
  getContacts(organizationId: string, ids: readonly string[], signal?: AbortSignal): Promise<ContactBatch> {
    return this.#batches.runExclusive([organizationId], async () => {
      signal?.throwIfAborted();
      if (this.#inFlight.isFull) throw new OverloadedError('search');
      const batch = new PageBuilder<Json<Contact>, Contact>({
        limit: ids.length,
        reservedBytes: JSON.stringify(ids).length,
        toJson: (contact) => contact,
      });
      const missing: string[] = [];
      const slice = new TimeSlice();
      let read = 0;
      for (const id of ids) {
        const contact = this.getContact(organizationId, id);
        if (contact === null) missing.push(id);
        else if (!batch.add(contact)) break;
        read++;
        if (slice.shouldYield(contact?.length)) await slice.yieldToEventLoop(signal);
      }
      this.#inFlight.hold(batch.bytes, signal);
      return { contacts: batch.items, missing, notReturned: ids.slice(read) };
    });
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#connection?.close();
  }

  #read<T>(work: (connection: Connection) => T): T {
    if (this.#isClosed) throw new StoreUnavailableError('search');
    return withStoreErrors(() => {
      this.#connection ??= new Connection(this.#data.path, { cacheMb: this.#data.cacheMb, readOnly: true });
      return work(this.#connection);
    });
  }
}
