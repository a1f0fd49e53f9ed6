/** Translates errors of the cluster, for a request and for an item of a bulk request. */
import { errors } from '@elastic/elasticsearch';
import {
  DiskFullError,
  ReadOnlyError,
  RejectedError,
  StoreTimeoutError,
  StoreUnavailableError,
} from '../../shared/store-errors.js';

export interface ItemError {
  type?: string;
  reason?: string | null;
}

/** The alias has no index. */
export class IndexMissingError extends StoreUnavailableError {
  constructor(alias: string) {
    super('records', { cause: new Error(`no index behind the alias ${alias}`) });
  }
}

/** The index has a write block, which a reindex sets for seconds. */
export class BlockedError extends StoreUnavailableError {}

/** Error of an unavailable cluster. The reason is for logs only. */
export const unavailable = (reason: string): StoreUnavailableError =>
  new StoreUnavailableError('records', { cause: new Error(reason) });

/**
 * Translates the error of a request. Timeouts become `StoreTimeoutError`, and blocks `blockError`. Status 400 or 413 becomes
 * `RejectedError`, because a retry would be rejected again. Any other status (401, 403, 404, 409, 429, 5xx) and connection failures become
 * `StoreUnavailableError`. Other errors are returned unchanged.
 */
export function requestError(error: unknown): Error {
  if (error instanceof errors.TimeoutError) return new StoreTimeoutError('records', { cause: error });
  if (error instanceof errors.ResponseError) {
    const { error: reason } = (error.body ?? {}) as { error?: ItemError };
    return ofStatus(error.statusCode, reason, 'request', error);
  }
  if (error instanceof errors.ElasticsearchClientError) {
    return new StoreUnavailableError('records', { cause: error });
  }
  return error as Error;
}

/** Whether the same request may succeed later. */
export const isOutage = (error: unknown): boolean =>
  error instanceof StoreUnavailableError || error instanceof StoreTimeoutError;

/** Translates the error of one item of a bulk request, like `requestError`. */
export function itemError(status: number | undefined, error: ItemError | null | undefined): Error {
  return ofStatus(status, error, 'document', new Error(JSON.stringify(error ?? { status })));
}

function ofStatus(
  status: number | undefined,
  reason: ItemError | null | undefined,
  what: string,
  cause: Error,
): Error {
  if (reason?.type === 'cluster_block_exception') return blockError(reason.reason ?? '', cause);
  return status === 400 || status === 413
    ? new RejectedError(`Elasticsearch rejected the ${what}`, { cause })
    : new StoreUnavailableError('records', { cause });
}

/**
 * Recognizes blocks by number:
 * https://github.com/elastic/elasticsearch/blob/v9.0.0/server/src/main/java/org/elasticsearch/cluster/metadata/IndexMetadata.java
 */
function blockError(reason: string, cause: Error): Error {
  switch (/\b[A-Z_]+\/(\d+)\//.exec(reason)?.[1]) {
    case '8':
      return new BlockedError('records', { cause });
    case '12':
      return new DiskFullError('records', { cause });
    case '5':
      return new ReadOnlyError('records', { cause });
    default:
      return new StoreUnavailableError('records', { cause });
  }
}
