import { readFileSync } from 'node:fs';
import { createClient } from '../../client/client.js';
import { loadConfig } from '../../shared/config.js';
import { type ChangesRequest, followChanges, type Sink } from '../changes/follow-changes.js';
import { StateFile } from '../changes/state-file.js';
import { lockStateFile } from '../changes/state-lock.js';
import { EXIT, UsageError } from '../errors.js';
import { gatewayError, namedGateway } from '../gateway.js';
import { type Io, printable } from '../io.js';
import { openLog } from '../log.js';
import { requireOutsideStores } from '../output-file.js';

const DEFAULT_URL = 'http://127.0.0.1:8080';
const MAX_PAGE_SIZE = 1000;

export interface ChangesOptions {
  organization: string;
  /** Path of a JSON file. */
  filter?: string;
  state: string;
  out?: string;
  post?: string;
  secretFile?: string;
  allowPrivate?: boolean;
  /** Seconds between two readings once nothing is left. */
  every: number;
  once?: boolean;
  url?: string;
  apiKey?: string;
}

/** Delivers changes until a signal ends the process. A message that is under way at the signal still gets the whole time of a request. */
export async function changes(io: Io, options: ChangesOptions): Promise<number> {
  const { organization, url = io.env.REACHLINE_URL || DEFAULT_URL } = options;
  const target = namedGateway(io, { ...options, url }, ['contacts:read']);
  requireOutsideStores(options.state);
  const filter = options.filter === undefined ? undefined : readFilter(options.filter);
  const sink = await sinkOf(io, options);
  const lock = await lockStateFile(options.state);
  // Failed requests are repeated and logged by followChanges.
  const client = createClient({ ...target, organizationId: organization, maxAttempts: 1 });
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  for (const signal of SIGNALS) process.once(signal, onSignal);
  try {
    await followChanges({
      organizationId: organization,
      filter,
      read: (request, signal) => client.call('/api/contacts/changes', request, { signal }),
      sink,
      file: new StateFile(options.state),
      logger: openLog(io, loadConfig(io.env)),
      pollMs: options.every * 1000,
      once: options.once ?? false,
      signal: stop.signal,
    });
  } catch (error) {
    throw gatewayError(error, url);
  } finally {
    for (const signal of SIGNALS) process.removeListener(signal, onSignal);
    sink.close();
    lock.release();
  }
  return EXIT.ok;
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** The gateway validates its fields. */
function readFilter(path: string): ChangesRequest['filter'] {
  const text = readFileSync(path, 'utf8');
  try {
    const filter: unknown = JSON.parse(text);
    if (typeof filter === 'object' && filter !== null && !Array.isArray(filter)) return filter;
  } catch {
    // Refused below.
  }
  throw new UsageError(`${path} has no JSON object, such as {"country": "US"}.`);
}

async function sinkOf(
  io: Io,
  { out, post, secretFile, allowPrivate = false }: ChangesOptions,
): Promise<Sink> {
  if ((out === undefined) === (post === undefined)) {
    throw new UsageError('Say where the changes go: --out - or --post <url>.');
  }
  if (post === undefined) return outputSink(io.stdout);
  if (secretFile === undefined) {
    throw new UsageError('--post needs --secret-file <file>, whose secret signs every message.');
  }
  const { parseSecrets, webhookSink } = await import('../changes/webhook.js');
  return webhookSink({ url: post, secrets: parseSecrets(readFileSync(secretFile, 'utf8')), allowPrivate });
}

/** Writes a line per message. A page counts as acknowledged once the output has taken it. */
function outputSink(stdout: Io['stdout']): Sink {
  return {
    batchSize: MAX_PAGE_SIZE,
    pageSize: MAX_PAGE_SIZE,
    deliver: (messages) =>
      new Promise((resolve, reject) => {
        const text = messages.map(({ content }) => `${JSON.stringify(content)}\n`).join('');
        stdout.write(stdout.isTTY ? printable(text) : text, (error) => (error ? reject(error) : resolve()));
      }),
    close: () => undefined,
  };
}
