/** Long work in steps. A document of the index `jobs` records the remaining work; each kind of work has one document per organization. */
import type { Clock } from '../../../shared/time.js';
import { type Documents, documentId, type VersionedDocument } from '../documents.js';
import { retryWithBackoff } from '../retry.js';

/** A deleted audience: memberships under its token belong to no audience. */
export interface FormerAudience {
  audience_id: string;
  generation: number;
}

export const REMOVE_MEMBERSHIPS = 'remove-memberships';

export interface JobSource {
  kind: typeof REMOVE_MEMBERSHIPS;
  organization_id: string;
  /** The remaining work. */
  state: { former: FormerAudience[] };
  /** Milliseconds since the epoch, like `stepped_at`. */
  began_at: number;
  /**
   * When a process did the last step, in milliseconds since the epoch. For a while after that, other processes leave the job to this
   * process.
   */
  stepped_at: number;
}

export type JobDocuments = Documents<JobSource>;
export type FoundJob = VersionedDocument<JobSource>;

const OPTIONS = { refresh: false } as const;

const idOf = (organizationId: string): string => documentId(organizationId, REMOVE_MEMBERSHIPS);

export const findJob = (jobs: JobDocuments, organizationId: string): Promise<FoundJob | null> =>
  jobs.get(idOf(organizationId));

const isSame = (one: FormerAudience) => (other: FormerAudience) =>
  one.audience_id === other.audience_id && one.generation === other.generation;

/** Records a former audience, unless it is recorded already. */
export function addFormer(
  jobs: JobDocuments,
  organizationId: string,
  former: FormerAudience,
  clock: Clock,
): Promise<unknown> {
  return retryWithBackoff(async () => {
    const found = await findJob(jobs, organizationId);
    if (!found) {
      const now = clock.now();
      const state = { former: [former] };
      const job: JobSource = {
        kind: REMOVE_MEMBERSHIPS,
        organization_id: organizationId,
        state,
        began_at: now,
        stepped_at: now,
      };
      return (await jobs.create(idOf(organizationId), job, OPTIONS)) ?? undefined;
    }
    const { source } = found;
    if (source.state.former.some(isSame(former))) return found;
    const state = { former: [...source.state.former, former] };
    return (await jobs.replace(found, { ...source, state, stepped_at: clock.now() }, OPTIONS)) ?? undefined;
  });
}

/** Removes a former audience. The job ends with its last former audience. */
export async function endFormer(
  jobs: JobDocuments,
  organizationId: string,
  former: FormerAudience,
): Promise<void> {
  await retryWithBackoff(async () => {
    const found = await findJob(jobs, organizationId);
    if (!found) return true;
    const left = found.source.state.former.filter((each) => !isSame(former)(each));
    if (left.length === 0) return (await jobs.deleteMany([found])) > 0 || undefined;
    return (
      ((await jobs.replace(found, { ...found.source, state: { former: left } }, OPTIONS)) && true) ||
      undefined
    );
  });
}
