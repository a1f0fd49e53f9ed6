import { createHash, timingSafeEqual } from 'node:crypto';
import type { KeyStore } from '../accounts/key-store.js';
import { keyIsActive, parseKey, secretMatches } from '../accounts/keys.js';
import { TokenBuckets } from '../shared/token-buckets.js';
import { CODE, SqlError } from './errors.js';
import type { SqlRequest } from './request.js';
import { SQL_SCOPES } from './sql-reader.js';

type ApiKey = NonNullable<ReturnType<typeof parseKey>>;
export type Keys = Pick<KeyStore, 'findKey' | 'recordKeyUse'>;

/** The gateway records uses of a key with the same interval. */
const USE_INTERVAL_MS = 3_600_000;

/** Wrong passwords in a row, and more a second. The endpoint listens on 127.0.0.1 only, so that all clients have one address. */
const WRONG_PASSWORDS = { burst: 100, perSecond: 1 };

/** Resolves with the organization of an API key as the password, or null for the password of the endpoint. */
export type Authenticate = (request: Pick<SqlRequest, 'user' | 'password'>) => Promise<string | null>;

/**
 * Accepts an API key in place of a password, whatever the name of the user. Also accepts the password of the endpoint, which opens the
 * advertising of all organizations. Throws a `SqlError` for any other password, and for every password once a user or a key has had too
 * many wrong passwords. Throws the errors of the key store. `now` is monotonic, in milliseconds.
 */
export function createAuthenticate(
  expected: string,
  keys: Keys | undefined,
  now?: () => number,
): Authenticate {
  const attempts = new TokenBuckets(WRONG_PASSWORDS.burst, WRONG_PASSWORDS.perSecond, now);
  return async ({ user, password }) => {
    if (user === 'default' && password === undefined && expected === '') return null;
    if (password === undefined) throw new SqlError(CODE.REQUIRED_PASSWORD, `${user}: Password required`);
    const key = keys && parseKey(password);
    const guessed = key?.id ?? 'default';
    if (!attempts.take(guessed)) {
      throw new SqlError(
        CODE.AUTHENTICATION_FAILED,
        `${user}: Too many wrong passwords; try again in a while.`,
      );
    }
    const organizationId = key ? await ofKey(user, key, keys) : ofPassword(user, password, expected);
    attempts.add(guessed, 1);
    return organizationId;
  };
}

async function ofKey(user: string, key: ApiKey, keys: Keys): Promise<string> {
  const stored = await keys.findKey(key.id);
  const isRight = stored !== null && secretMatches(key.secret, Buffer.from(stored.secret_hash, 'hex'));
  if (!isRight || !keyIsActive(stored, Date.now())) throw failed(user);
  const missing = SQL_SCOPES.filter(
    (scope) => !stored.scopes.includes(scope) && !stored.scopes.includes('*'),
  );
  if (missing.length > 0) throw new SqlError(CODE.ACCESS_DENIED, `The API key lacks ${missing.join(', ')}`);
  recordUse(keys, key.id, stored.last_used_at);
  return stored.organization_id;
}

function ofPassword(user: string, password: string, expected: string): null {
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
    CODE.AUTHENTICATION_FAILED,
    `${user}: Authentication failed: password is incorrect, or there is no user with such name.`,
  );

const digest = (text: string) => createHash('sha256').update(text).digest();
const equal = (one: string, other: string) => timingSafeEqual(digest(one), digest(other));
