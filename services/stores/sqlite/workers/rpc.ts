import type { ErrorMessage } from '../errors.js';

/** What a thread or a process is started with. */
export interface ThreadData {
  /** The database file. */
  path: string;
  /** Page cache in MiB. */
  cacheMb: number;
}

/** A call of an operation. The operation `close` ends a thread after what was asked before it. */
export interface CallMessage {
  call: number;
  operation: string;
  values: unknown[];
  /** Whose call it is, where tenants take turns. */
  tenant?: string;
}

export type AnswerMessage = { call: number; json: string } | { call: number; error: ErrorMessage };

export const CLOSE = 'close';

/** The first message of a process. */
export const READY = 'ready';
