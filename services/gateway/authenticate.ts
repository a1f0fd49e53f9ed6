import { keyIsActive, parseKey, type Scope, secretMatches } from '../accounts/keys.js';
import type { Clock } from '../shared/clock.js';
import type { KeyStore, StoredKey } from '../stores/search-store.js';
import { StoreTimeout, StoreUnavailable } from '../stores/store-error.js';
import { Problem } from './problems.js';

/** Who is calling. */
export interface Principal {
  keyId: string;
  organizationId: string;
  scopes: ReadonlySet<string>;
}

/** Looks keys up once in this many milliseconds, so a revocation takes effect in every process well within 5 s. */
const TRUST_MS = 2000;
const MAX_CACHED = 10_000;
/**
 * A key that was good lately stays good for so long while the store of keys is out, so that the other store can be asked.
 * Nothing can be revoked meanwhile: a revocation is written to that same store.
 */
const TRUST_IN_OUTAGE_MS = 10 * 60_000;
/** Milliseconds the store may take over a key that was good lately. */
const PATIENCE_MS = 1000;

const CHALLENGE = { 'WWW-Authenticate': 'ApiKey realm="reachline"' };

interface Cached {
  known: { stored: StoredKey; secretHash: Buffer; principal: Principal } | null;
  until: number;
  loadedAt: number;
}

/** Answers at once where the key was seen lately, else after asking the store. Throws 401 in one form for every reason. */
export type Authenticate = (header: string | undefined) => Principal | Promise<Principal>;

export function createAuthenticate(keys: KeyStore, clock: Clock): Authenticate {
  const cache = new Map<string, Cached>();
  /** Whole keys that were verified against an entry which is still trusted: hashing costs more than the rest of a request's check. */
  const verified = new Map<string, Cached>();

  function verify(entry: Cached, secret: string, header: string): Principal {
    const { known } = entry;
    if (!known || !secretMatches(secret, known.secretHash)) throw invalidKey();
    if (verified.size >= MAX_CACHED) verified.clear();
    verified.set(header, entry);
    return active(entry);
  }

  function active({ known }: Cached): Principal {
    if (!known || !keyIsActive(known.stored, clock.now())) throw invalidKey();
    return known.principal;
  }

  async function load(id: string): Promise<Cached> {
    const stored = await keys.findKey(id);
    const known = stored && {
      stored,
      secretHash: Buffer.from(stored.secretHash, 'hex'),
      principal: { keyId: stored.id, organizationId: stored.organizationId, scopes: new Set(stored.scopes) },
    };
    const now = performance.now();
    const entry = { known, until: now + TRUST_MS, loadedAt: now };
    if (cache.size >= MAX_CACHED) cache.clear();
    cache.set(id, entry);
    return entry;
  }

  /** As last known, where the store cannot say. */
  async function reload(id: string, last: Cached | undefined): Promise<Cached> {
    const loading = load(id);
    if (!last?.known || performance.now() - last.loadedAt > TRUST_IN_OUTAGE_MS) return loading;
    try {
      return await within(PATIENCE_MS, loading);
    } catch (error) {
      if (!(error instanceof StoreUnavailable || error instanceof StoreTimeout)) throw error;
      last.until = performance.now() + TRUST_MS;
      return last;
    }
  }

  return (header) => {
    if (!header)
      throw new Problem('missing_api_key', 'Send your API key in the X-Api-Key header.', {}, CHALLENGE);
    const now = performance.now();
    const seen = verified.get(header);
    if (seen && seen.until > now) return active(seen);
    verified.delete(header);
    const key = parseKey(header);
    if (!key) throw invalidKey();
    const cached = cache.get(key.id);
    if (cached && cached.until > now) return verify(cached, key.secret, header);
    return reload(key.id, cached).then((entry) => verify(entry, key.secret, header));
  };
}

/** Rejects with `StoreTimeout` when it takes longer. */
function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new StoreTimeout('search')), milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Unknown, malformed, expired or revoked: one answer, so that it tells nothing about which keys exist. */
function invalidKey(): Problem {
  return new Problem('invalid_api_key', 'The API key is not valid.', {}, CHALLENGE);
}

export function requireScope(principal: Principal, scope: Scope): void {
  if (principal.scopes.has(scope) || principal.scopes.has('*')) return;
  throw new Problem('insufficient_scope', `This operation needs a key with the scope ${scope}.`, {
    required_scope: scope,
  });
}
