import { identifiersOfErasure, MAX_RELATED, planErasure } from '../../../contacts/erasure-plan.js';
import { type EraseCommand, type ErasureResult, pendingProof } from '../../../contacts/erasure-store.js';
import type { ContactBody } from '../../../contacts/stored-contact.js';
import { type Identifier, identifiersOf, showsContact } from '../../../contacts/suppression.js';
import { sql } from '../../../shared/sql.js';
import type { Connection } from '../connection.js';
import { emailQuery, profileQuery } from '../contacts/mapping.js';
import { type ContactRow, readContactRow } from '../contacts/rows.js';
import { eraseRows } from '../contacts/writes.js';
import { forgetAnswers, forgetAnswersOf } from '../idempotency.js';
import { findOrganizationKey } from '../organizations.js';
import { OrganizationTerms } from '../text/fts-query.js';
import type { WriteSession } from '../writes/write-session.js';
import { Suppression } from './suppression.js';

/** Removes contacts and suppresses their identifiers. Their bytes stay in the write-ahead log until `completeErasures`. */
export function eraseContacts(session: WriteSession, command: EraseCommand, now: number): ErasureResult {
  const { connection } = session;
  const { organizationId, proofId, contactIds, named } = command;
  const organization = findOrganizationKey(connection, organizationId);
  const rows =
    organization === undefined
      ? []
      : contactIds.flatMap((id) => readContactRow(connection, organization, id) ?? []);
  if (organization !== undefined) {
    const ids = [...contactIds, ...named.flatMap(({ kind, value }) => (kind === 'id' ? [value] : []))];
    eraseRows(session, organization, rows, ids);
  }
  const bodies = rows.map(({ body }) => body);
  const identifiers = identifiersOfErasure(named, bodies);
  const { suppressed, related } = planErasure(
    identifiers.map((identifier) => ({
      identifier,
      holderIds: organization === undefined ? [] : holdersOf(connection, organization, identifier),
    })),
  );
  const hashes = new Suppression(connection).add(organizationId, suppressed);
  const removed = {
    contacts: rows.length,
    memberships: rows.reduce((sum, { audienceIds }) => sum + audienceIds.length, 0),
    idempotency_answers: forgetAnswersOf(connection, organizationId, identifiers),
    dead_letters: 0,
  };
  const proof = pendingProof(command, { hashes, removed }, now);
  connection.run(
    sql`INSERT INTO erasures (id, organization_id, proof, completed_at) VALUES (?, ?, ?, NULL)`,
    proofId,
    organizationId,
    JSON.stringify(proof),
  );
  return { erased: bodies.map(({ contact_id }) => contact_id), related, proof };
}

/** Ids of the contacts that have the identifier. */
function holdersOf(connection: Connection, organization: number, { kind, value }: Identifier): string[] {
  if (kind === 'id') return readContactRow(connection, organization, value) ? [value] : [];
  const terms = new OrganizationTerms(organization);
  return connection
    .rows<[string]>(
      sql`SELECT c.id FROM contact_terms t
         CROSS JOIN contacts c ON c.organization = ? AND c.position = t.rowid
        WHERE contact_terms MATCH ? LIMIT ?`,
      organization,
      (kind === 'email' ? emailQuery(terms, value) : profileQuery(terms, value)).text,
      MAX_RELATED,
    )
    .map(([id]) => id);
}

/** Removes contacts that are suppressed: those of a backup from before their erasure. */
export function removeSuppressed(session: WriteSession): number {
  const { connection } = session;
  const suppression = new Suppression(connection);
  const organizations = connection.rows<[string]>(sql`SELECT DISTINCT organization_id FROM suppressed`);
  let removed = 0;
  for (const [organizationId] of organizations) {
    const organization = findOrganizationKey(connection, organizationId);
    if (organization === undefined) continue;
    const rows: ContactRow[] = [];
    for (const [id] of connection.rows<[string]>(
      sql`SELECT id FROM contacts WHERE organization = ?`,
      organization,
    )) {
      const row = readContactRow(connection, organization, id) as ContactRow;
      if (suppression.includes(organizationId, () => identifiersOf(row.body))) rows.push(row);
    }
    const deletions = connection.rows<[string]>(
      sql`SELECT id FROM deleted_contacts WHERE organization = ?`,
      organization,
    );
    const ids = deletions.flatMap(([value]) =>
      suppression.includes(organizationId, () => [{ kind: 'id', value }]) ? [value] : [],
    );
    eraseRows(session, organization, rows, ids);
    const isSuppressed = (body: ContactBody) =>
      suppression.includes(organizationId, () => identifiersOf(body));
    forgetAnswers(connection, organizationId, showsContact(isSuppressed));
    removed += rows.length;
  }
  return removed;
}
