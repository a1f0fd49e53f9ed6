/** The step of each kind of job. */
import { removeFormerMemberships } from '../contacts/former-memberships.js';
import { findOrganizationKey } from '../organizations.js';
import type { IsTimeUp } from '../writes/write-batch.js';
import type { WriteSession } from '../writes/write-session.js';
import { type Job, type JobKind, type JobStates, oldestJob, writeJob } from './job-table.js';

/**
 * Does one step in the transaction of the caller and returns the state that is left, or null when the work is done. A step does at least
 * one unit of work, stops once time is up, and may be repeated. `now` in milliseconds since the epoch.
 */
type JobStep<Kind extends JobKind> = (
  session: WriteSession,
  job: Job<Kind>,
  now: number,
  isTimeUp: IsTimeUp,
) => JobStates[Kind] | null;

const STEPS: { [Kind in JobKind]: JobStep<Kind> } = { 'remove-memberships': removeFormerMemberships };

/** Does one step of the oldest job of a kind. Returns whether a job of the kind is left. */
export function stepJob<Kind extends JobKind>(
  session: WriteSession,
  organizationId: string,
  kind: Kind,
  now: number,
  isTimeUp: IsTimeUp,
): boolean {
  const { connection } = session;
  const organization = findOrganizationKey(connection, organizationId);
  const job = organization === undefined ? undefined : oldestJob(connection, kind, organization);
  if (!job) return false;
  const step: JobStep<Kind> = STEPS[kind];
  const left = step(session, job, now, isTimeUp);
  writeJob(connection, job.id, left);
  return left !== null || oldestJob(connection, kind, job.organization) !== undefined;
}
