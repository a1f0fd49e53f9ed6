import { Problem } from './problems.js';
import type { Scope } from './scopes.js';

/** The caller of a request: the API key it was sent with. */
export interface Principal {
  keyId: string;
  organizationId: string;
  scopes: ReadonlySet<string>;
}

/** Throws 403 `insufficient_scope`. */
export function requireScope(principal: Principal, scope: Scope): void {
  if (principal.scopes.has(scope) || principal.scopes.has('*')) return;
  throw new Problem('insufficient_scope', `This operation needs a key with the scope ${scope}.`, {
    required_scope: scope,
  });
}
