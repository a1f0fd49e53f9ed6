/** The key in use. Tabs keep it for themselves and hand it to each other, and it is never in an address that a server or a history sees. */
import { computed, signal } from '@preact/signals';
import {
  AuthenticationProblem,
  type CallOptions,
  type Client,
  ConnectionError,
  createClient,
  type Export,
  type ExportFormat,
  type ExportRequestOf,
  type OperationPath,
  type PagedPath,
  type RequestOf,
  type ResponseOf,
} from '../client/index.js';
import { problemOf } from '../client/problems.js';
import { createTransport, type Transport, type TransportRequest } from '../client/transport.js';
import type { Scope } from '../http/scopes.js';
import { type FailureText, failureOf } from './api.js';

/** Where a tab keeps its key, in the session storage. */
const STORED_KEY = 'reachline.key';

/** A person waits: what takes longer is shown, with a button to try again. */
export const RETRY = { maxAttempts: 2, maxWaitMs: 2000 };
/** A tab that is signed in answers within some milliseconds, unless the browser has frozen it. */
const OTHER_TABS_MS = 250;

/** Of the largest request, which the server reads twice. */
const INGEST_TIMEOUT_MS = 300_000;

interface Session {
  client: Client;
  /** For records as a file has them. */
  transport: Transport;
  key: string;
  organizationId: string;
  scopes: readonly string[];
}

export const session = signal<Session | null>(null);
/** A key that the server has not confirmed yet, because the answer is on its way or the server cannot be reached. */
export const unconfirmedKey = signal<string | null>(null);
/** Why there is no session; `null` when nobody tried. */
export const signInError = signal<FailureText | null>(null);
export const signingIn = signal(false);
/** Until other tabs had time to answer. */
export const askingTabs = signal(false);

/** Of the session, or the one that will be; else empty. */
export const currentKey = computed(() => unconfirmedKey.value ?? session.value?.key ?? '');
export const idOf = (key: string) => key.split('_')[2];

export const organizationId = computed(() => session.value?.organizationId ?? '');

/** The scope when the key lacks it, else null. */
export function missingScope(scope: Scope): Scope | null {
  const scopes = session.value?.scopes ?? ['*'];
  return scopes.includes(scope) || scopes.includes('*') ? null : scope;
}

/** The first of the scopes that the key lacks, else null. */
export const missingScopeOf = (scopes: readonly Scope[]): Scope | null =>
  scopes.find((scope) => missingScope(scope) !== null) ?? null;

/** The key of a link that was opened while somebody is signed in with another one: the person decides whether to use it. */
export const offeredKey = signal<string | null>(null);

/** Between the tabs of this origin. */
type TabMessage =
  | { kind: 'ask' }
  | { kind: 'key'; key: string }
  | { kind: 'sign-out'; keyId: string | undefined };
const tabs = new BroadcastChannel('reachline.session');
const post = (message: TabMessage) => tabs.postMessage(message);

tabs.onmessage = ({ data }: MessageEvent<TabMessage>) => {
  if (data.kind === 'ask' && session.value) post({ kind: 'key', key: session.value.key });
  if (data.kind === 'key' && !session.value && !signingIn.value) {
    if (offeredKey.value === data.key) offeredKey.value = null;
    void confirm(data.key);
  }
  if (data.kind === 'sign-out' && idOf(currentKey.value) === data.keyId) endSession(null);
};

/** Sessions that ended. An answer that comes behind the end of its own signs nobody in. */
let ended = 0;

export async function signIn(key: string): Promise<void> {
  signingIn.value = true;
  signInError.value = null;
  const before = ended;
  try {
    const options = { apiKey: key, ...RETRY };
    const described = await createClient(options).describeKey();
    if (ended !== before) return;
    sessionStorage.setItem(STORED_KEY, key);
    unconfirmedKey.value = null;
    session.value = {
      client: createClient({ ...options, organizationId: described.organization_id }),
      transport: createTransport({ ...options, timeoutMs: INGEST_TIMEOUT_MS }),
      key,
      organizationId: described.organization_id,
      scopes: described.scopes,
    };
    post({ kind: 'key', key });
  } catch (error) {
    if (ended !== before) return;
    if (error instanceof AuthenticationProblem) endSession(failureOf(error));
    signInError.value = failureOf(error);
  }
  signingIn.value = false;
}

/** Signs in with a key that nobody typed: where the server cannot say whether it is valid, the key stays. */
function confirm(key: string): Promise<void> {
  unconfirmedKey.value = key;
  return signIn(key);
}

function endSession(error: FailureText | null): void {
  ended++;
  signingIn.value = false;
  sessionStorage.removeItem(STORED_KEY);
  signInError.value = error;
  unconfirmedKey.value = null;
  offeredKey.value = null;
  session.value = null;
}

/** In every tab that has this key. */
export function signOut(): void {
  if (session.value) post({ kind: 'sign-out', keyId: idOf(session.value.key) });
  endSession(null);
}

/**
 * Takes the key of a link out of the address at once. Signs in with the key of this tab, else with that of another tab, else with the
 * one of the link: a link never replaces a session, as whoever made it may want records to be loaded into their organization.
 */
export function restoreSession(): void {
  const linked = new URLSearchParams(location.hash.slice(1)).get('key');
  if (linked !== null) history.replaceState(null, '', location.pathname + location.search);
  const own = session.value?.key ?? sessionStorage.getItem(STORED_KEY);
  if (linked !== null && linked !== own) offeredKey.value = linked;
  if (own !== null) return void confirm(own);
  askingTabs.value = true;
  post({ kind: 'ask' });
  setTimeout(() => {
    askingTabs.value = false;
    if (!session.value && !signingIn.value) acceptOffer();
  }, OTHER_TABS_MS);
}

/** Signs in with the key of the link. */
export function acceptOffer(): void {
  const key = offeredKey.value;
  offeredKey.value = null;
  if (key !== null) void confirm(key);
}

/** Runs with the session; a key that is no longer valid ends it. */
async function inSession<T>(run: (session: Session) => Promise<T>): Promise<T> {
  if (!session.value) throw new Error('Nobody is signed in.');
  try {
    return await run(session.value);
  } catch (error) {
    if (error instanceof AuthenticationProblem) endSession(failureOf(error));
    throw error;
  }
}

export const call = <Path extends OperationPath>(
  path: Path,
  body: RequestOf<Path>,
  options?: CallOptions<Path>,
): Promise<ResponseOf<Path>> => inSession(({ client }) => client.call(path, body, options));

export const exportMatches = <Path extends PagedPath>(
  path: Path,
  body: ExportRequestOf<Path>,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<Export> => inSession(({ client }) => client.export(path, body, format, { signal }));

/** The answer to a request of any body. */
export const send = <T>(request: TransportRequest): Promise<T> =>
  inSession(({ transport }) => transport.send<T>(request));

/**
 * Sends a form, and tells how many of its bytes are on their way; `fetch` does not. Throws as `send`, after one attempt: whoever waits for
 * a file decides whether it is sent again.
 */
export const upload = <T>(
  path: string,
  form: FormData,
  { signal, onProgress }: { signal: AbortSignal; onProgress(sentBytes: number): void },
): Promise<T> =>
  inSession(
    ({ key }) =>
      new Promise<T>((resolve, reject) => {
        const request = new XMLHttpRequest();
        request.open('POST', path);
        request.setRequestHeader('X-Api-Key', key);
        request.upload.onprogress = ({ loaded }) => onProgress(loaded);
        request.onload = () => {
          const { status, responseText } = request;
          const retryAfter = request.getResponseHeader('Retry-After');
          const headers: HeadersInit = retryAfter === null ? [] : [['Retry-After', retryAfter]];
          if (status < 300) resolve(JSON.parse(responseText) as T);
          else reject(problemOf(new Response(null, { status, headers }), responseText));
        };
        request.onerror = () => reject(new ConnectionError('The connection broke.'));
        const stop = () => request.abort();
        request.onabort = () => reject(signal.reason);
        signal.addEventListener('abort', stop, { once: true });
        request.onloadend = () => signal.removeEventListener('abort', stop);
        request.send(form);
      }),
  );
