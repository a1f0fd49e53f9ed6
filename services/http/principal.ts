import { Problem } from './problems.js';
import type { Scope } from './scopes.js';

/** The caller of a request: the API key it was sent with. */
export interface Principal {
  keyId: string;
  organizationId: string;
  scopes: ReadonlySet<string>;
}

/** Header of a response that asks for another key. */
export const CHALLENGE = { 'WWW-Authenticate': 'ApiKey realm="reachline"' };

/** The same for unknown, malformed, expired and revoked keys, so that it does not reveal which keys exist. */
export function invalidKey(): Problem {
  return new Problem('invalid_api_key', 'The API key is not valid.', {}, CHALLENGE);
}

/** Throws 403 `insufficient_scope`, naming the first scope that the key lacks. */
export function requireScopes({ scopes }: Principal, required: readonly Scope[]): void {
  if (scopes.has('*')) return;
  const missing = required.find((scope) => !scopes.has(scope));
  if (missing === undefined) return;
  throw new Problem('insufficient_scope', `This operation needs a key with the scope ${missing}.`, {
    required_scope: missing,
  });
}
