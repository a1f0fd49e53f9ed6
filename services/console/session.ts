/** The key in use. It is kept in this tab alone, and never in an address that a server or a history sees. */
import { computed, signal } from '@preact/signals';
import {
  AuthenticationProblem,
  type CallOptions,
  type Client,
  createClient,
  type Export,
  type ExportFormat,
  type ExportRequestOf,
  type OperationPath,
  type PagedPath,
  type RequestOf,
  type ResponseOf,
} from '../client/index.js';
import type { Scope } from '../http/scopes.js';
import { type FailureText, failureOf } from './api.js';
import { STORED_KEY } from './stored-key.js';

/** A person waits: what takes longer is shown, with a button to try again. */
const RETRY = { maxAttempts: 2, maxWaitMs: 2000 };

interface Session {
  client: Client;
  keyId: string;
  organizationId: string;
  scopes: readonly string[];
}

export const session = signal<Session | null>(null);
/** Why there is no session; `null` when nobody tried. */
export const signInError = signal<FailureText | null>(null);
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
    const options = { apiKey: key, ...RETRY };
    const described = await createClient(options).describeKey();
    sessionStorage.setItem(STORED_KEY, key);
    session.value = {
      client: createClient({ ...options, organizationId: described.organization_id }),
      keyId: described.key_id,
      organizationId: described.organization_id,
      scopes: described.scopes,
    };
  } catch (error) {
    if (error instanceof AuthenticationProblem) sessionStorage.removeItem(STORED_KEY);
    signInError.value = failureOf(error);
  } finally {
    signingIn.value = false;
  }
}

export function signOut(error: FailureText | null = null): void {
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

/** Runs with the client of the session; a key that is no longer valid ends it. */
async function withClient<T>(run: (client: Client) => Promise<T>): Promise<T> {
  if (!session.value) throw new Error('Nobody is signed in.');
  try {
    return await run(session.value.client);
  } catch (error) {
    if (error instanceof AuthenticationProblem) signOut(failureOf(error));
    throw error;
  }
}

export const call = <Path extends OperationPath>(
  path: Path,
  body: RequestOf<Path>,
  options?: CallOptions<Path>,
): Promise<ResponseOf<Path>> => withClient((client) => client.call(path, body, options));

export const exportMatches = <Path extends PagedPath>(
  path: Path,
  body: ExportRequestOf<Path>,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<Export> => withClient((client) => client.export(path, body, format, { signal }));
