import type { Cluster } from './client.js';
import { Documents } from './documents.js';
import type { IndexNames } from './migrations/indices.js';
import { totalHits } from './pages.js';

/** Resources whose documents belong to an organization. */
const ORGANIZATION_RESOURCES = ['contacts', 'audiences', 'visits', 'keys', 'accounts'] as const;

/** Whether any document belongs to another organization. */
export async function hasOtherOrganization(
  cluster: Cluster,
  names: IndexNames,
  organizationId: string,
): Promise<boolean> {
  const index = ORGANIZATION_RESOURCES.map((resource) => names.alias(resource)).join(',');
  // These indices are refreshed separately, because `refresh` does not cover credits and keys.
  await cluster.refresh(index);
  const { hits } = await new Documents(cluster, index).search({
    size: 0,
    terminate_after: 1,
    // Tombstones belong to no organization.
    query: {
      bool: {
        filter: { exists: { field: 'organization_id' } },
        must_not: { term: { organization_id: organizationId } },
      },
    },
  });
  return totalHits(hits) > 0;
}
