import { resolve } from 'node:path';
import { ingestRecords, type RejectedRecord } from '../../../ingest/pipeline.js';
import type { RecordSource } from '../../../ingest/records/raw-record.js';
import { jsonArray } from '../../../ingest/sources/json-array.js';
import { lines } from '../../../ingest/sources/lines.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { loadConfig } from '../../shared/config.js';
import { openStores, type Stores } from '../../stores/open-stores.js';
import { requireId } from '../arguments.js';
import { EXIT, UsageError } from '../errors.js';
import { openCsvInput } from '../ingest/csv-input.js';
import { type GatewayTarget, ingestUrl, sendRecords } from '../ingest/gateway-sink.js';
import { type Format, type Input, openInput, peekArray } from '../ingest/input.js';
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

/** Loads records and resolves with the exit code: 1 when any was rejected. */
export async function ingest(io: Io, command: IngestCommand): Promise<number> {
  const stream = requireStream(command.stream);
  if (command.organization !== undefined) requireId('--organization', command.organization);
  const target = targetOf(io, command, stream);
  if (command.rejects !== undefined && resolve(command.rejects) === resolve(command.file)) {
    throw new UsageError('--rejects names the file that is read; choose another.');
  }
  const opened = await openSource(io, stream, command, target);
  const stores = target ? undefined : await openStores(loadConfig(io.env));
  try {
    return await load(io, command, { stream, ...opened, destination: stores ?? (target as GatewayTarget) });
  } finally {
    await stores?.close();
  }
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
  const options = {
    stream,
    source: opened.source,
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
            onWait: (reason, wait) =>
              printErr(io, `${reason}; trying again in ${(wait / 1000).toFixed(1)} s.`),
          });
    report.end();
    rejects?.end();
    printOut(io, report.summary(stream.name, accepted, rejected));
    return rejected > 0 ? EXIT.failed : EXIT.ok;
  } finally {
    report.end();
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
  const input = openInput(io, command.file);
  const format = command.format ?? input.format;
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
