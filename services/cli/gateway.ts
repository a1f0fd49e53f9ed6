/**
 * Chooses the gateway of a command: the one that its options name, the server that uses the data folder, or a gateway that the command
 * starts.
 */
import { issueKey, parseKey, RUN_KEY_NAME } from '../accounts/keys.js';
import { type Client, createClient } from '../client/client.js';
import { ConnectionError, ReachlineProblem, ValidationProblem } from '../client/problems.js';
import type { Scope } from '../http/scopes.js';
import { type Config, loadConfig } from '../shared/config.js';
import { createLogger } from '../shared/logger.js';
import type { RecordStore } from '../stores/common/record-store.js';
import { LockHeldError } from '../stores/data-folder/errors.js';
import { openStores, type Stores } from '../stores/open-stores.js';
import { withAdminStore } from './admin-stores.js';
import { CommandError, UsageError } from './errors.js';
import { findServer, request } from './http.js';
import { type Io, printErr } from './io.js';

export interface GatewayTarget {
  url: string;
  apiKey: string;
}

export interface GatewayOptions {
  url?: string;
  apiKey?: string;
  organization?: string;
}

/** Access that a command needs. */
export interface Access {
  organization?: string;
  scope: readonly Scope[];
}

/** Long enough for any file; the key is revoked when the command ends. */
const KEY_LIFETIME_MS = 24 * 3_600_000;
const REACH_TIMEOUT_MS = 2000;

/**
 * The gateway that the options or the environment name. The environment is an alternative because every user of a machine can see options
 * in `ps` (contract 7). Throws UsageError.
 */
export function namedGateway(
  { env }: Io,
  options: GatewayOptions,
  scope: readonly Scope[],
): GatewayTarget | undefined {
  const base = options.url ?? (env.REACHLINE_URL || undefined);
  const apiKey = options.apiKey ?? (env.REACHLINE_API_KEY || undefined);
  if (base === undefined) {
    if (options.apiKey === undefined) return undefined;
    throw new UsageError('--api-key belongs to --url <base>, or to REACHLINE_URL.');
  }
  const url = baseAddress(base);
  if (apiKey === undefined) {
    const needed = scope.length === 0 ? 'a key' : `a key with the scope ${scope.join(' and ')}`;
    throw new UsageError(
      `${options.url === undefined ? 'REACHLINE_URL' : '--url'} needs ${needed}: set REACHLINE_API_KEY, or give --api-key <key>.`,
    );
  }
  return { url, apiKey };
}

/** The base address without query and trailing slashes. Throws UsageError unless it is an HTTP address. */
export function baseAddress(base: string): string {
  const url = URL.canParse(base) ? new URL(base) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(
      `--url (or REACHLINE_URL) takes the base address of a gateway, such as http://127.0.0.1:8080, not ${base}.`,
    );
  }
  return `${url.origin}${url.pathname.replace(/(?<!\/)\/+$/, '')}`;
}

/**
 * Gives `work` a client of the gateway that the options name, otherwise of the data folder. Throws UsageError if neither is named. Turns
 * errors of the client into errors of the command line.
 */
export async function withClient(
  io: Io,
  options: GatewayOptions,
  scope: readonly Scope[],
  work: (client: Client) => Promise<void>,
): Promise<void> {
  const { organization } = options;
  const named = namedGateway(io, options, scope);
  if (!named && organization === undefined) {
    throw new UsageError(
      'Name the organization with --organization <id>, or a gateway with --url and REACHLINE_API_KEY.',
    );
  }
  const through = (target: GatewayTarget) =>
    work(createClient({ ...target, organizationId: organization })).catch((error: unknown) => {
      throw gatewayError(error, target.url);
    });
  if (named) {
    await requireReachable(named.url);
    return through(named);
  }
  const access = { organization, scope };
  return withFolder(io, access, (opened) =>
    'records' in opened ? throughOwnGateway(loadConfig(io.env), opened, access, through) : through(opened),
  );
}

/** Starts a gateway over the stores that only this process can use. */
async function throughOwnGateway(
  config: Config,
  stores: Stores,
  access: Access,
  work: (target: GatewayTarget) => Promise<void>,
): Promise<void> {
  const { startGateway } = await import('../gateway/server.js');
  const address = { host: '127.0.0.1', port: 0, metricsPort: 0 };
  const gateway = await startGateway({ ...config, ...address }, stores, createLogger('silent'));
  try {
    await withRunKey(
      (use) => use(stores.records),
      access,
      (apiKey) => work({ url: gateway.url, apiKey }),
    );
  } finally {
    await gateway.stop();
  }
}

/**
 * Opens the data folder for `work`. If a running server uses the folder, `work` gets that server, with a key for this run: whoever may
 * write the data folder may create keys in it. Throws UsageError if the server needs `organization`, and the errors of `openStores`.
 */
export async function withFolder<T>(
  io: Io,
  access: Access,
  work: (opened: Stores | GatewayTarget) => Promise<T>,
): Promise<T> {
  const config = loadConfig(io.env);
  let stores: Stores;
  try {
    stores = await openStores(config, { analyticsOnDemand: true });
  } catch (error) {
    if (!(error instanceof LockHeldError)) throw error;
    const url = await findServer({ ...config, port: error.owner?.port ?? 0 });
    if (url === undefined) throw error;
    return throughServer(io, url, access, work);
  }
  try {
    return await work(stores);
  } finally {
    await stores.close();
  }
}

async function throughServer<T>(
  io: Io,
  url: string,
  access: Access,
  work: (target: GatewayTarget) => Promise<T>,
): Promise<T> {
  if (access.organization === undefined) {
    throw new UsageError(
      `The data folder is in use by the server at ${url}. To go through it, name the organization: --organization <id>`,
    );
  }
  printErr(io, `The server at ${url} uses the data folder, so this command goes through it.`);
  return withRunKey(
    (use) => withAdminStore(io, use),
    access,
    (apiKey) => work({ url, apiKey }),
  );
}

type RunKeys = Pick<RecordStore, 'insertKey' | 'revokeKey'>;

async function withRunKey<T>(
  withStore: <R>(use: (store: RunKeys) => Promise<R>) => Promise<R>,
  { organization = '', scope }: Access,
  work: (apiKey: string) => Promise<T>,
): Promise<T> {
  const expiresAt = new Date(Date.now() + KEY_LIFETIME_MS).toISOString();
  const key = { organizationId: organization, name: RUN_KEY_NAME, scopes: scope, expiresAt };
  const apiKey = await withStore((store) => issueKey(store, key));
  try {
    return await work(apiKey);
  } finally {
    const keyId = parseKey(apiKey)?.id ?? '';
    await withStore((store) => store.revokeKey(keyId, new Date().toISOString()));
  }
}

/** Throws CommandError within 2 s if the address does not respond, such as with a wrong port, before any retry. */
export async function requireReachable(url: string): Promise<void> {
  await request(`${url}/version`, {}, REACH_TIMEOUT_MS).catch((error: Error) => {
    throw unreachable(url, error);
  });
}

/** Turns an error of the client into an error of the command line, with the gateway's own words. Returns other errors unchanged. */
export function gatewayError(error: unknown, url: string): unknown {
  if (error instanceof ConnectionError) return unreachable(url, error.cause as Error);
  if (!(error instanceof ReachlineProblem)) return error;
  const { status, code, message, errors } = error;
  const details = errors.length > 0 ? errors.map(({ detail }) => detail).join('\n') : message;
  const Class = error instanceof ValidationProblem ? UsageError : CommandError;
  return new Class(
    `The gateway responded with ${status}${code === 'unknown' ? '' : ` ${code}`}: ${details}${HINTS[code] ?? ''}`,
  );
}

function unreachable(url: string, { cause, message }: Error): CommandError {
  const reason = (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
  return new CommandError(
    `${url} cannot be reached (${reason}). Check --url or REACHLINE_URL, and that reachline serve runs there.`,
  );
}

const HINTS: Record<string, string> = {
  insufficient_scope: ' Create one with: reachline keys create --organization <id> --scopes <scope>',
  invalid_api_key: ' Check REACHLINE_API_KEY or --api-key; reachline keys list shows the existing keys.',
};
