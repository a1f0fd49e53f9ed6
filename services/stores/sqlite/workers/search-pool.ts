import { FairQueue } from '../../../shared/fair-queue.js';
import { OverloadedError, StoreTimeoutError, StoreUnavailableError } from '../../../shared/store-errors.js';
import { InFlightBytes } from '../../common/in-flight-bytes.js';
import { toStoreError } from '../errors.js';
import type { ProcessHandlers, SearchProcess } from './process-client.js';
import type { Operations, RpcRequest, RpcResponse } from './rpc.js';

const MAX_WAITING_PER_ORGANIZATION = 250;

/** Bytes of responses in flight above which no search starts: a few times the size of the largest page. */
const MAX_IN_FLIGHT_BYTES = 32 * 1024 * 1024;

interface Search {
  organizationId: string;
  request: RpcRequest;
  resolve(response: RpcResponse): void;
  reject(error: unknown): void;
}

/** A process of the pool that has not exited. */
interface Slot {
  process: SearchProcess;
  state: 'starting' | 'ready' | 'ending';
  search?: Search;
  cancelDeadline?: () => void;
}

export interface SearchPoolOptions {
  maxProcesses: number;
  /** Time limit of a search, after which it is ended and rejects with `StoreTimeoutError`. */
  timeoutMs: number;
  startProcess(handlers: ProcessHandlers): SearchProcess;
  /** Calls `run` after `ms` milliseconds, unless the returned function is called earlier. */
  setTimer(run: () => void, ms: number): () => void;
}

/**
 * Runs searches in processes, so that each search can be killed whatever SQLite is doing. Organizations take turns, and one organization
 * may use all processes except one. A search keeps its process until the search ends or reaches its deadline, even if its caller has left.
 */
export class SearchPool<Of extends Operations> {
  readonly #options: SearchPoolOptions;
  readonly #slots = new Set<Slot>();
  readonly #waiting = new FairQueue<Search>();
  readonly #inFlight = new InFlightBytes(MAX_IN_FLIGHT_BYTES, () => this.#dispatch());
  #closed: StoreUnavailableError | undefined;

  constructor(options: SearchPoolOptions) {
    this.#options = options;
  }

  /** Throws `OverloadedError`, `StoreUnavailableError`, `StoreTimeoutError`, and the reason of an aborted `signal`. */
  async call<Name extends keyof Of & string>(
    organizationId: string,
    operation: Name,
    args: Parameters<Of[Name]>,
    signal?: AbortSignal,
  ): Promise<ReturnType<Of[Name]>> {
    signal?.throwIfAborted();
    if (this.#closed) throw this.#closed;
    const waiting = this.#waiting.sizeOf(organizationId);
    if (waiting >= MAX_WAITING_PER_ORGANIZATION) throw new OverloadedError('records');
    const response = await new Promise<RpcResponse>((resolve, reject) => {
      const search: Search = { organizationId, request: { id: 0, operation, args }, resolve, reject };
      const leave = () => {
        this.#waiting.remove(organizationId, search);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.#waiting.push(organizationId, search);
      this.#dispatch();
    });
    if ('error' in response) throw toStoreError(response.error);
    this.#inFlight.hold(response.json.length, signal);
    return response.json as ReturnType<Of[Name]>;
  }

  /** Rejects waiting searches. Resolves when the running searches have ended and every process has exited. */
  async close(): Promise<void> {
    this.#closed = new StoreUnavailableError('records', { cause: new Error('the store is closed') });
    this.#rejectWaiting(this.#closed);
    for (const { process, search } of this.#slots) if (!search) process.disconnect();
    await Promise.all([...this.#slots].map(({ process }) => process.exited));
  }

  /** Gives admitted searches to free processes, and starts a process if there are too few. */
  #dispatch(): void {
    for (const slot of this.#slots) {
      if (slot.state !== 'ready' || slot.search || this.#inFlight.isFull) continue;
      const search = this.#waiting.shift((organizationId) => this.#isAdmitted(organizationId));
      if (search) this.#run(slot, search);
    }
    const starting = [...this.#slots].filter(({ state }) => state === 'starting').length;
    if (starting < this.#waiting.size && this.#slots.size < this.#options.maxProcesses) this.#start();
  }

  #isAdmitted(organizationId: string): boolean {
    const running = [...this.#slots].filter(({ search }) => search?.organizationId === organizationId);
    return running.length < Math.max(1, this.#options.maxProcesses - 1);
  }

  #run(slot: Slot, search: Search): void {
    slot.search = search;
    try {
      slot.process.send(search.request);
      slot.cancelDeadline = this.#options.setTimer(() => {
        this.#kill(slot, new StoreTimeoutError('records'));
        this.#dispatch();
      }, this.#options.timeoutMs);
    } catch (error) {
      this.#kill(slot, error);
    }
  }

  #start(): void {
    try {
      const process = this.#options.startProcess({
        onReady: () => {
          slot.state = 'ready';
          this.#dispatch();
        },
        onResponse: (response) => {
          this.#release(slot)?.resolve(response);
          if (this.#closed) process.disconnect();
          this.#dispatch();
        },
        onExit: (cause) => {
          const error = new StoreUnavailableError('records', { cause });
          this.#slots.delete(slot);
          this.#release(slot)?.reject(error);
          // The other waiting searches are rejected too: if one process cannot start, another would not start either.
          if (slot.state === 'starting') this.#rejectWaiting(error);
          this.#dispatch();
        },
      });
      const slot: Slot = { process, state: 'starting' };
      this.#slots.add(slot);
    } catch (cause) {
      this.#rejectWaiting(new StoreUnavailableError('records', { cause }));
    }
  }

  /** The slot is free once the process has exited. */
  #kill(slot: Slot, error: unknown): void {
    slot.state = 'ending';
    slot.process.kill();
    this.#release(slot)?.reject(error);
  }

  #release(slot: Slot): Search | undefined {
    const { search } = slot;
    slot.cancelDeadline?.();
    slot.search = undefined;
    return search;
  }

  #rejectWaiting(error: Error): void {
    for (let search = this.#waiting.shift(); search; search = this.#waiting.shift()) search.reject(error);
  }
}
