import type { ErasureProof } from '../../../contacts/erasure-store.js';
import type { Connection } from '../connection.js';

export function readErasure(connection: Connection, id: string): ErasureProof {
  const [proof] = connection.row<[string]>(`SELECT proof FROM erasures WHERE id = ?`, id) as [string];
  return JSON.parse(proof) as ErasureProof;
}

export function listErasures(connection: Connection, organizationId: string): ErasureProof[] {
  return connection
    .rows<[string]>(`SELECT proof FROM erasures WHERE organization_id = ?`, organizationId)
    .map(([proof]) => JSON.parse(proof) as ErasureProof)
    .sort((left, right) => left.requested_at.localeCompare(right.requested_at));
}
