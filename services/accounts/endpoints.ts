/** The keys and the credits of an organization. */
import { cursorListWith } from '../http/cursor-list.js';
import { endpointsWith } from '../http/endpoint.js';
import { invalidKey, requireScopes } from '../http/principal.js';
import { invalid, Problem } from '../http/problems.js';
import { DEFAULT_SCOPES, type Scope } from '../http/scopes.js';
import { toJson } from '../shared/json.js';
import { strictObject } from '../shared/schema.js';
import { type Clock, parseTimestamp } from '../shared/time.js';
import type { CreditStore } from './credit-store.js';
import type { KeyStore, StoredKey } from './key-store.js';
import { keyIsActive, MAX_ANCESTORS, makeKey, RUN_KEY_NAME } from './keys.js';
import {
  type ApiKey,
  ApiKey as ApiKeySchema,
  CreateKeyRequest,
  CreateKeyResponse,
  GetCreditsRequest,
  GetCreditsResponse,
  Key,
  ListKeysRequest,
  ListKeysResponse,
  RevokeKeyRequest,
  RevokeKeyResponse,
} from './schema.js';

export interface AccountServices {
  records: KeyStore & CreditStore;
  clock: Clock;
  /** Scopes of the key of the request. */
  scopes: ReadonlySet<string>;
}

const endpoint = endpointsWith<AccountServices>();

/** Maximum number of keys of an organization, including revoked keys, which stay on record. */
const MAX_KEYS = 10_000;

export const describeKey = endpoint({
  method: 'GET',
  path: '/api/key',
  name: 'DescribeKey',
  operationId: 'describeKey',
  summary: 'Describe the key in use',
  description: 'Its organization and scopes.',
  tag: 'Operations',
  scope: [],
  request: strictObject({}),
  response: Key,
  example: {},
  handle: async ({ keyId, organizationId, services }) => ({
    key_id: keyId,
    organization_id: organizationId,
    scopes: [...services.scopes],
  }),
});

const listKeys = endpoint({
  path: '/api/keys/list',
  name: 'ListKeys',
  summary: 'List keys',
  description:
    'The keys of the organization, newest first, without their secrets, including revoked keys. Continue with `cursor`; the last page has a null `next_cursor`.',
  tag: 'Keys and credits',
  scope: ['keys:write'],
  example: { organization_id: 'org_demo', limit: 2 },
  ...cursorListWith<AccountServices>()({
    items: 'keys',
    item: ApiKeySchema,
    request: ListKeysRequest,
    response: ListKeysResponse,
    async readPage({ organizationId, services, signal }, { limit, after }) {
      const { records, clock } = services;
      const asked = { organizationId, limit, after, now: clock.now() };
      const { items, ...page } = await records.listKeys(asked, signal);
      return { ...page, items: items.map((key) => toJson(toApiKey(key))) };
    },
  }),
});

const createKey = endpoint({
  path: '/api/keys/create',
  name: 'CreateKey',
  summary: 'Create a key',
  description:
    'Only this response has the key. The new key allows no more than the key of the request, and ends when that key expires or is revoked. Repeating the request with its `Idempotency-Key` returns the key again: the response is stored for 24 hours, encrypted with the `Idempotency-Key`, which the store does not have.',
  tag: 'Keys and credits',
  scope: ['keys:write'],
  answersSecret: true,
  request: CreateKeyRequest,
  response: CreateKeyResponse,
  example: { organization_id: 'org_demo', name: 'Nightly export', scopes: ['contacts:read'] },
  async handle({ body, organizationId, services, keyId, signal, beginsToWrite }) {
    const { records, clock, scopes: held } = services;
    if (body.name === RUN_KEY_NAME) {
      const detail = 'The command line gives this name to the keys of its runs; choose another name.';
      throw invalid({ pointer: '/name', code: 'reserved_name', detail });
    }
    const expiresAt = body.expires_at ?? undefined;
    if (expiresAt !== undefined && parseTimestamp(expiresAt) <= clock.now()) {
      const detail = `expires_at is ${expiresAt}, which has passed.`;
      throw invalid({ pointer: '/expires_at', code: 'in_the_past', detail });
    }
    const isHeld = (scope: string) => held.has('*') || held.has(scope);
    const wanted = body.scopes ?? DEFAULT_SCOPES.filter(isHeld);
    if (wanted.length === 0) {
      const detail = 'Name scopes: the key of the request has none of the default scopes.';
      throw invalid({ pointer: '/scopes', code: 'too_few_items', detail });
    }
    requireScopes({ keyId, organizationId, scopes: held }, wanted as Scope[]);
    const maker = await records.findKey(keyId, signal);
    if (!maker || !keyIsActive(maker, clock.now())) throw invalidKey();
    const request = {
      organizationId,
      name: body.name ?? undefined,
      scopes: wanted,
      expiresAt: boundedExpiry(maker, expiresAt),
      maker,
    };
    const { key, stored } = makeKey(request, clock);
    if (stored.ancestors.length > MAX_ANCESTORS) {
      const detail = `This key descends from ${MAX_ANCESTORS} others, which is the limit; use an older key, or the command line.`;
      throw invalid({ pointer: '', code: 'too_many_ancestors', detail });
    }
    beginsToWrite();
    const insertion = await records.insertKey(stored, { maxKeys: MAX_KEYS, makerActiveAt: clock.now() });
    // Requests accept a key for a few seconds after it has ended.
    if (insertion === 'maker_ended') throw invalidKey();
    if (insertion === 'too_many_keys') {
      const detail = `The organization has ${MAX_KEYS} keys, including revoked keys, which is the limit.`;
      throw invalid({ pointer: '', code: 'too_many_keys', detail });
    }
    return { organization_id: organizationId, key, api_key: toApiKey(stored) };
  },
});

/**
 * Expiry of a new key: the requested time, otherwise the expiry of the key that creates it. Throws 422 if the requested time is later than
 * that.
 */
function boundedExpiry({ expires_at: latest }: StoredKey, wanted: string | undefined): string | undefined {
  if (latest === null || wanted === undefined) return wanted ?? latest ?? undefined;
  if (parseTimestamp(wanted) <= Date.parse(latest)) return wanted;
  const detail = `expires_at is ${wanted}, later than ${latest}, when the key of the request expires.`;
  throw invalid({ pointer: '/expires_at', code: 'after_maker', detail });
}

const revokeKey = endpoint({
  path: '/api/keys/revoke',
  name: 'RevokeKey',
  summary: 'Revoke a key',
  description:
    'The key stops working within 5 seconds, permanently. A key that is revoked already keeps the time of its first revocation. Keys that were created with it, directly or through others, are revoked too, unless `keep_descendants` is true. A key may revoke itself.',
  tag: 'Keys and credits',
  scope: ['keys:write'],
  request: RevokeKeyRequest,
  response: RevokeKeyResponse,
  example: { organization_id: 'org_demo', key_id: 'sample00' },
  problems: ['key_not_found'],
  async handle({ body, organizationId, services, signal, beginsToWrite }) {
    const { records, clock } = services;
    const stored = await records.findKey(body.key_id, signal);
    if (stored?.organization_id !== organizationId) {
      throw new Problem('key_not_found', `The organization has no key ${body.key_id}.`, {
        organization_id: organizationId,
        key_id: body.key_id,
      });
    }
    const revokedAt = new Date(clock.now()).toISOString();
    const { keep_descendants: keepDescendants = false } = body;
    const descendants = keepDescendants
      ? 0
      : await records.countDescendants(organizationId, stored.id, clock.now(), signal);
    beginsToWrite();
    await records.revokeKey(stored.id, revokedAt, keepDescendants ?? false);
    const revoked = { ...stored, revoked_at: stored.revoked_at ?? revokedAt };
    return {
      organization_id: organizationId,
      api_key: toApiKey(revoked),
      revoked_descendants: descendants,
    };
  },
});

const getCredits = endpoint({
  path: '/api/credits/get',
  name: 'GetCredits',
  summary: 'Get the credit balance',
  description: 'The credits that the organization has left for creating contacts.',
  tag: 'Keys and credits',
  scope: [],
  request: GetCreditsRequest,
  response: GetCreditsResponse,
  example: { organization_id: 'org_demo' },
  handle: async ({ organizationId, services }) => ({
    organization_id: organizationId,
    credit_balance: await services.records.getCredits(organizationId),
  }),
});

function toApiKey({ id, secret_hash: _, organization_id: __, ancestors, ...key }: StoredKey): ApiKey {
  return { key_id: id, ...key, created_by: ancestors[0] ?? null };
}

export const accountEndpoints = [listKeys, createKey, revokeKey, getCredits] as const;
