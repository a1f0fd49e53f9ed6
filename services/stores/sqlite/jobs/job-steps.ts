/** Steps of jobs: one function for each kind of job. */
import { removeFormerMemberships } from '../contacts/former-memberships.js';
import { eraseStep } from '../erasure/erase.js';
import type { IsTimeUp } from '../writes/write-batch.js';
import type { WriteSession } from '../writes/write-session.js';
import {
  type Job,
  type JobKind,
  type JobProgress,
  type JobStepResult,
  readJob,
  writeJob,
} from './job-table.js';

/**
 * Does one step in the transaction of the caller. A step does at least one unit of work, stops once time is up, and may be repeated. `now`
 * is in milliseconds since the epoch.
 */
type JobStep<Kind extends JobKind> = (
  session: WriteSession,
  job: Job<Kind>,
  now: number,
  isTimeUp: IsTimeUp,
) => JobStepResult<Kind>;

const STEPS: { [Kind in JobKind]: JobStep<Kind> } = {
  'remove-memberships': removeFormerMemberships,
  'erase-contacts': eraseStep,
};

/** Does one step of a job. Resolves with null if no work is left because another process has done the rest. */
export function stepJob(
  session: WriteSession,
  id: string,
  now: number,
  isTimeUp: IsTimeUp,
): { isLeft: boolean; progress: JobProgress[JobKind] } | null {
  const job = readJob(session.connection, id);
  if (!job) return null;
  const step = STEPS[job.kind] as JobStep<JobKind>;
  const { left, progress } = step(session, job, now, isTimeUp);
  writeJob(session.connection, id, left);
  return { isLeft: left !== null, progress };
}
