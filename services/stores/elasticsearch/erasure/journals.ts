/** Journals of erasures: the proof of each erasure, and its remaining work. */
import type { estypes } from '@elastic/elasticsearch';
import type { SqlCopies } from '../../common/sql-copy.js';
import { type Documents, type VersionedDocument, versionOfHit } from '../documents.js';
import type { ErasureSource } from './suppression.js';

const ERASURES_PER_PAGE = 1000;
const ORDER: estypes.SortCombinations[] = [{ requested_at: 'asc' }, { proof_id: 'asc' }];

/** Query for incomplete erasures. */
export const PENDING = [{ term: { pending: true } }];

/** Query for erasures of which only bytes remain. */
export const DELETED = [...PENDING, { exists: { field: 'deleted_at' } }];

export type JournalDocuments = Documents<ErasureSource>;
export type Journal = VersionedDocument<ErasureSource>;

/**
 * Returns the copies for SQL, null if there are none, and undefined if they are not open yet or not in this process: then this process
 * completes no erasure.
 */
export type CopiesToErase = () => SqlCopies | null | undefined;

/** A search for erasures, oldest first. */
export const journalSearch = (query: estypes.QueryDslQueryContainer) => ({
  size: ERASURES_PER_PAGE,
  seq_no_primary_term: true,
  query,
  sort: ORDER,
});

/** Pages of erasures, oldest first. */
export async function* journalPages(
  documents: JournalDocuments,
  filter: estypes.QueryDslQueryContainer[],
): AsyncGenerator<Journal[], void> {
  for await (const hits of documents.pages(journalSearch({ bool: { filter } }))) yield hits.map(versionOfHit);
}

/** Replaces journals. Journals that changed meanwhile are left to the next call. */
export async function replaceJournals(
  documents: JournalDocuments,
  journals: readonly Journal[],
  change: (source: ErasureSource) => ErasureSource,
): Promise<void> {
  await documents.writeMany(
    journals.map((before) => ({
      id: before.id,
      before,
      json: () => JSON.stringify(change(before.source)),
    })),
  );
}

/** The contacts that an erasure named or found. */
export const erasedIds = ({ contact_ids = [], work }: ErasureSource): string[] => [
  ...new Set([
    ...contact_ids,
    ...(work?.named ?? []).flatMap(({ kind, value }) => (kind === 'id' ? [value] : [])),
  ]),
];
