import type { ErasureProof, ErasureSearch } from '../../../contacts/erasure-store.js';
import type { Page } from '../../../search/query.js';
import { type Json, toJson } from '../../../shared/json.js';
import { fetchPage, searchAfter } from '../pages.js';
import { type JournalDocuments, journalSearch } from './journals.js';
import type { ErasureSource } from './suppression.js';

export async function listErasures(
  documents: JournalDocuments,
  { organizationId, limit, after }: ErasureSearch,
): Promise<Page<Json<ErasureProof>>> {
  const filter = [{ term: { organization_id: organizationId } }, { exists: { field: 'proof_id' } }];
  const { result } = await fetchPage<ErasureSource, ErasureProof>(
    {
      ...journalSearch({ bool: { filter } }),
      search_after: searchAfter(after, null),
    },
    { limit, bestScore: null, toJson: ({ proof }) => toJson(currentProof(proof as ErasureProof)) },
    (request) => documents.search(request),
  );
  return result;
}

/** Converts a proof of an earlier version, which counted dead letters (always none) and no rejections. */
const currentProof = ({ removed, ...proof }: ErasureProof): ErasureProof => {
  const { contacts, memberships, idempotency_answers, rejections = 0 } = removed;
  return { ...proof, removed: { contacts, memberships, idempotency_answers, rejections } };
};
