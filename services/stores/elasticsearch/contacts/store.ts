import type { estypes } from '@elastic/elasticsearch';
import type { ChangeFeed } from '../../../contacts/change-feed.js';
import { contactJson } from '../../../contacts/contact-json.js';
import {
  type ContactCriteria,
  type ContactSearch,
  type ContactStore,
  deletionResult,
  isReplayable,
} from '../../../contacts/contact-store.js';
import { readContactBatch } from '../../common/contact-batch.js';
import type { AcceptanceTimes } from '../counts.js';
import { type Documents, documentId } from '../documents.js';
import type { IdempotencyKeys } from '../idempotency.js';
import { type BoundedRead, sortKey, totalHits } from '../pages.js';
import { type ChangeFeedDeps, changeFeed } from './change-feed.js';
import { createContact } from './creations.js';
import { findPeople, type WriteStores } from './documents.js';
import type { DuplicateLocks } from './duplicate-lock.js';
import { listImports } from './imports.js';
import {
  type AudienceToken,
  audienceToken,
  type ContactSource,
  currentContact,
  isTombstone,
  publicIds,
  publicOutcome,
} from './indexed-contact.js';
import { addMembership, changeMemberships, removeMembership } from './memberships.js';
import { deleteContacts, upsertContacts } from './records.js';
import { contactQuery, filterCountsRequest } from './search.js';
import { searchPage } from './search-page.js';
import { updateContact } from './updates.js';

interface ContactStoreDeps
  extends WriteStores,
    Pick<ChangeFeedDeps, 'cluster' | 'names' | 'ageClock' | 'changesDays' | 'deletedMarks'> {
  locks: DuplicateLocks;
  idempotencyKeys: IdempotencyKeys;
  acceptance: AcceptanceTimes;
  bounded: BoundedRead;
  shardsPerOrganization: number;
  /** Tokens of deleted audiences that contacts may still hold. */
  formerTokens(organizationId: string): Promise<ReadonlySet<AudienceToken>>;
  /** The `formerTokens` of every organization. */
  allFormerTokens(): Promise<ReadonlyMap<string, ReadonlySet<AudienceToken>>>;
  refresh(): Promise<void>;
}

export function contactStore(deps: ContactStoreDeps): ContactStore & ChangeFeed {
  const {
    contacts,
    idempotencyKeys,
    suppression,
    acceptance,
    clock,
    bounded,
    shardsPerOrganization,
    formerTokens,
    audiences,
    refresh,
  } = deps;

  /** The search, with tokens of audiences instead of their ids. */
  async function withTokens(search: ContactSearch): Promise<ContactSearch> {
    const { organizationId, anyOf, noneOf } = search;
    const withToken = async <Criteria extends ContactCriteria>(criteria: Criteria): Promise<Criteria> => {
      const { audienceId } = criteria;
      if (audienceId === undefined) return criteria;
      const found = await audiences.get(documentId(organizationId, audienceId), organizationId);
      return { ...criteria, audienceId: audienceToken(audienceId, found?.source.generation) };
    };
    return {
      ...(await withToken(search)),
      anyOf: anyOf && (await Promise.all(anyOf.map(withToken))),
      noneOf: noneOf && (await Promise.all(noneOf.map(withToken))),
    };
  }

  return {
    async getContact(organizationId, contactId, request) {
      const id = documentId(organizationId, contactId);
      const [found, former] = await Promise.all([
        contacts.get(id, organizationId, request?.signal),
        formerTokens(organizationId),
      ]);
      return found && !isTombstone(found.source) ? currentContact(found.source, former) : null;
    },

    getContacts(organizationId, contactIds, caller) {
      return bounded(caller, (signal) =>
        readContactBatch(contactIds, async (ids) => {
          const wanted = ids.map((id) => ({ id: documentId(organizationId, id), routing: organizationId }));
          const [found, former] = await Promise.all([
            contacts.getMany(wanted, signal),
            formerTokens(organizationId),
          ]);
          return wanted.map(({ id }) => {
            const source = found.get(id)?.source;
            return source && !isTombstone(source) ? currentContact(source, former) : null;
          });
        }),
      );
    },

    findPeople: (query, caller) =>
      bounded(caller, async (signal) => ({ result: await findPeople(contacts, query, signal), bytes: 0 })),

    async searchContacts(asked, caller) {
      const search = await withTokens(asked);
      return bounded(caller?.signal, (signal) => {
        const documents = contacts as Documents<ContactSource>;
        const tokens = formerTokens(search.organizationId);
        return searchPage({ documents, formerTokens: tokens, shardsPerOrganization, signal }, search);
      });
    },

    countContacts: (organizationId, filters, caller) =>
      bounded(caller?.signal, async (signal) => {
        const { aggregations = {} } = await contacts.search(
          filterCountsRequest(organizationId, filters),
          signal,
        );
        const { buckets } = aggregations.counts as estypes.AggregationsFiltersAggregate;
        const result = (buckets as estypes.AggregationsFiltersBucket[]).map(({ doc_count }) => doc_count);
        return { result, bytes: 0 };
      }),

    async searchContactKeys(search, caller) {
      const { request, bestScore } = contactQuery(await withTokens(search));
      return bounded(caller?.signal, async (signal) => {
        const { hits } = await contacts.search({ ...request, size: search.limit, _source: false }, signal);
        const items = hits.hits.map(({ sort }) => sortKey(sort as (string | number)[], bestScore));
        const next = items.length < search.limit ? null : (items.at(-1) ?? null);
        return { result: { items, total: totalHits(hits), next }, bytes: 0 };
      });
    },

    ...changeFeed({
      ...deps,
      withTokens,
      async formerTokens(organizationId) {
        if (organizationId === undefined) return deps.allFormerTokens();
        return new Map([[organizationId, await formerTokens(organizationId)]]);
      },
    }),

    createContact(command) {
      const { contact, idempotency, dryRun } = command;
      return idempotencyKeys.runIdempotent(
        { organizationId: contact.organization_id, idempotency, newId: contact.contact_id },
        async (key, now) => publicOutcome(await createContact(deps, command, key, now)),
        (outcome) => isReplayable(outcome, dryRun),
      );
    },

    updateContact(command) {
      return idempotencyKeys.runIdempotent(
        command,
        async (key, now) => {
          const outcome = await updateContact(deps, command, key, now);
          if (outcome.kind === 'updated') await refresh();
          return publicOutcome(outcome);
        },
        isReplayable,
      );
    },

    addMembership(membership) {
      const add = async (_: unknown, now: number) =>
        publicOutcome(await addMembership(deps, membership, now));
      return idempotencyKeys.runIdempotent(membership, add, isReplayable);
    },

    removeMembership(membership) {
      return idempotencyKeys.runIdempotent(
        membership,
        (key, now) => removeMembership(deps, membership, key, now),
        isReplayable,
      );
    },

    changeMemberships: (change) => changeMemberships(deps, change),

    upsertContacts(records) {
      const written = upsertContacts(contacts, audiences, records, suppression, clock);
      return acceptance.noteWritten('contacts', records, written);
    },

    listImports: (organizationId, caller) =>
      bounded(caller, async (signal) => ({
        result: await listImports(contacts, organizationId, shardsPerOrganization, signal),
        bytes: 0,
      })),

    async deleteContacts({ organizationId, contactIds, returnsContacts, ofImport }) {
      const former = await formerTokens(organizationId);
      const deletions = await deleteContacts(contacts, organizationId, contactIds, clock.now(), {
        suppression,
        ofImport,
        toJson: returnsContacts
          ? (contact) => contactJson({ ...contact, audienceIds: publicIds(contact.audienceIds, former) })
          : undefined,
      });
      const result = deletionResult(deletions);
      if (result.deleted.length > 0) await refresh();
      return result;
    },
  };
}
