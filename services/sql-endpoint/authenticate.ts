import { createHash, timingSafeEqual } from 'node:crypto';
import type { KeyStore } from '../accounts/key-store.js';
import { keyIsActive, parseKey, secretMatches } from '../accounts/keys.js';
import { CODE, SqlError } from './errors.js';
import type { SqlRequest } from './request.js';

export type Keys = Pick<KeyStore, 'findKey' | 'recordKeyUse'>;

/** What the views together hold. */
const SCOPES = ['advertising:read', 'audiences:read', 'contacts:read', 'visits:read'];
/** As the gateway records uses. */
const USE_INTERVAL_MS = 3_600_000;

/**
 * The organization of the API key that stands for a password, whatever the name of the user; null for the password of the endpoint,
 * which opens the advertising of all. Throws a `SqlError` for any other, and the errors of the key store.
 */
export async function authenticate(
  { user, password }: Pick<SqlRequest, 'user' | 'password'>,
  expected: string,
  keys: Keys | undefined,
): Promise<string | null> {
  if (user === 'default' && password === undefined && expected === '') return null;
  if (password === undefined) {
    throw new SqlError(CODE.requiredPassword, `${user}: Password required`);
  }
  const key = keys && parseKey(password);
  if (key) {
    const stored = await keys.findKey(key.id);
    const isRight = stored !== null && secretMatches(key.secret, Buffer.from(stored.secretHash, 'hex'));
    if (!isRight || !keyIsActive(stored, Date.now())) throw failed(user);
    const missing = SCOPES.filter((scope) => !stored.scopes.includes(scope) && !stored.scopes.includes('*'));
    if (missing.length > 0) throw new SqlError(CODE.accessDenied, `The API key lacks ${missing.join(', ')}`);
    recordUse(keys, key.id, stored.lastUsedAt);
    return stored.organizationId;
  }
  if (user !== 'default' || !equal(password, expected)) throw failed(user);
  return null;
}

/** A use that is not recorded must not fail the statement. */
function recordUse(keys: Keys, id: string, lastUsedAt: string | null): void {
  const now = Date.now();
  if (lastUsedAt !== null && now - Date.parse(lastUsedAt) < USE_INTERVAL_MS) return;
  keys.recordKeyUse(id, new Date(now).toISOString()).catch(() => undefined);
}

const failed = (user: string) =>
  new SqlError(
    CODE.authenticationFailed,
    `${user}: Authentication failed: password is incorrect, or there is no user with such name.`,
  );

const digest = (text: string) => createHash('sha256').update(text).digest();
const equal = (one: string, other: string) => timingSafeEqual(digest(one), digest(other));
