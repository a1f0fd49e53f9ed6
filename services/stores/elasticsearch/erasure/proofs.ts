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
    documents,
    {
      ...journalSearch({ bool: { filter } }),
      search_after: searchAfter(after, null),
    },
    { limit, bestScore: null, toJson: ({ proof }) => toJson(proof as ErasureProof) },
  );
  return result;
}
