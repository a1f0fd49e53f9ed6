/**
 * An erasure in steps, each in its own transaction. The first step suppresses the named identifiers, so that no writer creates the person
 * again. The other steps find and remove contacts that have these identifiers. A job records the remaining work, for the next step or for
 * the next start of the process.
 */
import {
  foundIdentifiers,
  type HeldIdentifier,
  MAX_RELATED,
  mergeRelated,
  planErasure,
} from '../../../contacts/erasure-plan.js';
import {
  type EraseCommand,
  type ErasureProof,
  pendingProof,
  type RemovedCounts,
} from '../../../contacts/erasure-store.js';
import { TRACE_PLACES } from '../../../contacts/personal-data.js';
import { type Identifier, identifiersOf, withoutAddresses } from '../../../contacts/suppression.js';
import { fromJson, type Json, toJson } from '../../../shared/json.js';
import { sql } from '../../../shared/sql.js';
import type { Connection } from '../connection.js';
import { emailQuery, profileQuery } from '../contacts/indexed-contact.js';
import { type ContactRow, readContactRow } from '../contacts/rows.js';
import { eraseContact, updateRow } from '../contacts/writes.js';
import { beginJob, type Job, type JobStepResult } from '../jobs/job-table.js';
import { findOrganizationKey } from '../organizations.js';
import { andNot, anyOf, type FtsQuery, OrganizationTerms } from '../text/fts-query.js';
import type { IsTimeUp } from '../writes/write-batch.js';
import type { WriteSession } from '../writes/write-session.js';
import { Suppression } from './suppression.js';
import { type Organization, TRACES } from './traces.js';

/** Number of contacts that one query looks up. */
const CONTACTS_PER_QUERY = 20;

const NOTHING: RemovedCounts = { contacts: 0, memberships: 0, idempotency_answers: 0, rejections: 0 };

/**
 * The first step of an erasure, which records the job for the other steps. Does nothing if the erasure exists already. `now` is in
 * milliseconds since the epoch.
 */
export function beginErasure(session: WriteSession, command: EraseCommand, now: number): void {
  const { connection } = session;
  const { organizationId, proofId, named } = command;
  if (connection.row(sql`SELECT 1 FROM erasures WHERE id = ?`, proofId)) return;
  const hashes = new Suppression(connection).add(organizationId, named, 'named');
  connection.run(
    sql`INSERT INTO erasures (id, organization_id, proof, completed_at) VALUES (?, ?, ?, NULL)`,
    proofId,
    organizationId,
    toJson(pendingProof(command, { hashes, removed: NOTHING }, now)),
  );
  const organization = session.organizationKey(organizationId);
  const state = { named: [...named], related: [] };
  beginJob(connection, { id: proofId, kind: 'erase-contacts', organization, state }, now);
}

/** Removes at least one contact of a person whose erasure has begun, and further contacts until time is up. */
export function eraseStep(
  session: WriteSession,
  { id: proofId, organization, state: work }: Job<'erase-contacts'>,
  _now: number,
  isTimeUp: IsTimeUp,
): JobStepResult<'erase-contacts'> {
  const { connection } = session;
  const [organizationId, json] = connection.row<[string, Json<ErasureProof>]>(
    sql`SELECT organization_id, proof FROM erasures WHERE id = ?`,
    proofId,
  ) as [string, Json<ErasureProof>];
  const proof = fromJson(json);
  const step = new ErasureStep(session, { id: organizationId, key: organization }, work.named);
  const isRemoved = step.run(isTimeUp);
  const related = mergeRelated([...work.related, ...step.related]);
  const removed = { ...proof.removed };
  for (const name of Object.keys(NOTHING) as (keyof RemovedCounts)[]) removed[name] += step.removed[name];
  connection.run(
    sql`INSERT INTO erasure_steps (erasure, step, hashes)
     SELECT ?1, coalesce(max(step), 0) + 1, ?2 FROM erasure_steps WHERE erasure = ?1`,
    proofId,
    toJson(step.hashes),
  );
  const hashes = isRemoved ? allHashes(connection, proofId, proof) : proof.hashes;
  connection.run(
    sql`UPDATE erasures SET proof = ?, change = ? WHERE id = ?`,
    toJson({ ...proof, hashes, removed }),
    isRemoved ? session.nextChange() : null,
    proofId,
  );
  if (isRemoved) connection.run(sql`DELETE FROM erasure_steps WHERE erasure = ?`, proofId);
  return { left: isRemoved ? null : { ...work, related }, progress: { erased: step.erased, related } };
}

function allHashes(connection: Connection, proofId: string, { hashes }: ErasureProof): string[] {
  const steps = connection.rows<[Json<string[]>]>(
    sql`SELECT hashes FROM erasure_steps WHERE erasure = ?`,
    proofId,
  );
  return [...new Set([...hashes, ...steps.flatMap(([json]) => fromJson(json))])].sort();
}

/** Removes contacts that have a named identifier, and counts the removed data. */
class ErasureStep {
  readonly erased: string[] = [];
  readonly related: string[] = [];
  readonly hashes: string[] = [];
  readonly removed: RemovedCounts = { ...NOTHING };
  readonly #session: WriteSession;
  readonly #connection: Connection;
  readonly #organization: Organization;
  readonly #named: readonly Identifier[];
  readonly #suppression: Suppression;

  constructor(session: WriteSession, organization: Organization, named: readonly Identifier[]) {
    this.#session = session;
    this.#connection = session.connection;
    this.#organization = organization;
    this.#named = named;
    this.#suppression = new Suppression(session.connection);
  }

  /** Returns true once no contact has a named identifier. */
  run(isTimeUp: IsTimeUp): boolean {
    // Earlier requests in this transaction may have written a contact.
    this.#session.applyIndexChanges();
    for (;;) {
      const rows = this.#holders();
      for (const row of rows) {
        this.#remove(row);
        if (isTimeUp()) return false;
      }
      if (rows.length > 0) continue;
      for (const identifier of this.#deleted()) {
        this.hashes.push(...this.#suppression.add(this.#organization.id, [identifier], 'found'));
        this.#removeTraces([identifier]);
        if (isTimeUp()) return false;
      }
      if (this.#deleted().length > 0) continue;
      this.#removeTraces(this.#named);
      return true;
    }
  }

  /** Finds some contacts that have a named identifier. */
  #holders(): ContactRow[] {
    const ids = this.#named.flatMap(({ kind, value }) => (kind === 'id' ? [value] : []));
    const query = queryOf(this.#organization.key, this.#named);
    if (query) ids.push(...this.#idsOf(query, CONTACTS_PER_QUERY));
    const rows: ContactRow[] = [];
    for (const id of new Set(ids)) {
      const row = readContactRow(this.#connection, this.#organization.key, id);
      if (row) rows.push(row);
      if (rows.length === CONTACTS_PER_QUERY) break;
    }
    return rows;
  }

  /** Ids of some deleted contacts that had a named address when they were deleted. */
  #deleted(): Identifier[] {
    const { id, key } = this.#organization;
    return this.#named
      .flatMap((each) => this.#suppression.deletedWith(id, key, each, CONTACTS_PER_QUERY))
      .map((value) => ({ kind: 'id', value }));
  }

  #remove(row: ContactRow): void {
    eraseContact(this.#session, this.#organization.key, row);
    const found = foundIdentifiers(this.#named, row.body);
    const { suppressed, related } = planErasure(this.#withHolders(found));
    this.hashes.push(...this.#suppression.add(this.#organization.id, suppressed, 'found'));
    this.related.push(...related);
    this.erased.push(row.body.contact_id);
    this.removed.contacts++;
    this.removed.memberships += row.audienceIds.length;
    this.#removeTraces(found);
  }

  /** Removes data about the identifiers that is stored outside contacts. */
  #removeTraces(identifiers: readonly Identifier[]): void {
    for (const place of TRACE_PLACES) {
      const count = TRACES[place].remove(this.#connection, this.#organization, identifiers);
      if (place !== 'deletions') this.removed[place] += count;
    }
  }

  /** Adds to each identifier the contacts that have this identifier and stay. */
  #withHolders(found: readonly Identifier[]): HeldIdentifier[] {
    const stays = (identifiers: readonly Identifier[], limit: number): string[] => {
      const query = queryOf(this.#organization.key, identifiers);
      if (!query) return [];
      const named = queryOf(this.#organization.key, this.#named);
      const ids = new Set(this.#named.flatMap(({ kind, value }) => (kind === 'id' ? [value] : [])));
      // Excludes the named contacts before the limit applies: otherwise, a thousand contacts that are about to be removed would hide a
      // contact that stays.
      return this.#idsOf(named ? andNot(query, [named]) : query, limit, ids);
    };
    const isShared = stays(found, 1).length > 0;
    return found.map((identifier) => ({
      identifier,
      holderIds: isShared ? stays([identifier], MAX_RELATED) : [],
    }));
  }

  #idsOf(query: FtsQuery, limit: number, without: ReadonlySet<string> = new Set()): string[] {
    return this.#connection
      .rows<[string]>(
        sql`SELECT c.id FROM contact_terms t
           CROSS JOIN contacts c ON c.organization = ? AND c.position = t.rowid
          WHERE contact_terms MATCH ? AND c.id NOT IN (SELECT value FROM json_each(?)) LIMIT ?`,
        this.#organization.key,
        query.text,
        toJson([...without]),
        limit,
      )
      .map(([id]) => id);
  }
}

/** Query for contacts that have one of the identifiers; undefined if all of the identifiers are ids. */
function queryOf(organization: number, identifiers: readonly Identifier[]): FtsQuery | undefined {
  const terms = new OrganizationTerms(organization);
  const queries = identifiers.flatMap(({ kind, value }) => {
    if (kind === 'id') return [];
    return [kind === 'email' ? emailQuery(terms, value) : profileQuery(terms, value)];
  });
  return queries.length > 0 ? anyOf(queries) : undefined;
}

export interface SuppressedContacts {
  /** Number of removed contacts of erased persons. */
  removed: number;
  /** Number of contacts that stay, but from which an address of an erased person was removed. */
  changed: number;
}

/**
 * Repairs a backup that is older than erasures: removes contacts of erased persons, and removes the addresses of these persons from other
 * contacts. A contact with such an address could not be changed by later records.
 */
export function removeSuppressed(session: WriteSession): SuppressedContacts {
  const { connection } = session;
  const suppression = new Suppression(connection);
  const organizations = connection.rows<[string]>(sql`SELECT DISTINCT organization_id FROM suppressed`);
  const contacts: SuppressedContacts = { removed: 0, changed: 0 };
  for (const [organizationId] of organizations) {
    const organization = findOrganizationKey(connection, organizationId);
    if (organization === undefined) continue;
    const isSuppressed = (identifiers: readonly Identifier[]) =>
      suppression.includes(organizationId, () => identifiers);
    for (const [id] of connection.rows<[string]>(
      sql`SELECT id FROM contacts WHERE organization = ?`,
      organization,
    )) {
      const row = readContactRow(connection, organization, id) as ContactRow;
      const identifiers = identifiersOf(row.body);
      if (!isSuppressed(identifiers)) continue;
      if (suppression.includesContact(organizationId, identifiers)) {
        eraseContact(session, organization, row);
        contacts.removed++;
        continue;
      }
      const body = withoutAddresses(row.body, (address) => isSuppressed([address]));
      updateRow(session, organization, row, { ...row, body });
      session.applyIndexChanges();
      contacts.changed++;
    }
    const owner = { id: organizationId, key: organization };
    for (const place of TRACE_PLACES) TRACES[place].removeSuppressed(connection, owner, isSuppressed);
  }
  return contacts;
}
