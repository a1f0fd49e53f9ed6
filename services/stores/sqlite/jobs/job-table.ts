/** Long work in steps: a row of the table `jobs` says what is left, and each step commits the row together with what it did. */

import { newId } from '../../../shared/ids.js';
import { sql } from '../../../shared/sql.js';
import type { Connection } from '../connection.js';

/** An audience that gave its key away: memberships under it belong to no audience. */
export interface FormerAudience {
  key: number;
  /** The id that contacts may still name. */
  audience_id: string;
}

/** What each kind of job keeps of the work that is left. */
export interface JobStates {
  'remove-memberships': FormerAudience;
}
export type JobKind = keyof JobStates;

export interface Job<Kind extends JobKind = JobKind> {
  id: string;
  /** The short key of the organization. */
  organization: number;
  state: JobStates[Kind];
  /** Milliseconds since the epoch. */
  beganAt: number;
}

/** Notes work to do, in the transaction that makes it necessary. Returns the id of the job. `now` in milliseconds since the epoch. */
export function beginJob<Kind extends JobKind>(
  connection: Connection,
  kind: Kind,
  organization: number,
  state: JobStates[Kind],
  now: number,
): string {
  const id = newId('job', now);
  connection.run(
    sql`INSERT INTO jobs (id, kind, organization, state, began_at) VALUES (?, ?, ?, ?, ?)`,
    id,
    kind,
    organization,
    JSON.stringify(state),
    now,
  );
  return id;
}

/** The oldest job of a kind. */
export function oldestJob<Kind extends JobKind>(
  connection: Connection,
  kind: Kind,
  organization: number,
): Job<Kind> | undefined {
  const row = connection.row<[id: string, state: string, beganAt: bigint]>(
    sql`SELECT id, state, began_at FROM jobs WHERE organization = ? AND kind = ? ORDER BY began_at, id LIMIT 1`,
    organization,
    kind,
  );
  return row && { id: row[0], organization, state: JSON.parse(row[1]), beganAt: Number(row[2]) };
}

/** Notes what is left of a job; null ends it. */
export function writeJob(connection: Connection, id: string, state: object | null): void {
  if (state === null) connection.run(sql`DELETE FROM jobs WHERE id = ?`, id);
  else connection.run(sql`UPDATE jobs SET state = ? WHERE id = ?`, JSON.stringify(state), id);
}

export interface PendingJobs {
  organizationId: string;
  kind: JobKind;
}

/** Organizations with work that is left, the oldest first. */
export const pendingJobs = (connection: Connection, limit: number): PendingJobs[] =>
  connection
    .rows<[string, JobKind]>(
      sql`SELECT o.id, j.kind FROM jobs j JOIN organizations o ON o.key = j.organization
        GROUP BY j.organization, j.kind ORDER BY min(j.began_at) LIMIT ?`,
      limit,
    )
    .map(([organizationId, kind]) => ({ organizationId, kind }));
