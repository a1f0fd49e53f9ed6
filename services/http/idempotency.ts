import { createHash } from 'node:crypto';
import type { IdempotencyConflict, IdempotentResult } from '../shared/idempotency.js';
import type { FieldError } from '../shared/validation.js';
import type { Endpoint, HandlerContext } from './endpoint.js';
import { Problem } from './problems.js';

type Repeated = Pick<Endpoint, 'method' | 'scope' | 'source' | 'idempotent'> & { list?: unknown };

/**
 * Says how a repeated request with the same idempotency key gets its response: from the outcome that the store kept with the write, or from
 * a separately stored response. Undefined if repetition is harmless: for reads, and for ingest, where sending the same records again
 * changes nothing.
 */
export function repetitionOf({
  method,
  scope,
  list,
  source,
  idempotent,
}: Repeated): 'outcome' | 'answer' | undefined {
  const isRead = method === 'GET' || list || scope.every((each) => each.endsWith(':read'));
  if (isRead || source) return undefined;
  return idempotent ? 'outcome' : 'answer';
}

/** Minimum length of idempotency keys that encrypt a secret, so that nobody can guess them. */
export const SECRET_KEY_LENGTH = 20;

/**
 * Reads the Idempotency-Key header, bare or as a quoted string as in the draft, and adds an error if the header is malformed. Operations
 * whose repetition is harmless ignore the key, but an empty header is an error even for these operations (contract 1.4).
 */
export function readIdempotencyKey(
  header: string | undefined,
  endpoint: Repeated & Pick<Endpoint, 'answersSecret'>,
): { key: string | undefined; errors: FieldError[] } {
  if (header === undefined || (header !== '' && !repetitionOf(endpoint))) {
    return { key: undefined, errors: [] };
  }
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  const isKey = /^[\x21-\x7e]{1,255}$/.test(key);
  if (isKey && (!endpoint.answersSecret || key.length >= SECRET_KEY_LENGTH)) return { key, errors: [] };
  const detail = isKey
    ? `Idempotency-Key encrypts the stored response of this operation: use at least ${SECRET_KEY_LENGTH} characters that nobody can guess, such as a UUID.`
    : 'Idempotency-Key must have 1 to 255 visible ASCII characters.';
  return {
    key: undefined,
    errors: [{ pointer: '#Idempotency-Key', code: 'invalid_idempotency_key', detail }],
  };
}

/** Hash of a request. The order of fields does not change the hash. */
export function fingerprint(body: Record<string, unknown>, query: Record<string, unknown>): string {
  const sorted = (record: Record<string, unknown>) =>
    Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([sorted(body), sorted(query)]))
    .digest('base64url');
}

const REPLAYED = 'Idempotency-Replayed';

/** Whether the response repeats the response of an earlier request. */
export const isReplay = ({
  responseHeaders,
}: Pick<HandlerContext<unknown, unknown>, 'responseHeaders'>): boolean =>
  responseHeaders[REPLAYED] !== undefined;

/**
 * Returns the outcome of the write. If the outcome is from an earlier request, sets `Idempotency-Replayed`. Throws a 409 or 422 `Problem`
 * if the key cannot be used.
 */
export function unwrapIdempotent<T>(
  context: Pick<HandlerContext<unknown, unknown>, 'responseHeaders'>,
  result: IdempotentResult<T>,
): T {
  if (result.kind !== 'done') throw conflictProblem(result);
  if (result.replayed) context.responseHeaders[REPLAYED] = 'true';
  return result.value;
}

function conflictProblem({ kind }: IdempotencyConflict): Problem {
  return kind === 'idempotency_in_progress'
    ? new Problem(
        kind,
        'The first request with this Idempotency-Key is still running; repeat this one in a moment.',
      )
    : new Problem(
        kind,
        'This Idempotency-Key was used for a request with another body or other query parameters.',
      );
}
