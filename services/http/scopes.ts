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

/** All scopes except those for records, for erasures and for keys. */
export const DEFAULT_SCOPES: Scope[] = SCOPES.filter((scope) => !ON_REQUEST.has(scope));
