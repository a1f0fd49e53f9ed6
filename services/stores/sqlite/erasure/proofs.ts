import type { ErasureProof, ErasureSearch } from '../../../contacts/erasure-store.js';
import type { Json } from '../../../shared/json.js';
import { EMPTY_SQL, sql } from '../../../shared/sql.js';
import { formatTimestamp } from '../../../shared/time.js';
import { rowsToFetch } from '../../common/page-builder.js';
import type { Connection } from '../connection.js';
import { buildPage, type JsonPage } from '../pages.js';

export function readErasure(connection: Connection, id: string): ErasureProof {
  const [proof] = connection.row<[string]>(sql`SELECT proof FROM erasures WHERE id = ?`, id) as [string];
  return JSON.parse(proof) as ErasureProof;
}

/** Whether data about an erased person may remain in a file. */
export const hasPendingErasures = (connection: Connection): boolean =>
  connection.row(sql`SELECT 1 FROM erasures WHERE completed_at IS NULL LIMIT 1`) !== undefined;

export function listErasures(
  connection: Connection,
  { organizationId, limit, after }: ErasureSearch,
): JsonPage<ErasureProof> {
  return connection.readTransaction(() => {
    const where = sql`organization_id = ?`;
    const total = connection.number(sql`SELECT count(*) FROM erasures WHERE ${where}`, organizationId);
    const rows = connection.each<[proof: Json<ErasureProof>, requestedAt: string, id: string]>(
      sql`SELECT proof, proof ->> 'requested_at' AS requested_at, id FROM erasures
        WHERE ${where} ${after ? sql`AND (requested_at, id) > (?, ?)` : EMPTY_SQL}
        ORDER BY requested_at, id LIMIT ?`,
      organizationId,
      ...(after ? [formatTimestamp(after.createdAt), after.id] : []),
      rowsToFetch(limit),
    );
    return buildPage(rows, total ?? 0, {
      limit,
      toJson: ([proof]) => proof,
      sortKeyOf: ([, requestedAt, id]) => ({ rank: 0, createdAt: Date.parse(requestedAt), id }),
    });
  });
}
