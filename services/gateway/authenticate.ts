import { LRUCache } from 'lru-cache';
import type { KeyStore, StoredKey } from '../accounts/key-store.js';
import { keyIsActive, parseKey, secretMatches } from '../accounts/keys.js';
import { CHALLENGE, invalidKey, type Principal } from '../http/principal.js';
import { Problem } from '../http/problems.js';
import { withTimeout } from '../shared/async.js';
import { FairSemaphore } from '../shared/fair-semaphore.js';
import { StoreTimeoutError, StoreUnavailableError } from '../shared/store-errors.js';
import type { Clock } from '../shared/time.js';
import { clientNetwork, WrongKeyLimiter } from './rate-limit.js';

/** Milliseconds that a key stays cached: a revocation takes effect in every process within 5 s (contract 2.2). */
const CACHE_TTL_MS = 2000;
const MAX_ENTRIES = 10_000;
/**
 * Milliseconds that a verified key keeps working while the key store is unavailable (stale-if-error), so that advertising stays available.
 * No key can be revoked during that time, because a revocation is written to the same store.
 */
const STALE_IF_ERROR_MS = 10 * 60_000;
/** Timeouts of look-ups in milliseconds: with a stale entry to fall back on, and without a stale entry. */
const REFRESH_TIMEOUT_MS = 1000;
const LOOKUP_TIMEOUT_MS = 5000;
/** Milliseconds between two records of a key's use: one write per key and hour instead of one per request. */
const USE_INTERVAL_MS = 3_600_000;
/** Maximum concurrent lookups of keys that are not cached. */
const MAX_LOOKUPS = 100;
/**
 * Maximum concurrent look-ups for networks that sent too many wrong keys. The networks take turns, and each network may queue some
 * look-ups.
 */
const SUSPECT_LOOKUPS = 4;
const MAX_WAITING_SUSPECTS = 100;

interface KnownKey {
  stored: StoredKey;
  secretHash: Buffer;
  principal: Principal;
  /** Time of the look-up, in milliseconds of a monotonic clock. */
  loadedAt: number;
  freshUntil: number;
  /** Time of the last recorded use, in milliseconds since 1970; 0 if the key was never used. */
  usedAt: number;
}

/**
 * Verifies the `X-Api-Key` header; synchronous for a cached key. Throws the same 401 for every reason, 429 for a wrong key after too many
 * wrong keys from the address, 503 for too many concurrent look-ups, and the errors of the key store. A valid key is accepted, whatever
 * other clients at its address have sent.
 */
export type Authenticate = (header: string | undefined, address: string) => Principal | Promise<Principal>;

export function createAuthenticate(
  keys: Pick<KeyStore, 'findKey' | 'recordKeyUse'>,
  clock: Clock,
  wrongKeys = new WrongKeyLimiter(),
): Authenticate {
  const known = new LRUCache<string, KnownKey>({ max: MAX_ENTRIES });
  /** Ids of unknown keys, in a separate cache, so that unknown ids never evict a key. */
  const unknown = new LRUCache<string, true>({ max: MAX_ENTRIES, ttl: CACHE_TTL_MS });
  /** Pending look-ups by key id, which concurrent requests share. */
  const lookups = new Map<string, Promise<KnownKey | null>>();
  let unknownLookups = 0;
  const suspects = new FairSemaphore(SUSPECT_LOOKUPS);

  /**
   * Throws the error for a wrong key, which is the same for every wrong key: neither the error nor the number of attempts reveals which ids
   * exist.
   */
  function refuse(address: string): never {
    wrongKeys.take(address);
    throw invalidKey();
  }

  function verify(entry: KnownKey | null, secret: string, address: string): Principal {
    if (!entry || !secretMatches(secret, entry.secretHash)) return refuse(address);
    const now = clock.now();
    if (!keyIsActive(entry.stored, now)) return refuse(address);
    if (now - entry.usedAt >= USE_INTERVAL_MS) {
      entry.usedAt = now;
      // Recording a use must neither fail nor delay the request.
      keys.recordKeyUse(entry.stored.id, new Date(now).toISOString()).catch(() => undefined);
    }
    return entry.principal;
  }

  function lookUp(id: string, last: KnownKey | undefined, address: string): Promise<KnownKey | null> {
    const pending = lookups.get(id);
    if (pending) return pending;
    const found = last ? refresh(id, last) : findUnknown(id, address);
    lookups.set(id, found);
    const forget = () => lookups.delete(id);
    found.then(forget, forget);
    return found;
  }

  async function findUnknown(id: string, address: string): Promise<KnownKey | null> {
    if (wrongKeys.isExceeded(address)) {
      const network = clientNetwork(address);
      if (suspects.waiting.sizeOf(network) >= MAX_WAITING_SUSPECTS) throw tooManyLookups();
      return suspects.run(network, async () => keep(id, await findWithTimeout(LOOKUP_TIMEOUT_MS, id), 0));
    }
    if (unknownLookups >= MAX_LOOKUPS) throw tooManyLookups();
    unknownLookups++;
    const stored = await findWithTimeout(LOOKUP_TIMEOUT_MS, id).finally(() => unknownLookups--);
    return keep(id, stored, 0);
  }

  /** Looks up a cached key again. Falls back to the cached entry while the store is unavailable (stale-if-error). */
  async function refresh(id: string, last: KnownKey): Promise<KnownKey | null> {
    try {
      return keep(id, await findWithTimeout(REFRESH_TIMEOUT_MS, id), last.usedAt);
    } catch (error) {
      const isDown = error instanceof StoreUnavailableError || error instanceof StoreTimeoutError;
      if (!isDown || performance.now() - last.loadedAt > STALE_IF_ERROR_MS) throw error;
      last.freshUntil = performance.now() + CACHE_TTL_MS;
      return last;
    }
  }

  /** Caches a key. Returns null for a key that is inactive or missing. */
  function keep(id: string, stored: StoredKey | null, usedAt: number): KnownKey | null {
    if (!stored || !keyIsActive(stored, clock.now())) {
      known.delete(id);
      unknown.set(id, true);
      return null;
    }
    const loadedAt = performance.now();
    const { organization_id: organizationId, scopes, last_used_at: lastUsedAt } = stored;
    const entry: KnownKey = {
      stored,
      secretHash: Buffer.from(stored.secret_hash, 'hex'),
      principal: { keyId: id, organizationId, scopes: new Set(scopes) },
      loadedAt,
      freshUntil: loadedAt + CACHE_TTL_MS,
      usedAt: Math.max(usedAt, lastUsedAt === null ? 0 : Date.parse(lastUsedAt)),
    };
    known.set(id, entry);
    return entry;
  }

  const findWithTimeout = (timeoutMs: number, id: string): Promise<StoredKey | null> =>
    withTimeout(timeoutMs, (signal) => keys.findKey(id, signal)).catch((error: Error) => {
      throw error.name === 'TimeoutError' ? new StoreTimeoutError('records') : error;
    });

  return (header, address) => {
    if (!header)
      throw new Problem('missing_api_key', 'Send your API key in the X-Api-Key header.', {}, CHALLENGE);
    const key = parseKey(header);
    if (!key) throw invalidKey();
    const { id, secret } = key;
    const entry = known.get(id);
    if (entry && entry.freshUntil > performance.now()) return verify(entry, secret, address);
    if (!entry && unknown.has(id)) return refuse(address);
    return lookUp(id, entry, address).then((found) => verify(found, secret, address));
  };
}

const tooManyLookups = () =>
  new Problem('overloaded', 'Too many API keys are being looked up; try again shortly.');
