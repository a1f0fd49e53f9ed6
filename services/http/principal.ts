import { Problem } from './problems.js';
import type { Scope } from './scopes.js';

/** The caller of a request, identified by the API key of the request. */
export interface Principal {
  keyId: string;
  organizationId: string;
  scopes: ReadonlySet<string>;
}

/** Response header that asks for another key. */
export const CHALLENGE = { 'WWW-Authenticate': 'ApiKey realm="reachline"' };

/** The problem for unknown, malformed, expired and revoked keys. It is always the same, so that it does not reveal which keys exist. */
export function invalidKey(): Problem {
  return new Problem('invalid_api_key', 'The API key is not valid.', {}, CHALLENGE);
}

export const hasScope = ({ scopes }: Pick<Principal, 'scopes'>, scope: Scope): boolean =>
  scopes.has('*') || scopes.has(scope);

/** Throws 403 `insufficient_scope`, naming the scopes that the key lacks. */
export function requireScopes(principal: Principal, required: readonly Scope[]): void {
  const missing = required.filter((scope) => !hasScope(principal, scope));
  if (missing.length === 0) return;
  const scopes = `${missing.length === 1 ? 'scope' : 'scopes'} ${missing.join(', ')}`;
  throw new Problem('insufficient_scope', `This operation needs a key with the ${scopes}.`, {
    required_scope: missing[0],
  });
}
