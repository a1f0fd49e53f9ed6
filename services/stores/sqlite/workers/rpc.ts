import type { SerializedError } from '../errors.js';

/** What a thread or a process is started with. */
export interface WorkerData {
  /** The database file. */
  path: string;
  /** Page cache in MiB. */
  cacheMb: number;
}

/** A call of an operation. The operation `close` ends a thread after what was asked before it. */
export interface RpcRequest {
  call: number;
  operation: string;
  values: unknown[];
  /** Whose call it is, where tenants take turns. */
  tenant?: string;
}

export type RpcResponse = { call: number; json: string } | { call: number; error: SerializedError };

export const CLOSE = 'close';

/** The first message of a process. */
export const READY = 'ready';
