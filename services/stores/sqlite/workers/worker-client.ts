import { Worker } from 'node:worker_threads';
import { OverloadedError, StoreUnavailableError } from '../../../shared/store-errors.js';
import { toStoreError } from '../errors.js';
import { fromJson, type Json } from '../json.js';
import { CLOSE, type RpcRequest, type RpcResponse, type WorkerData } from './rpc.js';

/** Records live for one transaction: room for them saves the collector from copying them. */
const LIMITS = { maxYoungGenerationSizeMb: 48 };

/** Calls without an answer. */
const MAX_PENDING = 10_000;

/** Functions of a thread by name. Values are cloned; results come back as JSON. */
export type Operations = Record<string, (...values: never[]) => Json<unknown>>;

export type Result<Operation> = Operation extends (...values: never[]) => Json<infer T> ? T : never;

interface Pending {
  resolve(json: string): void;
  reject(error: Error): void;
}

/** A worker thread that holds one connection. One that died is started again by the next call. */
export class WorkerClient<Of extends Operations> {
  readonly #entry: URL;
  readonly #data: WorkerData;
  readonly #pending = new Map<number, Pending>();
  #worker: Worker | undefined;
  #calls = 0;
  #closed = false;

  constructor(entry: URL, data: WorkerData) {
    this.#entry = entry;
    this.#data = data;
  }

  call<Name extends keyof Of & string>(
    operation: Name,
    ...values: Parameters<Of[Name]>
  ): Promise<Result<Of[Name]>> {
    return this.callFor('', operation, ...values);
  }

  /** A call of a tenant, where the thread lets tenants take turns. */
  async callFor<Name extends keyof Of & string>(
    tenant: string,
    operation: Name,
    ...values: Parameters<Of[Name]>
  ): Promise<Result<Of[Name]>> {
    if (this.#closed) throw new StoreUnavailableError('search', { cause: new Error('the store is closed') });
    if (this.#pending.size >= MAX_PENDING) throw new OverloadedError('search');
    const json = await this.#send(tenant, operation, values);
    return fromJson(json) as Result<Of[Name]>;
  }

  /** Lets the thread finish what it was asked, then end. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const worker = this.#worker;
    if (!worker) return;
    const exited = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage({ call: 0, operation: CLOSE, values: [] } satisfies RpcRequest);
    await exited;
  }

  #send(tenant: string, operation: string, values: unknown[]): Promise<string> {
    this.#worker ??= this.#start();
    const call = ++this.#calls;
    const answer = new Promise<string>((resolve, reject) => this.#pending.set(call, { resolve, reject }));
    this.#worker.postMessage({ call, tenant, operation, values } satisfies RpcRequest);
    return answer;
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, { workerData: this.#data, resourceLimits: LIMITS });
    let cause: unknown;
    worker.on('message', (message: RpcResponse) => {
      const pending = this.#pending.get(message.call);
      this.#pending.delete(message.call);
      if ('json' in message) pending?.resolve(message.json);
      else pending?.reject(toStoreError(message.error));
    });
    worker.on('error', (error) => {
      cause = error;
    });
    worker.on('exit', (code) => {
      if (this.#worker === worker) this.#worker = undefined;
      const error = new StoreUnavailableError('search', {
        cause: cause ?? new Error(`the thread ended with ${code}`),
      });
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
    });
    return worker;
  }
}
