import { fileURLToPath } from 'node:url';
import { OverloadedError, StoreUnavailableError } from '../../../shared/store-errors.js';
import { InFlightBytes } from '../../common/in-flight-bytes.js';
import { toStoreError } from '../errors.js';
import { FairQueue } from './fair-queue.js';
import { NICENESS } from './priority.js';
import { ProcessClient } from './process-client.js';
import type { Operations, RpcResponse, WorkerData } from './rpc.js';

/** Searches that wait for a process. */
const MAX_QUEUED = { total: 1000, perOrganization: 250 };

/** A search that has run for longer gives way to those that wait. */
const LONG_SEARCH_MS = 1000;

/** Concurrent long searches, one per organization. They run concurrently with short ones, at a lower priority. */
const MAX_LONG_SEARCHES = 2;

/** After this time an abandoned search is killed. Not at once, as most end sooner and starting a process blocks the event loop. */
const ABANDON_GRACE_MS = 1000;

/** Bytes of answers whose requests are in flight, above which no search starts: a few times the largest page. */
const MAX_IN_FLIGHT_BYTES = 32 * 1024 * 1024;

/** Time that running searches get when the store closes. */
const CLOSE_TIMEOUT_MS = 5000;

interface Search {
  organizationId: string;
  operation: string;
  args: unknown[];
  isLong: boolean;
  /** `performance.now()` when a process took it. */
  startedAt: number;
  resolve(json: string): void;
  reject(error: unknown): void;
}

/** A process and the search it runs. */
interface Slot {
  process: ProcessClient;
  search: Search | undefined;
}

export interface SearchPoolOptions {
  /** Concurrent searches per organization. One more process is kept for the others. */
  size: number;
  closeTimeoutMs?: number;
}

/**
 * Runs searches in processes, so that each can be killed whatever SQLite is doing. Organizations take turns, none gets all
 * processes, and a long search gives way when others wait: it goes on at a lower priority where a long search may run, and starts
 * over later otherwise.
 */
export class SearchPool<Of extends Operations> {
  readonly #entry: string;
  readonly #data: WorkerData;
  readonly #size: number;
  readonly #closeTimeoutMs: number;
  /** Processes that run a search or may be given one. */
  readonly #slots = new Set<Slot>();
  /** Processes that have not exited, killed and released ones too. */
  readonly #alive = new Set<ProcessClient>();
  readonly #waiting = new FairQueue<Search>();
  readonly #waitingLong = new FairQueue<Search>();
  readonly #inFlight = new InFlightBytes(MAX_IN_FLIGHT_BYTES, () => this.#dispatch());
  #requests = 0;
  #timer: NodeJS.Timeout | undefined;
  #closed: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(entry: URL, data: WorkerData, { size, closeTimeoutMs = CLOSE_TIMEOUT_MS }: SearchPoolOptions) {
    this.#entry = fileURLToPath(entry);
    this.#data = data;
    this.#size = size;
    this.#closeTimeoutMs = closeTimeoutMs;
  }

  /** Searches that wait for a process. */
  get waiting(): number {
    return this.#waiting.size + this.#waitingLong.size;
  }

  /** Searches that a process runs. */
  get running(): number {
    return this.#running().length;
  }

  async call<Name extends keyof Of & string>(
    organizationId: string,
    operation: Name,
    args: Parameters<Of[Name]>,
    signal?: AbortSignal,
  ): Promise<ReturnType<Of[Name]>> {
    signal?.throwIfAborted();
    if (this.#closed) throw unavailable(new Error('the store is closed'));
    const waiting = this.#waiting.sizeOf(organizationId) + this.#waitingLong.sizeOf(organizationId);
    if (waiting >= MAX_QUEUED.perOrganization || this.waiting >= MAX_QUEUED.total) {
      throw new OverloadedError('search');
    }
    return (await this.#enqueue({ organizationId, operation, args }, signal)) as ReturnType<Of[Name]>;
  }

  /** Rejects new searches, waits `closeTimeoutMs` for those asked before, and resolves when every process has exited. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.waiting + this.running > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      const timer = setTimeout(() => this.#rejectAll(), this.#closeTimeoutMs);
      await idle;
      clearTimeout(timer);
    }
    clearTimeout(this.#timer);
    for (const slot of this.#slots) this.#release(slot);
    await Promise.all([...this.#alive].map(({ exited }) => exited));
  }

  #rejectAll(): void {
    const error = unavailable(new Error('the store is closing'));
    this.#rejectWaiting(error);
    for (const slot of this.#running()) {
      slot.search?.reject(error);
      this.#kill(slot);
    }
    this.#onIdle?.();
  }

  #rejectWaiting(error: Error): void {
    for (const search of [...this.#waiting.drain(), ...this.#waitingLong.drain()]) search.reject(error);
  }

  #enqueue(
    request: Pick<Search, 'organizationId' | 'operation' | 'args'>,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      const search: Search = {
        ...request,
        isLong: false,
        startedAt: 0,
        resolve: (json) => {
          signal?.removeEventListener('abort', abandon);
          this.#inFlight.hold(json.length, signal);
          resolve(json);
        },
        reject: (error) => {
          signal?.removeEventListener('abort', abandon);
          reject(error);
        },
      };
      const abandon = () => {
        this.#abandon(search);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', abandon, { once: true });
      this.#waiting.push(search.organizationId, search);
      this.#dispatch();
    });
  }

  /** The caller has left. */
  #abandon(search: Search): void {
    const queue = search.isLong ? this.#waitingLong : this.#waiting;
    if (queue.remove(search.organizationId, search)) {
      this.#settled();
      return;
    }
    const slot = this.#running().find((running) => running.search === search);
    if (!slot) return;
    const left = ABANDON_GRACE_MS - (performance.now() - search.startedAt);
    if (left <= 0) {
      this.#replace(slot);
      return;
    }
    const timer = setTimeout(() => {
      if (slot.search === search) this.#replace(slot);
    }, left);
    timer.unref();
  }

  /** Gives admitted searches to free processes, and starts a process where there are too few. */
  #dispatch(): void {
    while (!this.#inFlight.isFull && (this.#isAdmitted() || this.#preempt())) {
      const slot = this.#free();
      if (!slot) {
        this.#startIfNeeded();
        break;
      }
      const search = this.#take() as Search;
      slot.search = search;
      search.startedAt = performance.now();
      if (search.isLong) slot.process.lowerPriority(NICENESS.longSearch);
      const { operation, args } = search;
      slot.process.send({ id: ++this.#requests, operation, args });
    }
    this.#watchLong();
  }

  #startIfNeeded(): void {
    const starting = [...this.#slots].filter(({ process }) => !process.isReady).length;
    if (starting < this.waiting && this.#slots.size <= this.#size + MAX_LONG_SEARCHES) this.#start();
  }

  #isAdmitted(): boolean {
    return this.#waitingLong.has(this.#admitsLong()) || this.#waiting.has(this.#admits());
  }

  #take(): Search | undefined {
    return this.#waitingLong.shift(this.#admitsLong()) ?? this.#waiting.shift(this.#admits());
  }

  /** Whether an organization may run one more search. */
  #admits(): (organization: string) => boolean {
    const short = this.#short();
    const has = (organization: string) =>
      short.filter(({ search }) => search?.organizationId === organization).length;
    return (organization) => short.length <= this.#size && has(organization) < this.#size;
  }

  #admitsLong(): (organization: string) => boolean {
    const long = this.#running().filter(({ search }) => search?.isLong);
    return (organization) =>
      long.length < MAX_LONG_SEARCHES && !long.some(({ search }) => search?.organizationId === organization);
  }

  /** Makes a long search give way to those that wait; false when none blocks them. */
  #preempt(): boolean {
    if (this.#waiting.size === 0) return false;
    const slot = this.#blocking().find(({ search }) => isOverdue(search as Search));
    const search = slot?.search;
    if (!slot || !search) return false;
    const hasRoom = this.#admitsLong()(search.organizationId);
    search.isLong = true;
    if (hasRoom) {
      slot.process.lowerPriority(NICENESS.longSearch);
    } else {
      this.#kill(slot);
      this.#waitingLong.push(search.organizationId, search);
    }
    return true;
  }

  /** Running searches, oldest first, without which a waiting one could start. */
  #blocking(): Slot[] {
    const short = this.#short().sort(
      (left, right) => (left.search as Search).startedAt - (right.search as Search).startedAt,
    );
    if (short.length > this.#size) return short;
    const waiting = new Set(this.#waiting.tenants);
    return short.filter(({ search }) => waiting.has((search as Search).organizationId));
  }

  /** Dispatches again when the oldest blocking search becomes a long one. */
  #watchLong(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.size === 0) return;
    const oldest = this.#blocking()[0]?.search;
    if (!oldest) return;
    const left = LONG_SEARCH_MS - (performance.now() - oldest.startedAt);
    this.#timer = setTimeout(() => this.#dispatch(), Math.max(1, left + 1));
  }

  #running(): Slot[] {
    return [...this.#slots].filter(({ search }) => search !== undefined);
  }

  #short(): Slot[] {
    return this.#running().filter(({ search }) => !search?.isLong);
  }

  #free(): Slot | undefined {
    for (const slot of this.#slots) if (slot.process.isReady && !slot.search) return slot;
    return undefined;
  }

  #start(): void {
    const process = new ProcessClient(this.#entry, this.#data, {
      onReady: () => this.#dispatch(),
      onResponse: (response) => this.#complete(slot, response),
      onExit: (cause) => {
        this.#slots.delete(slot);
        this.#alive.delete(process);
        const error = unavailable(cause);
        slot.search?.reject(error);
        slot.search = undefined;
        // Where one process cannot start, the next would not either.
        if (!process.isReady) this.#rejectWaiting(error);
        this.#settled();
      },
    });
    const slot: Slot = { process, search: undefined };
    this.#slots.add(slot);
    this.#alive.add(process);
  }

  #complete(slot: Slot, response: RpcResponse): void {
    const { search } = slot;
    slot.search = undefined;
    // Its low priority cannot be taken back.
    if (search?.isLong) this.#release(slot);
    if ('json' in response) search?.resolve(response.json);
    else search?.reject(toStoreError(response.error));
    this.#settled();
  }

  #settled(): void {
    this.#dispatch();
    if (this.waiting + this.running === 0) this.#onIdle?.();
  }

  /** Kills an abandoned search, and starts a process for the next. */
  #replace(slot: Slot): void {
    this.#kill(slot);
    if (!this.#closed && !this.#free()) this.#start();
    this.#settled();
  }

  #kill(slot: Slot): void {
    slot.search = undefined;
    this.#slots.delete(slot);
    slot.process.kill();
  }

  #release(slot: Slot): void {
    this.#slots.delete(slot);
    slot.process.disconnect();
  }
}

function isOverdue({ startedAt }: Search): boolean {
  return performance.now() - startedAt >= LONG_SEARCH_MS;
}

function unavailable(cause: Error): StoreUnavailableError {
  return new StoreUnavailableError('search', { cause });
}
