import { LRUCache } from 'lru-cache';
import type { KeyStore, StoredKey } from '../accounts/key-store.js';
import { keyIsActive, parseKey, secretMatches } from '../accounts/keys.js';
import type { Principal } from '../http/principal.js';
import { Problem } from '../http/problems.js';
import { StoreTimeoutError, StoreUnavailableError } from '../shared/store-errors.js';
import type { Clock } from '../shared/time.js';
import { WrongKeyLimiter } from './wrong-keys.js';

/** How long what the store said holds, so that a revocation takes effect in every process well within 5 s (contract 2.2). */
const CACHE_TTL_MS = 2000;
const MAX_ENTRIES = 10_000;
/**
 * Stale-if-error: while the key store is down, a key verified in the last 10 minutes keeps working, so that advertising stays
 * available. Nothing can be revoked meanwhile: a revocation is written to that same store.
 */
const STALE_IF_ERROR_MS = 10 * 60_000;
/** What a lookup may take: of a key that may be used stale, and of any other. */
const REFRESH_TIMEOUT_MS = 1000;
const LOOKUP_TIMEOUT_MS = 5000;
/** Lookups of keys not seen before that run at once. */
const MAX_LOOKUPS = 100;

const RETRY = { 'Retry-After': '1' };
const CHALLENGE = { 'WWW-Authenticate': 'ApiKey realm="reachline"' };

interface KnownKey {
  stored: StoredKey;
  secretHash: Buffer;
  principal: Principal;
  /** Milliseconds, monotonic. */
  loadedAt: number;
  freshUntil: number;
}

/**
 * Answers at once where the key was seen lately, else after asking the store. Throws 401 in one form for every reason, and 429
 * when too many wrong keys came from the address.
 */
export type Authenticate = (header: string | undefined, address: string) => Principal | Promise<Principal>;

export function createAuthenticate(
  keys: Pick<KeyStore, 'findKey'>,
  clock: Clock,
  wrongKeys = new WrongKeyLimiter(),
): Authenticate {
  const known = new LRUCache<string, KnownKey>({ max: MAX_ENTRIES });
  /** Ids that are no key's, apart from the others so that they never evict one. */
  const unknown = new LRUCache<string, true>({ max: MAX_ENTRIES, ttl: CACHE_TTL_MS });
  /** Headers that were verified: hashing costs more than the rest of a request's check. */
  const verified = new LRUCache<string, KnownKey>({ max: MAX_ENTRIES });
  /** Lookups under way; every request that needs the same key waits for the same one. */
  const lookups = new Map<string, Promise<KnownKey | null>>();
  let unknownLookups = 0;

  function verify(entry: KnownKey | null, secret: string, header: string, address: string): Principal {
    if (!entry) throw invalidKey();
    if (!secretMatches(secret, entry.secretHash)) {
      wrongKeys.take(address);
      throw invalidKey();
    }
    verified.set(header, entry);
    return active(entry);
  }

  function active({ stored, principal }: KnownKey): Principal {
    if (!keyIsActive(stored, clock.now())) throw invalidKey();
    return principal;
  }

  function lookUp(id: string, last: KnownKey | undefined, address: string): Promise<KnownKey | null> {
    const underWay = lookups.get(id);
    if (underWay) return underWay;
    const found = last ? refresh(id, last) : findUnknown(id, address);
    lookups.set(id, found);
    const forget = () => lookups.delete(id);
    found.then(forget, forget);
    return found;
  }

  async function findUnknown(id: string, address: string): Promise<KnownKey | null> {
    if (unknownLookups >= MAX_LOOKUPS) {
      throw new Problem('overloaded', 'Too many API keys are being looked up; try again shortly.', {}, RETRY);
    }
    wrongKeys.take(address);
    unknownLookups++;
    const stored = await findWithin(LOOKUP_TIMEOUT_MS, id).finally(() => unknownLookups--);
    if (!stored || !keyIsActive(stored, clock.now())) {
      unknown.set(id, true);
      return null;
    }
    wrongKeys.refund(address);
    const entry = update({} as KnownKey, stored);
    known.set(id, entry);
    return entry;
  }

  /** As last known, where the store cannot say. */
  async function refresh(id: string, last: KnownKey): Promise<KnownKey | null> {
    try {
      const stored = await findWithin(REFRESH_TIMEOUT_MS, id);
      if (stored && keyIsActive(stored, clock.now())) return update(last, stored);
      last.freshUntil = 0;
      known.delete(id);
      unknown.set(id, true);
      return null;
    } catch (error) {
      const isOut = error instanceof StoreUnavailableError || error instanceof StoreTimeoutError;
      if (!isOut || performance.now() - last.loadedAt > STALE_IF_ERROR_MS) throw error;
      last.freshUntil = performance.now() + CACHE_TTL_MS;
      return last;
    }
  }

  function findWithin(milliseconds: number, id: string): Promise<StoredKey | null> {
    const controller = new AbortController();
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new StoreTimeoutError('search'));
        controller.abort();
      }, milliseconds);
      keys
        .findKey(id, controller.signal)
        .then(resolve, reject)
        .finally(() => clearTimeout(timer));
    });
  }

  return (header, address) => {
    if (!header)
      throw new Problem('missing_api_key', 'Send your API key in the X-Api-Key header.', {}, CHALLENGE);
    const now = performance.now();
    const seen = verified.get(header);
    if (seen !== undefined && seen.freshUntil > now) return active(seen);
    const key = parseKey(header);
    if (!key) throw invalidKey();
    const { id, secret } = key;
    const entry = known.get(id);
    if (entry && entry.freshUntil > now) return verify(entry, secret, header, address);
    if (!entry && unknown.has(id)) throw invalidKey();
    return lookUp(id, entry, address).then((found) => verify(found, secret, header, address));
  };
}

/** In place, so that headers verified before need no new hash. */
function update(entry: KnownKey, stored: StoredKey): KnownKey {
  const now = performance.now();
  return Object.assign(entry, {
    stored,
    secretHash: Buffer.from(stored.secretHash, 'hex'),
    principal: { keyId: stored.id, organizationId: stored.organizationId, scopes: new Set(stored.scopes) },
    loadedAt: now,
    freshUntil: now + CACHE_TTL_MS,
  });
}

/** Unknown, malformed, expired or revoked: one answer, so that it tells nothing about which keys exist. */
function invalidKey(): Problem {
  return new Problem('invalid_api_key', 'The API key is not valid.', {}, CHALLENGE);
}
