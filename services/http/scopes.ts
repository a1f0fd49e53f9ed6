/** Permissions of an API key. */
export const SCOPES = [
  'contacts:read',
  'contacts:write',
  'audiences:read',
  'audiences:write',
  'visits:read',
  'advertising:read',
  'ingest:write',
] as const;
export type Scope = (typeof SCOPES)[number];

/** All scopes except ingest. */
export const DEFAULT_SCOPES: Scope[] = SCOPES.filter((scope) => scope !== 'ingest:write');
