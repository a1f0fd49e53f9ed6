/** Permissions of an API key. */
export const SCOPES = [
  'contacts:read',
  'contacts:write',
  'contacts:erase',
  'audiences:read',
  'audiences:write',
  'visits:read',
  'advertising:read',
  'ingest:write',
  'keys:write',
] as const;
export type Scope = (typeof SCOPES)[number];

const ON_REQUEST: ReadonlySet<string> = new Set<Scope>(['ingest:write', 'contacts:erase', 'keys:write']);

/** All scopes except the scopes for ingest, erasures and keys. */
export const DEFAULT_SCOPES: Scope[] = SCOPES.filter((scope) => !ON_REQUEST.has(scope));
