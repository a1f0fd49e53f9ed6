import type { estypes } from '@elastic/elasticsearch';
import { contactJson } from '../../../contacts/contact-json.js';
import {
  type ContactSearch,
  type ContactStore,
  deletionResult,
  explanationBytes,
  isReplayable,
} from '../../../contacts/contact-store.js';
import { noMatch } from '../../../search/partial.js';
import type { PartialMatch } from '../../../search/query.js';
import { FIRST_ITEMS, readContactBatch } from '../../common/contact-batch.js';
import { type Documents, documentId } from '../documents.js';
import type { AcceptanceTimes } from '../figures.js';
import type { IdempotencyKeys } from '../idempotency.js';
import { type Bounded, fetchPage, sortKey, totalHits } from '../pages.js';
import { createContact } from './creations.js';
import { findPeople, type WriteStores } from './documents.js';
import type { DuplicateLocks } from './duplicate-lock.js';
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
import {
  type Aggregations,
  contactFacets,
  contactQuery,
  findHeaviest,
  findWeights,
  firstFacetValues,
  type Hit,
  readRanked,
} from './search.js';
import { updateContact } from './updates.js';

interface ContactStoreDeps extends WriteStores {
  locks: DuplicateLocks;
  idempotencyKeys: IdempotencyKeys;
  acceptance: AcceptanceTimes;
  bounded: Bounded;
  shardsPerOrganization: number;
  /** Tokens of deleted audiences that contacts may still hold. */
  formerTokens(organizationId: string): Promise<ReadonlySet<AudienceToken>>;
  refresh(): Promise<void>;
}

export function contactStore(deps: ContactStoreDeps): ContactStore {
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

  /** The search, with the token of the audience instead of its id. */
  async function withToken(search: ContactSearch): Promise<ContactSearch> {
    const { organizationId, audienceId } = search;
    if (audienceId === undefined) return search;
    const found = await audiences.get(documentId(organizationId, audienceId), organizationId);
    return { ...search, audienceId: audienceToken(audienceId, found?.source.generation) };
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
      const search = await withToken(asked);
      let former: ReadonlySet<AudienceToken> = new Set();
      // Tombstones belong to no organization, so searches do not find them.
      const documents = contacts as Documents<ContactSource>;
      const form = {
        limit: search.limit,
        toJson: (source: ContactSource) => currentContact(source, former),
        reservedBytesPerItem: explanationBytes(search),
        explain: search.explain,
        isSorted: search.sort !== undefined,
      };
      const aggs = search.facets && firstFacetValues(search.facets, shardsPerOrganization);
      return bounded(caller?.signal, async (signal) => {
        const formerFound = formerTokens(search.organizationId);
        const run = async (part: estypes.SearchRequest) => {
          const [found, tokens] = await Promise.all([documents.search(part, signal), formerFound]);
          former = tokens;
          return found;
        };
        const readSources = (hits: readonly Hit[]) =>
          sourcesOf(documents, search.organizationId, hits, signal);
        const toFacets = (found: Aggregations, query?: estypes.QueryDslQueryContainer) =>
          contactFacets(search.facets ?? [], found, async (aggs) => {
            const { organizationId: routing } = search;
            const { aggregations } = await run({ routing, size: 0, track_total_hits: false, query, aggs });
            return aggregations ?? {};
          });
        const readPage = (partial?: PartialMatch) =>
          readRanked(search, partial, { run, readSources }, ({ request, bestScore }, runPart) =>
            fetchPage({ ...request, aggs }, { ...form, bestScore, toFacets }, runPart),
          );
        const { query, match, after } = search;
        const page = await readPage(after?.partial);
        if (page.result.total > 0 || after || !match || !query?.required.length) {
          return after?.partial ? withPartial(page, after.partial) : page;
        }
        const weights = await findWeights(search, query, run);
        const partial = match === 'best' ? await findHeaviest(search, query, weights, run) : null;
        return partial ? withPartial(await readPage(partial), partial) : withPartial(page, noMatch(weights));
      });
    },

    async searchContactKeys(search, caller) {
      const { request, bestScore } = contactQuery(await withToken(search));
      return bounded(caller?.signal, async (signal) => {
        const { hits } = await contacts.search({ ...request, size: search.limit, _source: false }, signal);
        const items = hits.hits.map(({ sort }) => sortKey(sort as (string | number)[], bestScore));
        const next = items.length < search.limit ? null : (items.at(-1) ?? null);
        return { result: { items, total: totalHits(hits), next }, bytes: 0 };
      });
    },

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

    async deleteContacts({ organizationId, contactIds, returnsContacts }) {
      const former = await formerTokens(organizationId);
      const deletions = await deleteContacts(contacts, organizationId, contactIds, clock.now(), {
        suppression,
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

/** Maximum bytes of contacts that are read to rank them. */
const MAX_RANKED_BYTES = 4 * 1024 * 1024;

/** Reads sources in several requests, so that no request grows with the size of contacts. */
async function sourcesOf(
  documents: Documents<ContactSource>,
  routing: string,
  hits: readonly Hit[],
  signal: AbortSignal,
): Promise<Hit[] | null> {
  const read: Hit[] = [];
  let bytes = 0;
  for (let start = 0; start < hits.length; start += FIRST_ITEMS) {
    if (bytes > MAX_RANKED_BYTES) return null;
    const part = hits.slice(start, start + FIRST_ITEMS);
    const wanted = part.map(({ _id }) => ({ id: _id as string, routing }));
    const found = await documents.getMany(wanted, signal);
    for (const hit of part) {
      const source = found.get(hit._id as string)?.source;
      if (!source || isTombstone(source)) return null;
      bytes += source.contact.length;
      read.push({ ...hit, _source: source });
    }
  }
  return read;
}

function withPartial<Result>({ result, bytes }: { result: Result; bytes: number }, partial: PartialMatch) {
  return { result: { ...result, partial }, bytes };
}
