import { type ContactStore, deletionResult } from '../../../contacts/contact-store.js';
import type { ErasureStore } from '../../../contacts/erasure-store.js';
import type { IdempotencyConflict } from '../../../shared/idempotency.js';
import type { Clock } from '../../../shared/time.js';
import { parsePage } from '../pages.js';
import type { PointReads } from '../point-reads.js';
import type { LookupOperations } from '../workers/lookup-thread.js';
import type { Result } from '../workers/rpc.js';
import type { SearchPool } from '../workers/search-pool.js';
import type { SearchOperations } from '../workers/search-process.js';
import type { WorkerClient } from '../workers/worker-client.js';
import type { RecordMessages, Writer } from '../writes/record-messages.js';
import type { WriteOperations } from '../writes/write-operations.js';

/** Each looks its words up in the text index. */
const DELETIONS_PER_MESSAGE = 50;

export interface ContactStoreDeps {
  writer: Writer;
  records: RecordMessages;
  lookups: WorkerClient<LookupOperations>;
  searches: SearchPool<SearchOperations>;
  points: PointReads;
  clock: Clock;
}

/** Contacts, their memberships and their erasures. */
export function contactStore({
  writer,
  records,
  lookups,
  searches,
  points,
  clock,
}: ContactStoreDeps): ContactStore & ErasureStore {
  /** Idempotency keys of writes in progress. */
  const running = new Set<string>();

  /** Rejects a request whose idempotency key is in progress. */
  async function writeOnce<Name extends 'createContact' | 'addMembership' | 'removeMembership'>(
    organizationId: string,
    operation: Name,
    command: Parameters<WriteOperations[Name]>[0],
  ): Promise<Result<WriteOperations[Name]> | IdempotencyConflict> {
    const { idempotency } = command;
    const args = [command, clock.now()] as Parameters<WriteOperations[Name]>;
    const write = () => writer.callFor(organizationId, operation, ...args);
    if (!idempotency) return write();
    const name = JSON.stringify([organizationId, idempotency.route, idempotency.key]);
    if (running.has(name)) return { kind: 'idempotency_in_progress' };
    running.add(name);
    try {
      return await write();
    } finally {
      running.delete(name);
    }
  }

  return {
    getContact: async (organizationId, contactId) => points.getContact(organizationId, contactId),
    getContacts: (organizationId, contactIds, signal) =>
      points.getContacts(organizationId, contactIds, signal),
    async searchContacts(search, request) {
      const page = points.searchContacts(search);
      if (page) return page;
      return parsePage(
        await searches.call(search.organizationId, 'searchContacts', [search], request?.signal),
      );
    },
    createContact: (command) => writeOnce(command.contact.organization_id, 'createContact', command),
    addMembership: (membership) => writeOnce(membership.organizationId, 'addMembership', membership),
    removeMembership: (membership) => writeOnce(membership.organizationId, 'removeMembership', membership),
    upsertContacts: (contacts) => records.write('upsertContacts', contacts),
    /** In parts, between which other requests are written. */
    async deleteContacts(organizationId, contactIds) {
      const deleted: string[] = [];
      for (let start = 0; start < contactIds.length; start += DELETIONS_PER_MESSAGE) {
        const part = contactIds.slice(start, start + DELETIONS_PER_MESSAGE);
        deleted.push(
          ...(await writer.callFor(organizationId, 'deleteContacts', organizationId, part, clock.now())),
        );
      }
      return deletionResult(contactIds, deleted);
    },
    async eraseContacts(command) {
      const { organizationId, proofId } = command;
      const result = await writer.callFor(organizationId, 'eraseContacts', command, clock.now());
      // The person is erased whatever fails here: the writer goes on when it is idle.
      const proof = await writer
        .call('completeErasures', clock.now())
        .then(() => lookups.call('readErasure', proofId))
        .catch(() => result.proof);
      return { ...result, proof };
    },
    listErasures: (search) => lookups.call('listErasures', search),
  };
}
