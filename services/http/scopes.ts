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
] as const;
export type Scope = (typeof SCOPES)[number];

/** All scopes except those for records and for erasures. */
export const DEFAULT_SCOPES: Scope[] = SCOPES.filter(
  (scope) => scope !== 'ingest:write' && scope !== 'contacts:erase',
);
