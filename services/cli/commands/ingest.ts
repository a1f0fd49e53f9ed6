import { resolve } from 'node:path';
import { ingestRecords, type RejectedRecord } from '../../../ingest/pipeline.js';
import type { RecordSource } from '../../../ingest/records/raw-record.js';
import { jsonArray } from '../../../ingest/sources/json-array.js';
import { lines } from '../../../ingest/sources/lines.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { issueKey, parseKey } from '../../accounts/keys.js';
import { loadConfig } from '../../shared/config.js';
import { openStores, type Stores } from '../../stores/open-stores.js';
import { withAdminStore } from '../admin-stores.js';
import { requireId } from '../arguments.js';
import { EXIT, UsageError } from '../errors.js';
import { findServer } from '../http.js';
import { openCsvInput } from '../ingest/csv-input.js';
import { type GatewayTarget, ingestUrl, sendRecords } from '../ingest/gateway-sink.js';
import { type Format, formatOf, type Input, openInput, peekArray } from '../ingest/input.js';
import { Rejects, Report } from '../ingest/report.js';
import { type Io, printErr, printOut } from '../io.js';
import { Progress } from '../progress.js';
import { requireStream } from '../streams.js';

export interface IngestCommand {
  stream: string;
  /** A path, or - for standard input. */
  file: string;
  format?: Format;
  organization?: string;
  columns?: string;
  with?: string[];
  rejects?: string;
  url?: string;
  apiKey?: string;
}

/** Long enough for any file; the key is revoked at the end. */
const KEY_LIFETIME_MS = 24 * 3_600_000;

/** Loads records and resolves with the exit code: 1 when any was rejected. */
export async function ingest(io: Io, command: IngestCommand): Promise<number> {
  const stream = requireStream(command.stream);
  if (command.organization !== undefined) requireId('--organization', command.organization);
  const target = targetOf(io, command, stream);
  if (command.rejects !== undefined && resolve(command.rejects) === resolve(command.file)) {
    throw new UsageError('--rejects names the file that is read; choose another.');
  }
  const opened = await openSource(io, stream, command, target);
  const { destination, close } = target ? { destination: target } : await openFolder(io, command);
  try {
    return await load(io, command, { stream, ...opened, destination });
  } finally {
    await close?.();
  }
}

interface Destination {
  destination: Stores | GatewayTarget;
  close?(): Promise<void>;
}

/** The stores of the data folder, or the server that holds it. */
async function openFolder(io: Io, command: IngestCommand): Promise<Destination> {
  const config = loadConfig(io.env);
  try {
    const stores = await openStores(config);
    return { destination: stores, close: () => stores.close() };
  } catch (error) {
    const { LockHeldError } = await import('../../stores/data-folder/lock.js');
    if (!(error instanceof LockHeldError)) throw error;
    const url = await findServer({ ...config, port: error.owner?.port ?? 0 });
    if (url === undefined) throw error;
    return throughServer(io, command, url);
  }
}

/** A key for this run alone: whoever may write the data folder may create keys in it. */
async function throughServer(io: Io, { organization }: IngestCommand, url: string): Promise<Destination> {
  if (organization === undefined) {
    throw new UsageError(
      `The data folder is in use by the server at ${url}. To send the records through it, name their organization: --organization <id>`,
    );
  }
  const expiresAt = new Date(Date.now() + KEY_LIFETIME_MS).toISOString();
  const request = {
    organizationId: organization,
    name: 'reachline ingest',
    scopes: ['ingest:write'],
    expiresAt,
  };
  const apiKey = await withAdminStore(io, (store) => issueKey(store, request));
  const keyId = parseKey(apiKey)?.id ?? '';
  printErr(io, `The server at ${url} has the data folder, so the records are sent through it.`);
  return {
    destination: { url, apiKey },
    close: async () =>
      void (await withAdminStore(io, (store) => store.revokeKey(keyId, new Date().toISOString()))),
  };
}

interface Load extends OpenedSource {
  stream: Stream;
  destination: Stores | GatewayTarget;
}

async function load(
  io: Io,
  command: IngestCommand,
  { stream, destination, ...opened }: Load,
): Promise<number> {
  const rejects =
    command.rejects === undefined ? undefined : new Rejects(command.rejects, opened.headerBytes);
  const report = new Report(io, opened.input, await Progress.start(io));
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const onInterrupt = () => interrupt.abort();
  // A second Ctrl-C ends the process.
  process.once('SIGINT', onInterrupt);
  const options = {
    stream,
    source: untilAborted(opened.source, signal),
    organizationId: command.organization,
    onRejected(record: RejectedRecord, untouched: Buffer) {
      report.rejected(record);
      rejects?.write(untouched);
    },
    onOverlong: (piece: Buffer) => rejects?.writePiece(piece),
    onProgress: (accepted: number, rejected: number) => report.progress(accepted, rejected),
  };
  try {
    const { accepted, rejected } =
      'search' in destination
        ? await ingestRecords({
            ...options,
            stores: destination,
            acceptance: { acceptedAt: Date.now(), sequence: 0 },
            others: 'allow',
          })
        : await sendRecords({
            ...options,
            target: destination,
            findEveryRejected: rejects !== undefined,
            signal,
            onWait: (reason, wait) =>
              printErr(io, `${reason}; trying again in ${(wait / 1000).toFixed(1)} s.`),
          });
    report.end();
    if (signal.aborted) return interrupted(io, report, opened.input);
    rejects?.end();
    printOut(io, report.summary(stream.name, accepted, rejected));
    return rejected > 0 ? EXIT.failed : EXIT.ok;
  } catch (error) {
    if (!signal.aborted) throw error;
    report.end();
    return interrupted(io, report, opened.input);
  } finally {
    process.off('SIGINT', onInterrupt);
    report.end();
  }
}

function interrupted(io: Io, report: Report, input: Input): number {
  input.close();
  printErr(io, report.interruption());
  return EXIT.interrupted;
}

/** Ends early when the signal is aborted, also while it waits for the source. */
async function* untilAborted(source: RecordSource, signal: AbortSignal): RecordSource {
  const aborted = new Promise<{ done: true; value?: undefined }>((resolve) =>
    signal.addEventListener('abort', () => resolve({ done: true }), { once: true }),
  );
  const iterator = source[Symbol.asyncIterator]();
  for (;;) {
    const step = await Promise.race([iterator.next(), aborted]);
    if (step.done || signal.aborted) return;
    yield step.value;
  }
}

/** The environment stands in for options, as every user of a machine can see those in `ps` (contract 7). */
function targetOf({ env }: Io, command: IngestCommand, stream: Stream): GatewayTarget | undefined {
  const url = command.url ?? (env.REACHLINE_URL || undefined);
  const apiKey = command.apiKey ?? (env.REACHLINE_API_KEY || undefined);
  if (url === undefined) {
    if (command.apiKey !== undefined) {
      throw new UsageError('--api-key belongs to --url <base>, or to REACHLINE_URL.');
    }
    return undefined;
  }
  if (apiKey === undefined) {
    throw new UsageError(
      '--url needs a key with the scope ingest:write: set REACHLINE_API_KEY, or give --api-key <key>.',
    );
  }
  ingestUrl(url, stream);
  return { url, apiKey };
}

interface OpenedSource {
  input: Input;
  source: RecordSource;
  headerBytes?: Buffer;
}

async function openSource(
  io: Io,
  stream: Stream,
  command: IngestCommand,
  target: GatewayTarget | undefined,
): Promise<OpenedSource> {
  const format = command.format ?? formatOf(command.file);
  const input = openInput(io, command.file);
  if (format === 'csv') {
    return openCsvInput(io, stream, input, {
      file: command.file,
      columns: command.columns,
      with: command.with ?? [],
      organization: command.organization,
      organizationOptional: target !== undefined,
    });
  }
  if (command.columns !== undefined || command.with !== undefined) {
    throw new UsageError(
      '--columns and --with are for CSV; add --format csv where the file name does not show it.',
    );
  }
  if (format === 'ndjson') return { input, source: lines(input.chunks) };
  const { isArray, chunks } = await peekArray(input.chunks);
  return { input, source: isArray || format === 'json' ? jsonArray(chunks) : lines(chunks) };
}
