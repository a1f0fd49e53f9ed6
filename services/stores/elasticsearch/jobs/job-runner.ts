/** Works on jobs step by step. Steps may be repeated, so two processes may work on one job. */
import { MAX_FORMER_AUDIENCES } from '../../../audiences/audience-store.js';
import type { Clock } from '../../../shared/time.js';
import type { AudienceSource, AudienceTombstone } from '../audience-documents.js';
import type { ContactDocuments } from '../contacts/documents.js';
import { leaveFormer } from '../contacts/former-memberships.js';
import { type AudienceToken, audienceToken } from '../contacts/indexed-contact.js';
import { type Documents, documentId } from '../documents.js';
import { pageSort } from '../pages.js';
import {
  addFormer,
  endFormer,
  type FormerAudience,
  findJob,
  type JobDocuments,
  REMOVE_MEMBERSHIPS,
} from './job-table.js';
import { membersOf } from './members.js';

const MEMBERSHIPS_PER_STEP = 500;
const JOBS_PER_RUN = 100;
/** Milliseconds without a step after which the process of a job counts as dead, and another continues. */
const TAKEOVER_MS = 15_000;
/** Milliseconds after which a deletion that recorded its job but did not delete its audience has failed. Longer than a request. */
const GIVEN_UP_MS = 60_000;

const NONE: ReadonlySet<AudienceToken> = new Set();

export interface JobRunnerDeps {
  jobs: JobDocuments;
  contacts: ContactDocuments;
  audiences: Documents<AudienceSource | AudienceTombstone>;
  clock: Clock;
  /** See `TAKEOVER_MS`. */
  takeoverMs?: number;
  /** Awaited before each step. If this throws, the work stops until a process continues it. */
  beforeStep?(): Promise<void>;
}

export class JobRunner {
  readonly #deps: JobRunnerDeps;
  readonly #closing = new AbortController();
  /** Running work of this process by organization, and whether a job was added since that work last looked for jobs. */
  readonly #running = new Map<string, { work: Promise<void>; hasMore: boolean }>();

  constructor(deps: JobRunnerDeps) {
    this.#deps = deps;
  }

  /** Records that the token of an audience was retired, or will be. */
  async addFormer(organizationId: string, former: FormerAudience): Promise<void> {
    const { jobs, clock } = this.#deps;
    await addFormer(jobs, organizationId, former, clock);
  }

  /** Tokens of deleted audiences that contacts of the organization may still hold. Usually empty. */
  async formerTokens(organizationId: string): Promise<ReadonlySet<AudienceToken>> {
    const found = await findJob(this.#deps.jobs, organizationId);
    if (!found) return NONE;
    const deleted = await this.#deleted(organizationId, found.source.state.former);
    return new Set(deleted.map(({ audience_id, generation }) => audienceToken(audience_id, generation)));
  }

  /** The `formerTokens` of every organization. */
  async allFormerTokens(): Promise<Map<string, ReadonlySet<AudienceToken>>> {
    const { jobs } = this.#deps;
    await jobs.refresh();
    const tokens = new Map<string, ReadonlySet<AudienceToken>>();
    const all = jobs.pages({ size: JOBS_PER_RUN, sort: [{ organization_id: 'asc' }] });
    for await (const hits of all) {
      for (const { _source } of hits) {
        if (!_source) continue;
        tokens.set(_source.organization_id, await this.formerTokens(_source.organization_id));
      }
    }
    return tokens;
  }

  /**
   * Works on the jobs of an organization. If the work fails, a process continues it by `resume`. Resolves at once, or once the jobs are
   * done if too many jobs are left.
   */
  async start(organizationId: string): Promise<void> {
    const { work } = this.#run(organizationId);
    const job = await findJob(this.#deps.jobs, organizationId);
    if ((job?.source.state.former.length ?? 0) > MAX_FORMER_AUDIENCES) await work;
  }

  #run(organizationId: string): { work: Promise<void> } {
    const running = this.#running.get(organizationId);
    if (running) {
      running.hasMore = true;
      return running;
    }
    const started = { work: Promise.resolve(), hasMore: true };
    this.#running.set(organizationId, started);
    started.work = this.#finishAll(organizationId, started)
      .catch(() => undefined)
      .finally(() => this.#running.delete(organizationId));
    return started;
  }

  async #finishAll(organizationId: string, started: { hasMore: boolean }): Promise<void> {
    while (started.hasMore) {
      started.hasMore = false;
      await this.#finish(organizationId);
    }
  }

  /** Stops running work between two steps. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#running.values()].map(({ work }) => work));
  }

  /** Resolves when no former memberships of the organization are left. */
  async #finish(organizationId: string): Promise<void> {
    const { jobs } = this.#deps;
    for (;;) {
      const found = await findJob(jobs, organizationId);
      const [former] = found ? await this.#deleted(organizationId, found.source.state.former) : [];
      if (!former) return;
      await this.#removeMemberships(organizationId, former);
      await endFormer(jobs, organizationId, former);
    }
  }

  /** Continues jobs that no process works on. */
  async resume(signal?: AbortSignal): Promise<void> {
    const { jobs, clock, takeoverMs = TAKEOVER_MS } = this.#deps;
    await jobs.refresh();
    const { hits } = await jobs.search({
      size: JOBS_PER_RUN,
      query: {
        bool: {
          filter: [
            { term: { kind: REMOVE_MEMBERSHIPS } },
            { range: { stepped_at: { lt: clock.now() - takeoverMs, format: 'epoch_millis' } } },
          ],
        },
      },
      sort: [{ began_at: 'asc' }, { organization_id: 'asc' }],
    });
    for (const { _source } of hits.hits) {
      signal?.throwIfAborted();
      if (!_source) continue;
      await this.#finish(_source.organization_id);
      if (_source.began_at < clock.now() - GIVEN_UP_MS) await this.#dropGivenUp(_source.organization_id);
    }
  }

  /** A deletion that failed between recording its job and deleting its audience has left a job without work. */
  async #dropGivenUp(organizationId: string): Promise<void> {
    const { jobs } = this.#deps;
    const found = await findJob(jobs, organizationId);
    for (const former of found?.source.state.former ?? []) {
      if ((await this.#deleted(organizationId, [former])).length === 0)
        await endFormer(jobs, organizationId, former);
    }
  }

  /** The former audiences that were really deleted. */
  async #deleted(organizationId: string, former: readonly FormerAudience[]): Promise<FormerAudience[]> {
    const wanted = former.map(({ audience_id }) => ({
      id: documentId(organizationId, audience_id),
      routing: organizationId,
    }));
    const found = await this.#deps.audiences.getMany([
      ...new Map(wanted.map((each) => [each.id, each])).values(),
    ]);
    return former.filter(({ audience_id, generation }) => {
      const current = found.get(documentId(organizationId, audience_id))?.source.generation ?? 0;
      return current > generation;
    });
  }

  async #removeMemberships(organizationId: string, former: FormerAudience): Promise<void> {
    const { contacts, jobs, clock, beforeStep } = this.#deps;
    const token = audienceToken(former.audience_id, former.generation);
    await contacts.refresh();
    const members = contacts.pages({
      ...membersOf(organizationId, token),
      size: MEMBERSHIPS_PER_STEP,
      _source: false,
      sort: pageSort('contact_id', false),
    });
    let hasLeft = false;
    for await (const hits of members) {
      if (hits.length === 0) break;
      this.#closing.signal.throwIfAborted();
      await beforeStep?.();
      const ids = hits.map(({ sort }) => String(sort?.[1]));
      await leaveFormer(contacts, organizationId, token, ids, clock.now());
      await jobs.update(
        documentId(organizationId, REMOVE_MEMBERSHIPS),
        (job) => ({ ...job, stepped_at: clock.now() }),
        { refresh: false },
      );
      hasLeft = true;
    }
    if (hasLeft) await contacts.refresh();
  }
}
