import type { ChangeFeed } from '../../../contacts/change-feed.js';
import type { ContactStore } from '../../../contacts/contact-store.js';
import type { Contact } from '../../../contacts/schema.js';
import { KeyedMutex, TimeSlice } from '../../../shared/async.js';
import { fromJson, type Json } from '../../../shared/json.js';
import { OverloadedError } from '../../../shared/store-errors.js';
import type { Clock } from '../../../shared/time.js';
import { readContactBatch } from '../../common/contact-batch.js';
import { InFlightBytes } from '../../common/in-flight-bytes.js';
import { parsePage } from '../pages.js';
import type { Reader } from '../reader.js';
import type { SearchPool } from '../workers/search-pool.js';
import type { SearchOperations } from '../workers/search-process.js';
import { type Writer, writeRecords } from '../writes/record-messages.js';
import type { WriteOnce } from '../writes/write-once.js';
import { parseChanges, quickChanges } from './changes.js';
import { getContact, quickSearch } from './search.js';

/** Bytes of batches in flight above which no batch starts. */
const MAX_IN_FLIGHT_BYTES = 32 * 1024 * 1024;

export interface ContactStoreDeps {
  writer: Writer;
  writeOnce: WriteOnce;
  searches: SearchPool<SearchOperations>;
  reader: Reader;
  clock: Clock;
  ageClock: Clock;
  changesDays: number;
}

/** Store of contacts and their memberships. */
export function contactStore({
  writer,
  writeOnce,
  searches,
  reader,
  clock,
  ageClock,
  changesDays,
}: ContactStoreDeps): ContactStore & ChangeFeed {
  /** One batch per organization at a time, because each batch holds up to 4 MiB. */
  const batches = new KeyedMutex();
  const inFlight = new InFlightBytes(MAX_IN_FLIGHT_BYTES);

  return {
    getContact: async (organizationId, contactId) =>
      reader.read((connection) => getContact(connection, organizationId, contactId)),
    getContacts: (organizationId, contactIds, signal) =>
      batches.runExclusive([organizationId], async () => {
        signal?.throwIfAborted();
        if (inFlight.isFull) throw new OverloadedError('records');
        const slice = new TimeSlice();
        const { result, bytes } = await readContactBatch(contactIds, async (ids) => {
          const found: (Json<Contact> | null)[] = [];
          for (const id of ids) {
            const contact = reader.read((connection) => getContact(connection, organizationId, id));
            found.push(contact);
            if (slice.shouldYield(contact?.length)) await slice.yieldToEventLoop(signal);
          }
          return found;
        });
        inFlight.hold(bytes, signal);
        return result;
      }),
    findPeople: async (query, signal) =>
      fromJson(await searches.call(query.organizationId, 'findPeople', [query], signal)),
    async searchContacts(search, request) {
      const page = reader.read((connection) => quickSearch(connection, search));
      if (page) return page;
      return parsePage(
        await searches.call(search.organizationId, 'searchContacts', [search], request?.signal),
      );
    },
    searchContactKeys: async (search, request) =>
      fromJson(await searches.call(search.organizationId, 'searchContactKeys', [search], request?.signal)),
    countContacts: async (organizationId, filters, request) =>
      fromJson(
        await searches.call(organizationId, 'countContacts', [organizationId, filters], request?.signal),
      ),
    listImports: async (organizationId, signal) =>
      fromJson(await searches.call(organizationId, 'listImports', [organizationId], signal)),
    async readChanges(request, signal) {
      if (changesDays === 0 && request.organizationId !== undefined) return { kind: 'unavailable' };
      const page = reader.read((connection) => quickChanges(connection, request));
      if (page) return page;
      return parseChanges(
        await searches.call(request.organizationId ?? '', 'readChanges', [request], signal),
      );
    },
    deleteOldMarks: () => writer.call('deleteOldMarks', ageClock.now(), changesDays),
    createContact: (command) => writeOnce(command.contact.organization_id, 'createContact', command),
    updateContact: (command) => writeOnce(command.organizationId, 'updateContact', command),
    addMembership: (membership) => writeOnce(membership.organizationId, 'addMembership', membership),
    removeMembership: (membership) => writeOnce(membership.organizationId, 'removeMembership', membership),
    changeMemberships: (change) =>
      writer.callFor(change.organizationId, 'changeMemberships', change, clock.now()),
    upsertContacts: (contacts) => writeRecords(writer, 'upsertContacts', contacts),
    deleteContacts: (command) =>
      writer.callFor(command.organizationId, 'deleteContacts', command, clock.now()),
  };
}
