/** Scopes of views that need several. */
import type { Scope } from '../http/scopes.js';
import { missingScopeOf } from './session.js';

/** Scopes that the pages of companies need. */
export const COMPANY_SCOPES: readonly Scope[] = ['advertising:read', 'visits:read', 'contacts:read'];
/** Whether the key sees companies with their visits and people. Other keys see the ads alone. */
export const seesCompanies = () => missingScopeOf(COMPANY_SCOPES) === null;

export const SQL_SCOPES = ['contacts:read', 'audiences:read', 'visits:read', 'advertising:read'] as const;
