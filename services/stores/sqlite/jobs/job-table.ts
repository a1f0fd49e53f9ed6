/**
 * Jobs: long work that is done in steps. A row of the table `jobs` records the remaining work, and each step commits its changes and the
 * new remaining work together.
 */

import type { Identifier } from '../../../contacts/suppression.js';
import { fromJson, type Json, toJson } from '../../../shared/json.js';
import { sql } from '../../../shared/sql.js';
import type { Connection } from '../connection.js';

/** The retired key of an audience: memberships under it belong to no audience. */
export interface FormerAudience {
  key: number;
  /** The audience id that contacts may still name. */
  audience_id: string;
}

/** An erasure with contacts left to remove. The id of the job is the id of the erasure. */
export interface ErasureWork {
  named: Identifier[];
  /** Ids of contacts that stay, found by all steps so far. */
  related: string[];
}

/** State of each kind of job: the work that is left. */
export interface JobStates {
  'remove-memberships': FormerAudience;
  'erase-contacts': ErasureWork;
}
export type JobKind = keyof JobStates;

/** Result of a step of each kind of job, for callers that wait for the job. */
export interface JobProgress {
  'remove-memberships': null;
  'erase-contacts': {
    /** Ids of the contacts that this step removed. */
    erased: string[];
    /** Ids of contacts that stay, found by all steps so far. */
    related: string[];
  };
}

export interface Job<Kind extends JobKind = JobKind> {
  id: string;
  kind: Kind;
  /** The key of the organization. */
  organization: number;
  state: JobStates[Kind];
}

export interface JobStepResult<Kind extends JobKind> {
  /** The remaining work; null when the job is done. */
  left: JobStates[Kind] | null;
  progress: JobProgress[Kind];
}

/** Records a job, in the transaction that makes the job necessary. `now` is in milliseconds since the epoch. */
export function beginJob<Kind extends JobKind>(
  connection: Connection,
  { id, kind, organization, state }: Job<Kind>,
  now: number,
): void {
  connection.run(
    sql`INSERT INTO jobs (id, kind, organization, state, began_at) VALUES (?, ?, ?, ?, ?)`,
    id,
    kind,
    organization,
    toJson(state),
    now,
  );
}

/** Reads a job; undefined once the job is done. */
export function readJob(connection: Connection, id: string): Job | undefined {
  const row = connection.row<[kind: JobKind, organization: bigint, state: Json<JobStates[JobKind]>]>(
    sql`SELECT kind, organization, state FROM jobs WHERE id = ?`,
    id,
  );
  return row && { id, kind: row[0], organization: Number(row[1]), state: fromJson(row[2]) };
}

/** Records the remaining work of a job; null ends it. */
export function writeJob(connection: Connection, id: string, state: object | null): void {
  if (state === null) connection.run(sql`DELETE FROM jobs WHERE id = ?`, id);
  else connection.run(sql`UPDATE jobs SET state = ? WHERE id = ?`, toJson(state), id);
}

export interface PendingJob<Kind extends JobKind = JobKind> {
  id: string;
  kind: Kind;
  organizationId: string;
}

/** Remaining jobs, oldest first. */
export const pendingJobs = (connection: Connection, limit: number): PendingJob[] =>
  connection
    .rows<[string, JobKind, string]>(
      sql`SELECT j.id, j.kind, o.id FROM jobs j JOIN organizations o ON o.key = j.organization
        ORDER BY j.began_at, j.id LIMIT ?`,
      limit,
    )
    .map(([id, kind, organizationId]) => ({ id, kind, organizationId }));

/** Number of remaining jobs of a kind in an organization, at most `max`. */
export const countJobs = (
  connection: Connection,
  organizationId: string,
  kind: JobKind,
  max: number,
): number =>
  connection.number(
    sql`SELECT count(*) FROM (SELECT 1 FROM jobs
        WHERE organization = (SELECT key FROM organizations WHERE id = ?) AND kind = ? LIMIT ?)`,
    organizationId,
    kind,
    max,
  ) ?? 0;
