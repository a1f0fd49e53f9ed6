import type { KeyStore } from '../accounts/key-store.js';
import { keyIsActive, parseKey, secretMatches } from '../accounts/keys.js';
import { TokenBuckets } from '../shared/token-buckets.js';
import { CODE, SqlError } from './errors.js';
import type { SqlRequest } from './request.js';
import { SQL_SCOPES } from './sql-reader.js';

type ApiKey = NonNullable<ReturnType<typeof parseKey>>;
export type Keys = Pick<KeyStore, 'findKey' | 'recordKeyUse'>;

/** Milliseconds between two records of a key's use, as in the gateway. */
const USE_INTERVAL_MS = 3_600_000;

/**
 * Limit of wrong secrets per key. The limit is not per client, because the endpoint listens only on 127.0.0.1, so all clients have one
 * address.
 */
const WRONG_SECRETS = { burst: 100, perSecond: 1 };

/** Authenticates a request. Resolves with the organization that the statement may read. */
export type Authenticate = (request: Pick<SqlRequest, 'user' | 'password'>) => Promise<string>;

/**
 * Accepts an API key as the password, with any user name. Throws a `SqlError` for any other password. If a key was tried with too many
 * wrong secrets, throws a `SqlError` for every password with the id of this key. Throws the errors of the key store. `now` is monotonic, in
 * milliseconds.
 */
export function createAuthenticate(keys: Keys, now?: () => number): Authenticate {
  const attempts = new TokenBuckets(WRONG_SECRETS.burst, WRONG_SECRETS.perSecond, now);
  return async ({ user, password }) => {
    if (password === undefined) throw new SqlError(CODE.REQUIRED_PASSWORD, `${user}: Password required`);
    const key = parseKey(password);
    if (!key) throw failed(user);
    if (!attempts.take(key.id)) {
      throw new SqlError(
        CODE.AUTHENTICATION_FAILED,
        `${user}: Too many wrong passwords; try again in a while.`,
      );
    }
    const organizationId = await organizationOf(user, key, keys);
    attempts.add(key.id, 1);
    return organizationId;
  };
}

async function organizationOf(user: string, key: ApiKey, keys: Keys): Promise<string> {
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

/** Recording a use must not fail the statement. */
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
