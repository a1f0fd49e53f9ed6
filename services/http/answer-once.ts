/**
 * Stores responses of writes, and returns a stored response to a repeated request with the same idempotency key (contract 3.4). Operations
 * whose store keeps the outcome with the write do not need this.
 */
import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { TSchema } from 'typebox';
import { withTimeout } from '../shared/async.js';
import type { AnswerStore, Idempotency } from '../shared/idempotency.js';
import { OverloadedError } from '../shared/store-errors.js';
import type { Endpoint, HandlerContext } from './endpoint.js';
import { unwrapIdempotent } from './idempotency.js';
import { Problem } from './problems.js';
import { serialize } from './serialize.js';

export interface AnswerServices {
  records: AnswerStore;
}

/** Milliseconds that an error response waits until the store has recorded how the request ended. */
const END_MS = 500;

type Context<Services> = HandlerContext<unknown, unknown, Services> & { idempotency: Idempotency };

/**
 * Runs the operation, or returns the stored response of an earlier attempt. `onKept` gets the size of a stored response. Throws 409
 * `outcome_unknown` if an earlier attempt ended without a response.
 */
export async function answerOnce<Services extends AnswerServices>(
  endpoint: Endpoint<TSchema, TSchema, TSchema, Services>,
  context: Context<Services>,
  onKept: (bytes: number) => void,
): Promise<Buffer> {
  const { organizationId, keyId, services } = context;
  // A response with a secret belongs to the API key, because other keys of the organization may not create such a key.
  const owner = endpoint.answersSecret ? [organizationId, keyId] : [organizationId];
  const seal = new Seal(owner, context.idempotency);
  const found = await services.records.claimAnswer({ organizationId, idempotency: seal.stored });
  if (found.kind === 'outcome_unknown') throw outcomeUnknown();
  if (found.kind !== 'claimed') {
    const sealed = unwrapIdempotent(
      context,
      found.kind === 'kept' ? { kind: 'done', value: found.sealed, replayed: true } : found,
    );
    return seal.open(sealed);
  }
  const { claim } = found;
  let hasBegun = false;
  const beginsToWrite = () => {
    hasBegun = true;
  };
  try {
    const answer = await endpoint.handle({ ...context, beginsToWrite });
    const json = await serialize(answer);
    onKept(json.length);
    const shown = endpoint.shows?.(JSON.parse(json.toString())) ?? [];
    // The work is done, so an error here is ignored. If the response cannot be stored, the next attempt gets `outcome_unknown`.
    await claim.keep({ sealed: seal.close(json), shown }).catch(() => undefined);
    return json;
  } catch (error) {
    const isUnwritten = !hasBegun || wroteNothing(error, context.signal);
    // An unavailable store would delay the response again, as it delayed the work.
    await withTimeout(END_MS, () => (isUnwritten ? claim.release() : claim.leave())).catch(() => undefined);
    throw error;
  }
}

const outcomeUnknown = (): Problem =>
  new Problem(
    'outcome_unknown',
    'The first request with this Idempotency-Key ended without a response, and its outcome is unknown. Check the current state, then send what is missing with another key.',
  );

/**
 * Whether the failed operation wrote nothing. An operation throws its problems before it writes, and passes the signal of the request to no
 * write.
 */
const wroteNothing = (error: unknown, signal: AbortSignal): boolean =>
  error instanceof Problem || error instanceof OverloadedError || (signal.aborted && error === signal.reason);

const CIPHER = 'aes-256-gcm';
const SALT_BYTES = 16;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Encrypts a response with the idempotency key, of which the store gets only a hash. So no reader of the store can read responses, such as
 * the secret of a key. The fingerprint of the request is keyed too, so that no reader can test which person a request named.
 */
class Seal {
  readonly stored: Idempotency;
  readonly #key: string;
  readonly #purpose: string;

  /** `owner` is the organization and, for a response that only one API key may get, the id of that key. */
  constructor(owner: readonly string[], { route, key, fingerprint }: Idempotency) {
    this.#key = key;
    this.#purpose = JSON.stringify(['answer', ...owner, route]);
    this.stored = {
      route,
      key: createHash('sha256')
        .update(JSON.stringify([this.#purpose, key]))
        .digest('base64url'),
      fingerprint: createHmac('sha256', key).update(fingerprint).digest('base64url'),
    };
  }

  close(json: Buffer): string {
    const salt = randomBytes(SALT_BYTES);
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#secretOf(salt), iv);
    const text = Buffer.concat([cipher.update(json), cipher.final()]);
    return Buffer.concat([salt, iv, cipher.getAuthTag(), text]).toString('base64');
  }

  open(sealed: string): Buffer {
    const bytes = Buffer.from(sealed, 'base64');
    const salt = bytes.subarray(0, SALT_BYTES);
    const iv = bytes.subarray(SALT_BYTES, SALT_BYTES + IV_BYTES);
    const start = SALT_BYTES + IV_BYTES + TAG_BYTES;
    const decipher = createDecipheriv(CIPHER, this.#secretOf(salt), iv);
    decipher.setAuthTag(bytes.subarray(start - TAG_BYTES, start));
    return Buffer.concat([decipher.update(bytes.subarray(start)), decipher.final()]);
  }

  #secretOf(salt: Buffer): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#key, salt, this.#purpose, 32));
  }
}
