/** Reads the feed of changes, and delivers each change at least once and in order, until a signal ends it. */
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { RequestOf, ResponseOf } from '../../client/client.js';
import { ConnectionError, ReachlineProblem } from '../../client/problems.js';
import { backoffMs, sleep } from '../../shared/async.js';
import { CommandError } from '../errors.js';
import { type ChangesState, newRun, type StateFile } from './state-file.js';

/** Jitter takes up to half off each wait, so waits last from 1 s to 5 min. */
const BACKOFF = { firstMs: 2000, maxMs: 300_000 };

type Operation = '/api/contacts/changes';
export type ChangesRequest = RequestOf<Operation>;
export type ChangesPage = Pick<ResponseOf<Operation>, 'changes' | 'next_cursor' | 'more'>;
export type Change = ChangesPage['changes'][number];

/** What a receiver reads. `changes.complete` says that the receiver got every contact that is present in this run. */
export interface Content {
  type: 'contact.present' | 'contact.absent' | 'changes.complete';
  organization_id: string;
  run: string;
  data: object;
}

export interface Message {
  /** Stays the same whenever the message is sent again. */
  id: string;
  content: Content;
}

/** The receiver did not acknowledge messages. The text of the error says why, and has no data of contacts. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
}

export interface Sink {
  /** Messages per delivery; the state is saved after each delivery. */
  batchSize: number;
  pageSize: number;
  /** Resolves once the receiver has acknowledged all messages. Throws DeliveryError. */
  deliver(messages: readonly Message[]): Promise<void>;
  close(): void;
}

export interface FollowOptions {
  organizationId: string;
  filter?: ChangesRequest['filter'];
  read(request: ChangesRequest, signal: AbortSignal): Promise<ChangesPage>;
  sink: Sink;
  file: Pick<StateFile, 'state' | 'save'>;
  logger: Logger;
  /** Milliseconds between two readings once nothing is left. */
  pollMs: number;
  /** End once nothing is left. */
  once: boolean;
  signal: AbortSignal;
  sleep?: typeof sleep;
}

/** Throws errors that another attempt would meet too: those of the request and of the state file. */
export async function followChanges(options: FollowOptions): Promise<void> {
  const { sleep: wait = sleep, signal, logger } = options;
  const delivery = new Delivery(options);
  while (!signal.aborted) {
    try {
      const found = await delivery.deliverPage();
      if (found === 'nothing left' && options.once) return;
      if (found !== 'changes') await wait(found === 'job' ? JOB_POLL_MS : options.pollMs, signal);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ReachlineProblem && error.code === 'cursor_expired') {
        delivery.beginRun('the cursor has expired');
        continue;
      }
      if (!isTransient(error)) throw error;
      const attempt = ++delivery.failures;
      const waitMs = Math.round(backoffMs(attempt - 1, BACKOFF));
      const what =
        error instanceof DeliveryError ? 'a message was not acknowledged' : 'the changes cannot be read';
      logger.warn({ ...delivery.position, reason: error.message, attempt, wait_ms: waitMs }, what);
      await wait(waitMs, signal);
    }
  }
}

/** Pause after an empty page whose `more` is true: a job of the server still brings changes into the feed. */
const JOB_POLL_MS = 1000;
const TOO_MANY_REQUESTS = 429;
const NOT_IMPLEMENTED = 501;

const isTransient = (error: unknown): error is Error =>
  error instanceof DeliveryError ||
  error instanceof ConnectionError ||
  (error instanceof ReachlineProblem &&
    (error.status === TOO_MANY_REQUESTS || (error.status >= 500 && error.status !== NOT_IMPLEMENTED)));

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url');

interface Found {
  changes: { change: Change; hash: string }[];
  more: boolean;
}

interface Delivered {
  contents: Content[];
  acknowledged: Partial<ChangesState>;
}

class Delivery {
  /** Failed attempts since the last acknowledgement. */
  failures = 0;
  readonly #options: FollowOptions;
  #state: ChangesState;
  /** Whether this process has saved a state. Nothing is saved before the gateway has accepted a request. */
  #hasSaved = false;

  constructor(options: FollowOptions) {
    this.#options = options;
    const { file, organizationId, filter } = options;
    const { state } = file;
    if (state && state.organization_id !== organizationId) {
      throw new CommandError(
        `The state file belongs to the organization ${state.organization_id}. Name another with --state.`,
      );
    }
    this.#state =
      state?.filter === digest(filter ?? null)
        ? state
        : this.#newRun(state ? 'the filter is another' : 'the state file is new');
  }

  get position() {
    const { run, message } = this.#state;
    return { webhook_id: messageId(this.#state), run, message };
  }

  beginRun(reason: string): void {
    this.#save(this.#newRun(reason));
  }

  #newRun(reason: string): ChangesState {
    const { organizationId, filter, logger } = this.#options;
    const state = newRun(organizationId, digest(filter ?? null));
    logger.info({ reason, run: state.run }, 'the changes are read from the beginning');
    return state;
  }

  /**
   * Reads the page at the cursor, and delivers those of its changes that were not acknowledged. After a failure, the page is read again, so
   * that the receiver gets what is stored now, and no contact that was erased meanwhile. Returns what the page had.
   */
  async deliverPage(): Promise<'changes' | 'job' | 'nothing left'> {
    const { read, filter, sink, signal } = this.#options;
    const { cursor } = this.#state;
    const { changes, ...page } = await read(
      { filter, cursor: cursor ?? undefined, limit: sink.pageSize },
      signal,
    );
    // From now on, a process elsewhere that uses the same file ends before it sends.
    if (!this.#hasSaved) this.#save({});
    const found = { ...page, changes: changes.map((change) => ({ change, hash: digest(change) })) };
    this.#forgetUncertain(found);
    for (let next = this.#next(found); next !== undefined; next = this.#next(found)) {
      if (signal.aborted) return 'changes';
      await this.#deliver(next, found);
    }
    if (page.next_cursor !== cursor) this.#save({ cursor: page.next_cursor, delivered: {} });
    this.failures = 0;
    if (!page.more) return 'nothing left';
    return changes.length === 0 ? 'job' : 'changes';
  }

  /** What the receiver gets next, and the fields of the state to save once the receiver has acknowledged it. */
  #next({ changes, more }: Found, { delivered, complete } = this.#state): Delivered | undefined {
    const left = changes.filter(({ change, hash }) => delivered[change.contact_id] !== hash);
    const batch = left.slice(0, this.#options.sink.batchSize);
    if (batch.length > 0) {
      const hashes = Object.fromEntries(batch.map(({ change, hash }) => [change.contact_id, hash]));
      return {
        contents: batch.map(({ change }) => this.#content(`contact.${change.state}`, change)),
        acknowledged: { delivered: { ...delivered, ...hashes } },
      };
    }
    if (more || complete) return undefined;
    return { contents: [this.#content('changes.complete', {})], acknowledged: { complete: true } };
  }

  /**
   * If a contact of the announced message has changed, the message can no longer be repeated, and nobody knows whether the receiver got it:
   * the whole page is delivered again. The first page of a run is different, because it leaves out contacts that are gone. If the receiver
   * may have such a contact, only a new run makes the receiver drop it.
   */
  #forgetUncertain(found: Found): void {
    const { cursor, delivered, announced } = this.#state;
    const isRepeated = announced === null || announced === digest(this.#next(found)?.contents ?? null);
    if (cursor !== null) {
      if (!isRepeated) this.#save({ announced: null, delivered: {} });
      return;
    }
    const hashes = new Set(found.changes.map(({ hash }) => hash));
    if (isRepeated && Object.values(delivered).every((hash) => hashes.has(hash))) return;
    this.beginRun('contacts of the first page have changed');
  }

  /**
   * Announces each message in the state file before it is sent, so that no two contents get the same number, wherever the process ends. One
   * write of the file saves the acknowledgement of this message and announces the next one, because each write waits for the disk.
   */
  async #deliver(next: Delivered, found: Found): Promise<void> {
    this.#save(announce(this.#state, next));
    const id = messageId(this.#state);
    await this.#options.sink.deliver(next.contents.map((content) => ({ id, content })));
    const state = { ...this.#state, ...next.acknowledged, announced: null };
    this.#save(announce(state, this.#next(found, state)));
    this.failures = 0;
  }

  #content(type: Content['type'], data: object): Content {
    return { type, organization_id: this.#options.organizationId, run: this.#state.run, data };
  }

  #save(changed: Partial<ChangesState>): void {
    if (changed === this.#state) return;
    this.#state = this.#options.file.save({ ...this.#state, ...changed });
    this.#hasSaved = true;
  }
}

/** The state with the message announced; the same state if it is announced already. */
function announce(state: ChangesState, next: Delivered | undefined): ChangesState {
  const announced = next === undefined ? null : digest(next.contents);
  return announced === null || announced === state.announced
    ? state
    : { ...state, message: state.message + 1, announced };
}

const messageId = ({ run, message }: ChangesState) => `msg_${run}_${message}`;
