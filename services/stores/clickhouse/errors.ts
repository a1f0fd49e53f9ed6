import { DiskFullError, StoreTimeoutError, StoreUnavailableError } from '../../shared/store-errors.js';

/** Another process holds the folder of the embedded analytics store. */
export class FolderInUseError extends Error {
  override readonly name = 'FolderInUseError';
  readonly folder: string;

  constructor(folder: string, options?: ErrorOptions) {
    super(`another process holds ${folder}`, options);
    this.folder = folder;
  }
}

/** The engine process ended before or during a statement, and starts again. It is unknown whether the statement had an effect. */
export class EngineEndedError extends StoreUnavailableError {
  constructor(how: string, { cause }: ErrorOptions = {}) {
    super('analytics', { cause: new Error(`the process of the engine ended with ${how}`, { cause }) });
  }
}

const TIMEOUT_EXCEEDED = '159';
const TOO_SLOW = '160';
const NOT_ENOUGH_SPACE = '243';
/** Message of the client's own timeout. */
const REQUEST_TIMEOUT = 'Timeout error.';

/** The store error for a failure of the engine. The engine's message stays in the cause, for logs only. */
export function storeError(cause: unknown): StoreTimeoutError | StoreUnavailableError {
  if (cause instanceof StoreTimeoutError || cause instanceof StoreUnavailableError) return cause;
  const { clickhouseCode, code, message } = (cause ?? {}) as Record<string, unknown>;
  // The client and chdb use different names for the code.
  const engineCode = String(clickhouseCode ?? code);
  if (engineCode === NOT_ENOUGH_SPACE) return new DiskFullError('analytics', { cause });
  return engineCode === TIMEOUT_EXCEEDED || engineCode === TOO_SLOW || message === REQUEST_TIMEOUT
    ? new StoreTimeoutError('analytics', { cause })
    : new StoreUnavailableError('analytics', { cause });
}

/** Codes of errors in the rows of an insert: not parsed, out of range, too long, or against a constraint of the table. */
const ROW_ERRORS = new Set('6 26 27 38 41 69 72 117 131 321 349 407 469'.split(' '));

/** Code of the error in ClickHouse; the text `undefined` if the error has no code. */
export const codeOf = (error: unknown): string =>
  String(((error instanceof StoreUnavailableError ? error.cause : null) as { code?: unknown } | null)?.code);

const MEMORY_LIMIT_EXCEEDED = '241';
/** Temporary errors: no coordinator, a read-only table, too few replicas, the errors of `waitsForOthers`, or a replica that lacks rows. */
const PASSING_ERRORS = new Set('225 242 285 286 289 319 999'.split(' '));
/** Codes that mean: this insert or the insert before has not reached most replicas yet. */
const QUORUM_ERRORS = new Set(['286', '319']);

/** Whether another replica may succeed, because neither the rows nor the statement are at fault. */
export const isOfReplica = (error: unknown): boolean =>
  error instanceof StoreUnavailableError &&
  !ROW_ERRORS.has(codeOf(error)) &&
  codeOf(error) !== MEMORY_LIMIT_EXCEEDED;

/** Whether a failure on all replicas may pass within seconds. */
export const isPassing = (error: unknown): boolean => PASSING_ERRORS.has(codeOf(error));

/** Whether the insert would fail on every replica until most replicas have the rows of this insert or of the insert before. */
export const waitsForOthers = (error: unknown): boolean => QUORUM_ERRORS.has(codeOf(error));

/** Whether the rows of an insert are at fault. */
export const isRowError = (error: unknown): boolean => ROW_ERRORS.has(codeOf(error));

/**
 * Codes that concern the server and never the rows: timeouts, network, memory, disk, too many queries, a quota, missing rights, a missing
 * table or database, or a cancelled query.
 */
const OUTAGE_ERRORS = new Set(
  '60 81 159 160 164 173 192 193 194 201 202 209 210 236 241 243 279 394 439 497 516'.split(' '),
);

/** Whether the same insert may succeed later, regardless of its rows. */
export const isOutageCode = (error: unknown): boolean =>
  OUTAGE_ERRORS.has(codeOf(error)) || PASSING_ERRORS.has(codeOf(error));
