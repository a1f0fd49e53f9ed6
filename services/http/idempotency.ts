import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { IdempotencyRefusal, Once } from '../shared/idempotency.js';
import type { FieldError } from '../shared/validation.js';
import type { Call } from './endpoint.js';
import { Problem } from './problems.js';

/**
 * The Idempotency-Key of a request, bare or as the quoted string of the draft; with an error when it is malformed. Where the
 * operation takes none, a key is without effect, but an empty one is an error all the same (contract 1.4).
 */
export function readIdempotencyKey(
  ctx: Context,
  isIdempotent: boolean | undefined,
): { key: string | undefined; errors: FieldError[] } {
  const header = ctx.req.headers['idempotency-key'] as string | undefined;
  if (header === undefined || (header !== '' && !isIdempotent)) return { key: undefined, errors: [] };
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  if (/^[\x21-\x7e]{1,255}$/.test(key)) return { key, errors: [] };
  const detail = 'Idempotency-Key must have 1 to 255 visible ASCII characters.';
  return {
    key: undefined,
    errors: [{ pointer: '#Idempotency-Key', code: 'invalid_idempotency_key', detail }],
  };
}

/** The same for two requests that ask for the same, in whatever order their fields stand. */
export function fingerprint(body: Record<string, unknown>, query: Record<string, unknown>): string {
  const sorted = (record: Record<string, unknown>) =>
    Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([sorted(body), sorted(query)]))
    .digest('base64url');
}

/** The outcome of a write done once, with the replay told in a header. Throws 409 or 422 when the key could not be used. */
export function unwrapOnce<T>(call: Pick<Call<unknown, unknown>, 'setHeader'>, once: Once<T>): T {
  if (once.kind !== 'done') throw refuse(once);
  if (once.replayed) call.setHeader('Idempotency-Replayed', 'true');
  return once.value;
}

function refuse({ kind }: IdempotencyRefusal): Problem {
  return kind === 'idempotency_in_progress'
    ? new Problem(
        kind,
        'The first request with this Idempotency-Key is still running; repeat this one in a moment.',
        {},
        { 'Retry-After': '1' },
      )
    : new Problem(
        kind,
        'This Idempotency-Key was used for a request with another body or other query parameters.',
      );
}
