import { hash, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DEFAULT_SCOPES } from '../http/scopes.js';
import { systemClock } from '../shared/time.js';
import type { KeyStore, StoredKey } from './key-store.js';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const KEY = /^rl_live_([0-9A-Za-z]{8})_([0-9A-Za-z]{32})([0-9A-Za-z]{6})$/;

const randomText = (length: number) =>
  Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join('');

/** Detects a mistyped or truncated key without a lookup. */
function checksum(keyId: string, secret: string): string {
  let number = crc32(`rl_live_${keyId}_${secret}`);
  let text = '';
  for (let place = 0; place < 6; place++) {
    text += BASE62[number % 62];
    number = Math.floor(number / 62);
  }
  return text;
}

/** Id and secret of a well-formed key; null for other text. */
export function parseKey(key: string): { id: string; secret: string } | null {
  const [, id, secret, check] = KEY.exec(key) ?? [];
  if (id === undefined || secret === undefined || checksum(id, secret) !== check) return null;
  return { id, secret };
}

/** Compares in constant time. */
export function secretMatches(secret: string, storedHash: Buffer): boolean {
  return timingSafeEqual(hash('sha256', secret, 'buffer'), storedHash);
}

export function keyIsActive(stored: StoredKey, now: number): boolean {
  return stored.revoked_at === null && (stored.expires_at === null || Date.parse(stored.expires_at) > now);
}

/** Name of keys that the command line creates for one run. Lists leave out keys of ended runs, because every run creates one. */
export const RUN_KEY_NAME = 'one run of reachline';

/** Maximum length of a chain of keys that created one another: authentication reads every key of the chain. */
export const MAX_ANCESTORS = 32;

/** The earlier of two ISO 8601 times; null is later than any time. */
export const earliest = (one: string | null, other: string | null): string | null =>
  one !== null && (other === null || one < other) ? one : other;

export interface KeyRequest {
  organizationId: string;
  name?: string;
  scopes?: readonly string[];
  /** ISO 8601. */
  expiresAt?: string;
  /** The key that creates this one; absent on the command line. */
  maker?: Pick<StoredKey, 'id' | 'ancestors'>;
}

/** A new key, which cannot be shown again, and the part of it that is stored. */
export function makeKey(request: KeyRequest, clock = systemClock): { key: string; stored: StoredKey } {
  const id = randomText(8);
  const secret = randomText(32);
  const stored: StoredKey = {
    id,
    secret_hash: hash('sha256', secret, 'hex'),
    organization_id: request.organizationId,
    name: request.name ?? null,
    scopes: [...(request.scopes ?? DEFAULT_SCOPES)],
    created_at: new Date(clock.now()).toISOString(),
    expires_at: request.expiresAt === undefined ? null : new Date(request.expiresAt).toISOString(),
    revoked_at: null,
    last_used_at: null,
    ancestors: request.maker ? [request.maker.id, ...request.maker.ancestors] : [],
  };
  return { key: `rl_live_${id}_${secret}${checksum(id, secret)}`, stored };
}

/** Creates and stores a key. Throws the errors of the store. */
export async function issueKey(
  store: Pick<KeyStore, 'insertKey'>,
  request: KeyRequest,
  clock = systemClock,
): Promise<string> {
  const { key, stored } = makeKey(request, clock);
  await store.insertKey(stored);
  return key;
}
