/** The key in use. It is kept in this tab alone, and never in an address that a server or a history sees. */
import { computed, signal } from '@preact/signals';
import type { Scope } from '../http/scopes.js';
import { ApiError, type Path, type RequestOf, type ResponseOf, request } from './api.js';
import { STORED_KEY } from './stored-key.js';

interface Session {
  key: string;
  keyId: string;
  organizationId: string;
  scopes: readonly string[];
}

export const session = signal<Session | null>(null);
/** Why there is no session; `null` when nobody tried. */
export const signInError = signal<ApiError | null>(null);
export const signingIn = signal(false);

export const organizationId = computed(() => session.value?.organizationId ?? '');

/** The scope when the key lacks it, else null. */
export function missingScope(scope: Scope): Scope | null {
  const scopes = session.value?.scopes ?? [];
  return scopes.includes(scope) || scopes.includes('*') ? null : scope;
}

export async function signIn(key: string): Promise<void> {
  signingIn.value = true;
  signInError.value = null;
  try {
    const { body } = await request<{ key_id: string; organization_id: string; scopes: string[] }>(
      'GET',
      '/api/key',
      { key },
    );
    sessionStorage.setItem(STORED_KEY, key);
    session.value = { key, keyId: body.key_id, organizationId: body.organization_id, scopes: body.scopes };
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) sessionStorage.removeItem(STORED_KEY);
    signInError.value = error instanceof ApiError ? error : new ApiError(0, { detail: String(error) });
  } finally {
    signingIn.value = false;
  }
}

export function signOut(error: ApiError | null = null): void {
  sessionStorage.removeItem(STORED_KEY);
  signInError.value = error;
  session.value = null;
}

/** Takes the key out of the address at once, then signs in with it or with the one this tab has. */
export async function restoreSession(): Promise<void> {
  const key = new URLSearchParams(location.hash.slice(1)).get('key');
  if (key !== null) history.replaceState(null, '', location.pathname + location.search);
  const known = key ?? sessionStorage.getItem(STORED_KEY);
  if (known !== null) await signIn(known);
}

interface CallOptions {
  signal?: AbortSignal;
  /** With its question mark. */
  query?: string;
  headers?: Record<string, string>;
}

/** Throws ApiError; a key that is no longer valid ends the session. */
export async function call<P extends Path>(
  path: P,
  body: RequestOf<P>,
  { query = '', ...options }: CallOptions = {},
): Promise<ResponseOf<P>> {
  try {
    const key = session.value?.key;
    return (await request<ResponseOf<P>>('POST', path + query, { ...options, key, body })).body;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) signOut(error);
    throw error;
  }
}
