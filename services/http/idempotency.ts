import { createHash } from 'node:crypto';
import type { IdempotencyConflict, IdempotentResult } from '../shared/idempotency.js';
import type { FieldError } from '../shared/validation.js';
import type { Endpoint, HandlerContext } from './endpoint.js';
import { Problem } from './problems.js';

type Repeated = Pick<Endpoint, 'method' | 'scope' | 'source' | 'idempotent'> & { list?: unknown };

/**
 * How a repeated request with its key is answered: by the outcome that the store kept with the write, or by the answer, which is kept
 * apart. Undefined where repeating is harmless: for reads, and for records, of which sending all again changes nothing.
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

/** Of keys that seal a secret: as many as nobody guesses. */
export const SECRET_KEY_LENGTH = 20;

/**
 * The Idempotency-Key header, bare or as the quoted string of the draft, with an error when it is malformed. An operation whose
 * repetition is harmless ignores the key, but an empty header is an error there too (contract 1.4).
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
    ? `Idempotency-Key encrypts the kept answer of this operation: give ${SECRET_KEY_LENGTH} or more characters that nobody guesses, such as a UUID.`
    : 'Idempotency-Key must have 1 to 255 visible ASCII characters.';
  return {
    key: undefined,
    errors: [{ pointer: '#Idempotency-Key', code: 'invalid_idempotency_key', detail }],
  };
}

/** Equal for equal requests, whatever the order of their fields. */
export function fingerprint(body: Record<string, unknown>, query: Record<string, unknown>): string {
  const sorted = (record: Record<string, unknown>) =>
    Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([sorted(body), sorted(query)]))
    .digest('base64url');
}

const REPLAYED = 'Idempotency-Replayed';

/** Whether the answer was kept for an earlier request. */
export const isReplay = ({
  responseHeaders,
}: Pick<HandlerContext<unknown, unknown>, 'responseHeaders'>): boolean =>
  responseHeaders[REPLAYED] !== undefined;

/** The outcome of the write; a replay sets `Idempotency-Replayed`. Throws a 409 or 422 `Problem` when the key cannot be used. */
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
