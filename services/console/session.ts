/**
 * The key in use, and all state that ends with it. Tabs share the key with each other. It is never in an address that a server or a history
 * sees.
 */
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import {
  AuthenticationProblem,
  type CallOptions,
  type Client,
  ConnectionError,
  createClient,
  type Export,
  type ExportFormat,
  type ExportRequestOf,
  type KeyDescription,
  type OperationPath,
  type PagedPath,
  type RequestOf,
  type ResponseOf,
} from '../client/index.js';
import { problemOf } from '../client/problems.js';
import { createTransport, jsonOf, type Transport, type TransportRequest } from '../client/transport.js';
import type { Scope } from '../http/scopes.js';
import { type FailureText, failureOf } from './api.js';
import type { FileLoad } from './file-load.js';
import { failureNotice, type Notice } from './notice.js';
import { Selection } from './selection.js';

/** Name under which a tab keeps its key in session storage. */
const STORED_KEY = 'reachline.key';

/** Few retries, because a person waits: a longer outage is shown with a button to retry. */
export const RETRY = { maxAttempts: 2, maxWaitMs: 2000 };
/** Milliseconds in which another signed-in tab answers, unless the browser has frozen it. */
const OTHER_TABS_MS = 250;

/** Timeout of the largest request, whose body the server reads twice. */
const INGEST_TIMEOUT_MS = 300_000;

/** Work of several requests. It continues when the view is left. */
export interface Job {
  title: string;
  /** Progress as text. */
  progress: Signal<string>;
  signal: AbortSignal;
  stop(): void;
}

/** One key from sign-in to sign-out. Notices, selection and jobs belong to a session: they end with it and use only its key. */
export class Session {
  readonly key: string;
  readonly organizationId: string;
  readonly scopes: readonly string[];
  /** The last change. */
  readonly notice = signal<Notice | null>(null);
  /** Number of changes made here. Requests are repeated after each change. */
  readonly writes = signal(0);
  readonly jobs = signal<readonly Job[]>([]);
  readonly selection = new Selection();
  /** The file load that runs or ran last. */
  readonly fileLoad = signal<FileLoad | null>(null);
  readonly #client: Client;
  readonly #transport: Transport;
  #hasEnded = false;

  constructor(key: string, { organization_id, scopes }: KeyDescription) {
    const options = { apiKey: key, ...RETRY };
    this.key = key;
    this.organizationId = organization_id;
    this.scopes = scopes;
    this.#client = createClient({ ...options, organizationId: organization_id });
    this.#transport = createTransport({ ...options, timeoutMs: INGEST_TIMEOUT_MS });
  }

  /** The scope if the key lacks it, otherwise null. */
  missingScope(scope: Scope): Scope | null {
    return this.scopes.includes(scope) || this.scopes.includes('*') ? null : scope;
  }

  call<Path extends OperationPath>(
    path: Path,
    body: RequestOf<Path>,
    options?: CallOptions<Path>,
  ): Promise<ResponseOf<Path>> {
    return this.#run(() => this.#client.call(path, body, options));
  }

  export<Path extends PagedPath>(
    path: Path,
    body: ExportRequestOf<Path>,
    format: ExportFormat,
    signal: AbortSignal,
  ): Promise<Export> {
    return this.#run(() => this.#client.export(path, body, format, { signal }));
  }

  /** Sends a request with any body, and resolves with the JSON of the response. */
  send<T>(request: TransportRequest): Promise<T> {
    return this.#run(() => this.#transport.send<T>(request));
  }

  /**
   * Sends a form and reports the bytes sent, which `fetch` cannot. Throws like `send`, after one attempt: the person decides whether to
   * send a file again.
   */
  upload<T>(
    path: string,
    form: FormData,
    { signal, onProgress }: { signal: AbortSignal; onProgress(sentBytes: number): void },
  ): Promise<T> {
    const send = (resolve: (answer: T) => void, reject: (reason: unknown) => void) => {
      const request = new XMLHttpRequest();
      request.open('POST', path);
      request.setRequestHeader('X-Api-Key', this.key);
      let timer: ReturnType<typeof setTimeout> | undefined;
      const wait = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          reject(new ConnectionError(`Nothing was sent or received within ${INGEST_TIMEOUT_MS} ms.`));
          request.abort();
        }, INGEST_TIMEOUT_MS);
      };
      wait();
      request.onprogress = wait;
      request.upload.onprogress = ({ loaded }) => {
        wait();
        onProgress(loaded);
      };
      request.onload = () => {
        const { status, responseText } = request;
        const retryAfter = request.getResponseHeader('Retry-After');
        const headers: HeadersInit = retryAfter === null ? [] : [['Retry-After', retryAfter]];
        if (status >= 300) return reject(problemOf(new Response(null, { status, headers }), responseText));
        try {
          resolve(jsonOf<T>(status, responseText));
        } catch (error) {
          reject(error);
        }
      };
      request.onerror = () => reject(new ConnectionError('The connection broke.'));
      const stop = () => request.abort();
      request.onabort = () => reject(signal.reason);
      signal.addEventListener('abort', stop, { once: true });
      request.onloadend = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
      };
      request.send(form);
    };
    return this.#run(() => new Promise(send));
  }

  /**
   * Runs a change and shows its notice, or why it failed. `what` completes "It is not known whether …" if the response is lost, such as
   * "the contact was deleted". Resolves with whether the change succeeded.
   */
  async perform(what: string, change: () => Promise<Notice>): Promise<boolean> {
    const done = await change().catch((error: unknown) => failureNotice(what, error));
    this.notice.value = done;
    this.writes.value++;
    return done.isFailure !== true;
  }

  /** Runs work of several requests as a job, which is shown until it ends. */
  async work<T>(title: string, run: (job: Job) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const { signal: stopped } = controller;
    const progress = signal('begins …');
    const stop = () => {
      progress.value = 'stops …';
      controller.abort();
    };
    const job = { title, progress, signal: stopped, stop };
    this.jobs.value = [...this.jobs.value, job];
    try {
      return await run(job);
    } finally {
      this.jobs.value = this.jobs.value.filter((each) => each !== job);
    }
  }

  /** Stops all jobs. After this, nothing is sent with the key. */
  end(): void {
    this.#hasEnded = true;
    for (const job of this.jobs.value) job.stop();
  }

  /** An invalid key ends only the session that it belongs to. */
  async #run<T>(send: () => Promise<T>): Promise<T> {
    if (this.#hasEnded) throw new Error('This session has ended.');
    try {
      return await send();
    } catch (error) {
      if (error instanceof AuthenticationProblem && session.value === this) endSession(failureOf(error));
      throw error;
    }
  }
}

export const session = signal<Session | null>(null);
/** A key that the server has not confirmed, because the response is pending or the server cannot be reached. Nobody is signed in. */
export const unconfirmedKey = signal<string | null>(null);
/** Why there is no session; `null` if nobody tried to sign in. */
export const signInError = signal<FailureText | null>(null);
export const signingIn = signal(false);
/** Whether other tabs still have time to respond. */
export const askingTabs = signal(false);

/** The session of the views that are shown. They keep it, whoever signs in after them. */
export const SessionContext = createContext<Session | null>(null);
export function useSession(): Session {
  const current = useContext(SessionContext);
  if (!current) throw new Error('Nobody is signed in.');
  return current;
}

/** The key of the session or the unconfirmed key, otherwise empty. */
export const currentKey = computed(() => unconfirmedKey.value ?? session.value?.key ?? '');
export const idOf = (key: string) => key.split('_')[2];

export const organizationId: ReadonlySignal<string> = computed(() => session.value?.organizationId ?? '');

/** The scope if the key lacks it, otherwise null. */
export const missingScope = (scope: Scope): Scope | null => session.value?.missingScope(scope) ?? null;

/** The first of the scopes that the key lacks, otherwise null. */
export const missingScopeOf = (scopes: readonly Scope[]): Scope | null =>
  scopes.find((scope) => missingScope(scope) !== null) ?? null;

/** The key of a link that was opened while another key is signed in. The person decides whether to use it. */
export const offeredKey = signal<string | null>(null);

/** Messages between the tabs of this origin. */
type TabMessage =
  | { kind: 'ask' }
  | { kind: 'key'; key: string }
  | { kind: 'sign-out'; keyId: string | undefined };
const tabs = new BroadcastChannel('reachline.session');
const post = (message: TabMessage) => tabs.postMessage(message);

tabs.onmessage = ({ data }: MessageEvent<TabMessage>) => {
  if (data.kind === 'ask' && currentKey.value !== '') post({ kind: 'key', key: currentKey.value });
  // Does not replace a key that waits for the server.
  const isFree = !session.value && ['', data.kind === 'key' && data.key].includes(currentKey.value);
  if (data.kind === 'key' && isFree && !signingIn.value) {
    if (offeredKey.value === data.key) offeredKey.value = null;
    void confirm(data.key);
  }
  if (data.kind === 'sign-out' && idOf(currentKey.value) === data.keyId) endSession(null);
};

/** Number of sessions that ended. A response that comes after the end of its session signs nobody in. */
let ended = 0;

/** Replaces the session once the server has confirmed the key. A rejected key leaves the session unchanged. */
export async function signIn(key: string): Promise<void> {
  signingIn.value = true;
  signInError.value = null;
  const before = ended;
  try {
    const described = await createClient({ apiKey: key, ...RETRY }).describeKey();
    if (ended !== before) return;
    session.value?.end();
    sessionStorage.setItem(STORED_KEY, key);
    unconfirmedKey.value = null;
    session.value = new Session(key, described);
    post({ kind: 'key', key });
  } catch (error) {
    if (ended !== before) return;
    const failure = failureOf(error);
    const text = `${failure.title}. You are still signed in with the previous API key.`;
    if (session.value) session.value.notice.value = { text, isFailure: true };
    else if (error instanceof AuthenticationProblem) {
      const offered = offeredKey.value;
      endSession(failure);
      // The tab's own key is invalid. What remains is a key of another tab, or that of the link.
      if (offered !== null) return offerToTabs(offered);
    }
    signInError.value = failure;
  }
  signingIn.value = false;
}

/** Signs in with a key that nobody typed. If the server cannot say whether it is valid, the key is kept. */
function confirm(key: string): Promise<void> {
  unconfirmedKey.value = key;
  return signIn(key);
}

function endSession(error: FailureText | null): void {
  ended++;
  session.value?.end();
  signingIn.value = false;
  sessionStorage.removeItem(STORED_KEY);
  signInError.value = error;
  unconfirmedKey.value = null;
  offeredKey.value = null;
  session.value = null;
}

/** Signs out in every tab that has this key, confirmed or not. */
export function signOut(): void {
  post({ kind: 'sign-out', keyId: idOf(currentKey.value) });
  endSession(null);
}

/**
 * Removes the key of a link from the address at once. Signs in with the key of this tab, otherwise of another tab, otherwise of the link. A
 * link never replaces a session: its author may want records to be loaded into their organization.
 */
export function restoreSession(): void {
  const linked = new URLSearchParams(location.hash.slice(1)).get('key');
  if (linked !== null) history.replaceState(null, '', location.pathname + location.search);
  const open = currentKey.value;
  const own = open || sessionStorage.getItem(STORED_KEY);
  if (linked !== null && linked !== own) offeredKey.value = linked;
  if (open !== '') return;
  if (own) void confirm(own);
  else offerToTabs(linked);
}

/** Signs in with the key of another tab, otherwise with that of the link. */
function offerToTabs(linked: string | null): void {
  offeredKey.value = linked;
  askingTabs.value = true;
  post({ kind: 'ask' });
  setTimeout(() => {
    askingTabs.value = false;
    if (currentKey.value === '') acceptOffer();
  }, OTHER_TABS_MS);
}

/** Signs in with the key of the link. */
export function acceptOffer(): void {
  const key = offeredKey.value;
  offeredKey.value = null;
  if (key !== null) void (session.value ? signIn(key) : confirm(key));
}
