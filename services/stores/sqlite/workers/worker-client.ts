import { Worker } from 'node:worker_threads';
import { fromJson } from '../../../shared/json.js';
import { OverloadedError, StoreUnavailableError } from '../../../shared/store-errors.js';
import { toStoreError } from '../errors.js';
import {
  CLOSE,
  type Operations,
  type Result,
  type RpcRequest,
  type RpcResponse,
  type WriterData,
} from './rpc.js';

/** Maximum requests without a response, including requests that wait for exclusive work. */
export const MAX_PENDING = 10_000;

interface Pending {
  resolve(json: string): void;
  reject(error: Error): void;
}

type Methods<Of extends Operations, Names extends keyof Of> = {
  [Name in Names]: (...args: Parameters<Of[Name]>) => Promise<Result<Of[Name]>>;
};

/** Calls a worker thread. The thread starts with the first call, and again with the first call after it has died. */
export class WorkerClient<Of extends Operations> {
  readonly #entry: URL;
  readonly #data: WriterData;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #calls = 0;
  #closed = false;
  /** Resolves when calls may be sent again. */
  #paused: Promise<void> | undefined;
  /** Number of calls that wait for `#paused`. */
  #waiting = 0;
  #onIdle: (() => void) | undefined;

  constructor(entry: URL, data: WriterData) {
    this.#entry = entry;
    this.#data = data;
  }

  call<Name extends keyof Of & string>(
    operation: Name,
    ...args: Parameters<Of[Name]>
  ): Promise<Result<Of[Name]>> {
    return this.callFor('', operation, ...args);
  }

  /** Returns these operations as methods. */
  calls<Name extends keyof Of & string>(...names: Name[]): Methods<Of, Name> {
    const method = (name: Name) => [name, (...args: Parameters<Of[Name]>) => this.call(name, ...args)];
    return Object.fromEntries(names.map(method)) as Methods<Of, Name>;
  }

  /**
   * Makes a call for an organization; the thread lets organizations take turns. Throws `OverloadedError` if too many calls wait, and
   * `StoreUnavailableError` if the store is closed or the thread dies.
   */
  async callFor<Name extends keyof Of & string>(
    organizationId: string,
    operation: Name,
    ...args: Parameters<Of[Name]>
  ): Promise<Result<Of[Name]>> {
    this.#requireOpen();
    if (this.#pending.size + this.#waiting >= MAX_PENDING) throw new OverloadedError('records');
    if (this.#paused) {
      this.#waiting++;
      while (this.#paused) await this.#paused;
      this.#waiting--;
      this.#requireOpen();
    }
    return fromJson(await this.#send(organizationId, operation, args)) as Result<Of[Name]>;
  }

  /** Runs `work` once every call has its response. Calls that come meanwhile are sent afterwards. */
  async runExclusive<T>(work: () => Promise<T>): Promise<T> {
    while (this.#paused) await this.#paused;
    let resume = () => {};
    this.#paused = new Promise((resolve) => {
      resume = resolve;
    });
    try {
      if (this.#pending.size > 0) {
        await new Promise<void>((resolve) => {
          this.#onIdle = resolve;
        });
      }
      return await work();
    } finally {
      this.#onIdle = undefined;
      this.#paused = undefined;
      resume();
    }
  }

  /** Resolves when every call has its response and the thread has exited. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const worker = this.#worker;
    if (!worker) return;
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage({ id: 0, operation: CLOSE, args: [] } satisfies RpcRequest);
    await exited;
  }

  #requireOpen(): void {
    if (this.#closed) throw new StoreUnavailableError('records', { cause: new Error('the store is closed') });
  }

  #send(organizationId: string, operation: string, args: unknown[]): Promise<string> {
    this.#worker ??= this.#start();
    const id = ++this.#calls;
    const response = new Promise<string>((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    this.#worker.postMessage({ id, organizationId, operation, args } satisfies RpcRequest);
    return response;
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { workerData: this.#data });
    let cause: unknown;
    worker.on('message', (response: RpcResponse) => {
      const pending = this.#pending.get(response.id);
      this.#pending.delete(response.id);
      if ('json' in response) pending?.resolve(response.json);
      else pending?.reject(toStoreError(response.error));
      if (this.#pending.size === 0) this.#onIdle?.();
    });
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', (code) => {
      if (this.#worker === worker) this.#worker = undefined;
      const error = new StoreUnavailableError('records', {
        cause: cause ?? new Error(`the thread ended with ${code}`),
      });
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
      this.#onIdle?.();
    });
    return worker;
  }
}
