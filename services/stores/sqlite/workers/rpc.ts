import type { Json } from '../../../shared/json.js';
import type { SerializedError } from '../errors.js';

/** Data passed to a thread or process when it starts. */
export interface WorkerData {
  /** Path of the database file. */
  path: string;
  /** Size of the page cache in MiB. */
  cacheMb: number;
}

export interface WriterData extends WorkerData {
  /** See `WriteSession`. */
  keepsMarks?: boolean;
}

/** Operations of a worker by name. Arguments are cloned; results come back as text, which costs less than cloning them. */
export type Operations = Record<string, (...args: never[]) => string>;

/** The response of an operation without a result. */
export const done = (_result: unknown): Json<void> => 'null';

export type Result<Operation> = Operation extends (...args: never[]) => Json<infer T> ? T : never;

export interface RpcRequest {
  id: number;
  operation: string;
  args: unknown[];
  /** The organization of the request, if organizations take turns. */
  organizationId?: string;
}

export type RpcResponse = { id: number; json: string } | { id: number; error: SerializedError };

/** Operation that ends a thread after the requests before it. */
export const CLOSE = 'close';

/** First message of a process. */
export const READY = 'ready';
