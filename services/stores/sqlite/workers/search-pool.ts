import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { OverloadedError, StoreUnavailableError } from '../../../shared/store-errors.js';
import { InFlightBytes } from '../../common/in-flight-bytes.js';
import { toStoreError } from '../errors.js';
import { fromJson } from '../json.js';
import { FairQueue } from './fair-queue.js';
import { lowerPriority, NICENESS } from './priority.js';
import { READY, type RpcRequest, type RpcResponse, type WorkerData } from './rpc.js';
import type { Operations, Result } from './worker-client.js';

/** Searches that wait for a process. */
const MAX_QUEUED = { all: 1000, organization: 250 };

/** A search that runs for longer makes room for others that wait. */
const LONG_SEARCH_MS = 1000;

/** Long searches that run at once, one of an organization. They come on top of the others, and behind them in priority. */
const MAX_LONG_SEARCHES = 2;

/** A search that nobody waits for ends by itself within this time, or its process is ended. Starting another holds the event loop. */
const ABANDON_GRACE_MS = 1000;

/** Bytes of answers whose requests are still under way, above which no search begins: a few times the largest page. */
const MAX_IN_FLIGHT_BYTES = 32 * 1024 * 1024;

/** Milliseconds that searches may still take when the store closes. */
const CLOSE_TIMEOUT_MS = 5000;

/** Pages are bounded; whatever needs more memory than this, in MiB, has gone astray. */
const MAX_HEAP_MB = 256;

interface Search {
  organizationId: string;
  operation: string;
  values: unknown[];
  isLong: boolean;
  /** When a process took it up. */
  begun: number;
  resolve(json: string): void;
  reject(error: unknown): void;
}

interface SearchProcess {
  child: ChildProcess;
  isReady: boolean;
  search: Search | undefined;
}

export interface SearchPoolOptions {
  /** Searches of one organization that run at once. One more process is kept for the others. */
  size: number;
  closeTimeoutMs?: number;
}

/**
 * Runs searches in processes, so that one can be ended whatever SQLite is doing. Organizations take turns, none gets all of
 * the processes, and a search that takes long steps aside when others wait: it goes on at low priority where there is room,
 * or starts over later.
 */
export class SearchPool<Of extends Operations> {
  readonly #entry: string;
  readonly #data: WorkerData;
  readonly #size: number;
  readonly #closeTimeoutMs: number;
  /** Those that have, or may be given, a search. */
  readonly #processes = new Set<SearchProcess>();
  /** Ends of all that were started and have not ended. */
  readonly #exits = new Set<Promise<void>>();
  readonly #waiting = new FairQueue<Search>();
  readonly #waitingLong = new FairQueue<Search>();
  readonly #answers = new InFlightBytes(MAX_IN_FLIGHT_BYTES, () => this.#dispatch());
  #calls = 0;
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

  /** Searches that a process has. */
  get running(): number {
    return this.#running().length;
  }

  async call<Name extends keyof Of & string>(
    organizationId: string,
    operation: Name,
    values: Parameters<Of[Name]>,
    signal?: AbortSignal,
  ): Promise<Result<Of[Name]>> {
    signal?.throwIfAborted();
    if (this.#closed) throw unavailable('the store is closed');
    const waiting = this.#waiting.sizeOf(organizationId) + this.#waitingLong.sizeOf(organizationId);
    if (waiting >= MAX_QUEUED.organization || this.waiting >= MAX_QUEUED.all) {
      throw new OverloadedError('search');
    }
    const json = await this.#enqueue({ organizationId, operation, values }, signal);
    return fromJson(json) as Result<Of[Name]>;
  }

  /** Takes no more, lets what was asked before finish for a while, and resolves when every process has ended. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    if (this.waiting + this.running > 0) {
      const idle = new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
      const timer = setTimeout(() => this.#giveUp(), this.#closeTimeoutMs);
      await idle;
      clearTimeout(timer);
    }
    clearTimeout(this.#timer);
    for (const process of this.#processes) this.#release(process);
    await Promise.all(this.#exits);
  }

  #giveUp(): void {
    const error = unavailable('the store is closing');
    this.#rejectWaiting(error);
    for (const process of this.#running()) {
      process.search?.reject(error);
      this.#kill(process);
    }
    this.#onIdle?.();
  }

  #rejectWaiting(error: Error): void {
    for (const search of [...this.#waiting.drain(), ...this.#waitingLong.drain()]) search.reject(error);
  }

  #enqueue(
    call: Pick<Search, 'organizationId' | 'operation' | 'values'>,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      const search: Search = {
        ...call,
        isLong: false,
        begun: 0,
        resolve: (json) => {
          signal?.removeEventListener('abort', abandon);
          this.#answers.hold(json.length, signal);
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

  /** Nobody waits for the answer any more. */
  #abandon(search: Search): void {
    const queue = search.isLong ? this.#waitingLong : this.#waiting;
    if (queue.remove(search.organizationId, search)) {
      this.#settled();
      return;
    }
    const process = this.#running().find((running) => running.search === search);
    if (!process) return;
    const left = ABANDON_GRACE_MS - (performance.now() - search.begun);
    if (left <= 0) {
      this.#replace(process);
      return;
    }
    const timer = setTimeout(() => {
      if (process.search === search) this.#replace(process);
    }, left);
    timer.unref();
  }

  /** Gives searches that may run to processes that are free, and starts more where there are too few. */
  #dispatch(): void {
    while (!this.#answers.isFull && (this.#isAdmitted() || this.#makeRoom())) {
      const process = this.#free();
      if (!process) {
        this.#startWanted();
        break;
      }
      const search = this.#take() as Search;
      process.search = search;
      search.begun = performance.now();
      if (search.isLong) stepBack(process);
      const { operation, values } = search;
      // A process that is gone by now says so by its end.
      process.child.send({ call: ++this.#calls, operation, values } satisfies RpcRequest, () => {});
    }
    this.#watchLong();
  }

  #startWanted(): void {
    const starting = [...this.#processes].filter(({ isReady }) => !isReady).length;
    if (starting < this.waiting && this.#processes.size <= this.#size + MAX_LONG_SEARCHES) this.#start();
  }

  #isAdmitted(): boolean {
    return this.#waitingLong.has(this.#admitsLong()) || this.#waiting.has(this.#admits());
  }

  #take(): Search | undefined {
    return this.#waitingLong.shift(this.#admitsLong()) ?? this.#waiting.shift(this.#admits());
  }

  /** Which organizations may have one more search run. */
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

  /** Moves a search that has run for long out of the way of those that wait. */
  #makeRoom(): boolean {
    if (this.#waiting.size === 0) return false;
    const process = this.#inTheWay().find(({ search }) => isOverdue(search as Search));
    const search = process?.search;
    if (!process || !search) return false;
    const hasRoom = this.#admitsLong()(search.organizationId);
    search.isLong = true;
    if (hasRoom) {
      stepBack(process);
    } else {
      this.#kill(process);
      this.#waitingLong.push(search.organizationId, search);
    }
    return true;
  }

  /** Running searches, oldest first, without which a waiting one could begin. */
  #inTheWay(): SearchProcess[] {
    const short = this.#short().sort(
      (left, right) => (left.search as Search).begun - (right.search as Search).begun,
    );
    if (short.length > this.#size) return short;
    const waiting = new Set(this.#waiting.tenants);
    return short.filter(({ search }) => waiting.has((search as Search).organizationId));
  }

  /** Looks again when a search that is in the way has run for long. */
  #watchLong(): void {
    clearTimeout(this.#timer);
    if (this.#waiting.size === 0) return;
    const oldest = this.#inTheWay()[0]?.search;
    if (!oldest) return;
    const left = LONG_SEARCH_MS - (performance.now() - oldest.begun);
    this.#timer = setTimeout(() => this.#dispatch(), Math.max(1, left + 1));
  }

  #running(): SearchProcess[] {
    return [...this.#processes].filter(({ search }) => search !== undefined);
  }

  #short(): SearchProcess[] {
    return this.#running().filter(({ search }) => !search?.isLong);
  }

  #free(): SearchProcess | undefined {
    for (const process of this.#processes) if (process.isReady && !process.search) return process;
    return undefined;
  }

  #start(): SearchProcess {
    const child = fork(this.#entry, [JSON.stringify(this.#data)], {
      execArgv: [`--max-old-space-size=${MAX_HEAP_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const process: SearchProcess = { child, isReady: false, search: undefined };
    const exited = new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => child.pid === undefined && resolve());
    }).then(() => {
      this.#exits.delete(exited);
    });
    this.#exits.add(exited);
    child.on('message', (message: RpcResponse | typeof READY) => {
      if (message === READY) {
        process.isReady = true;
        this.#dispatch();
      } else this.#answered(process, message);
    });
    let cause: Error | undefined;
    const ended = (how: string) => {
      this.#processes.delete(process);
      const error = unavailable(`the process that searches ended with ${how}`, cause);
      process.search?.reject(error);
      process.search = undefined;
      // Where one cannot start, the next would not either.
      if (!process.isReady) this.#rejectWaiting(error);
      this.#settled();
    };
    child.on('error', (error) => {
      cause = error;
      // One that never began has no exit either.
      if (child.pid === undefined) ended('an error');
    });
    child.on('exit', (code, signal) => ended(String(signal ?? code)));
    this.#processes.add(process);
    return process;
  }

  #answered(process: SearchProcess, message: RpcResponse): void {
    const { search } = process;
    process.search = undefined;
    // Its low priority cannot be taken back.
    if (search?.isLong) this.#release(process);
    if ('json' in message) search?.resolve(message.json);
    else search?.reject(toStoreError(message.error));
    this.#settled();
  }

  #settled(): void {
    this.#dispatch();
    if (this.waiting + this.running === 0) this.#onIdle?.();
  }

  /** Ends a process whose search nobody waits for; the next search finds another in its place. */
  #replace(process: SearchProcess): void {
    this.#kill(process);
    if (!this.#closed && !this.#free()) this.#start();
    this.#settled();
  }

  #kill(process: SearchProcess): void {
    process.search = undefined;
    this.#processes.delete(process);
    process.child.kill('SIGKILL');
  }

  /** Lets an idle process end. */
  #release(process: SearchProcess): void {
    this.#processes.delete(process);
    if (process.child.connected) process.child.disconnect();
  }
}

/** Lets every other process and thread go first. */
function stepBack({ child: { pid } }: SearchProcess): void {
  if (pid !== undefined) lowerPriority(NICENESS.longSearch, pid);
}

function isOverdue({ begun }: Search): boolean {
  return performance.now() - begun >= LONG_SEARCH_MS;
}

function unavailable(message: string, cause?: Error): StoreUnavailableError {
  return new StoreUnavailableError('search', { cause: new Error(message, { cause }) });
}
