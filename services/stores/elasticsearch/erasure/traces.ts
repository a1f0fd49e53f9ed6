/** Removes data about persons that is stored outside contacts (services/contacts/personal-data.ts). */
import { TRACE_PLACES, type TracePlace } from '../../../contacts/personal-data.js';
import type { Identifier } from '../../../contacts/suppression.js';
import type { Documents } from '../documents.js';
import type { IdempotencyKeys } from '../idempotency.js';
import { eraseRejections, type RejectionSource } from '../rejections.js';

export interface TraceStores {
  rejections: Documents<RejectionSource>;
  idempotencyKeys: IdempotencyKeys;
}

export type TraceCounts = Record<TracePlace, number>;

/** Removes data stored under the identifiers. Resolves with the number of documents. */
type RemoveTraces = (
  stores: TraceStores,
  organizationId: string,
  identifiers: readonly Identifier[],
) => Promise<number>;

const TRACES: Readonly<Record<TracePlace, RemoveTraces>> = {
  // Tombstones stay until the completion deletes them while no reindex runs; a reindex would create them again.
  deletions: async () => 0,
  idempotency_answers: ({ idempotencyKeys }, organizationId, identifiers) =>
    idempotencyKeys.deleteOutcomes(organizationId, identifiers),
  rejections: ({ rejections }, organizationId, identifiers) => {
    const ids = identifiers.flatMap(({ kind, value }) => (kind === 'id' ? [value] : []));
    return eraseRejections(rejections, organizationId, new Set(ids));
  },
};

/** Removes data stored under the identifiers in every trace place. */
export async function removeTraces(
  stores: TraceStores,
  organizationId: string,
  identifiers: readonly Identifier[],
): Promise<TraceCounts> {
  const counts: Partial<TraceCounts> = {};
  for (const place of TRACE_PLACES) {
    counts[place] = await TRACES[place](stores, organizationId, identifiers);
  }
  return counts as TraceCounts;
}
