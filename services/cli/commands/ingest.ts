import { mkdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type IngestResult, ingestRecords, type RejectedRecord } from '../../../ingest/pipeline.js';
import type { RecordSource } from '../../../ingest/records/raw-record.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { loadConfig } from '../../shared/config.js';
import { acceptanceClock } from '../../shared/record-order.js';
import type { Stores } from '../../stores/open-stores.js';
import { requireId } from '../arguments.js';
import { EXIT, UsageError } from '../errors.js';
import { type GatewayOptions, type GatewayTarget, namedGateway, withFolder } from '../gateway.js';
import { dryRun } from '../ingest/dry-run.js';
import { findFiles } from '../ingest/files.js';
import { sendRecords } from '../ingest/gateway-sink.js';
import type { Format } from '../ingest/input.js';
import { type MappedInput, openMapped } from '../ingest/mapped-input.js';
import { Rejects, Report } from '../ingest/report.js';
import { formatCount, type Io, printErr, printOut, printTable } from '../io.js';
import { Progress } from '../progress.js';
import { requireStream } from '../streams.js';

/** One for all inputs, so that their order is that of their records. */
const accept = acceptanceClock();

export interface IngestCommand extends GatewayOptions {
  stream: string;
  /** Paths and folders, or - for standard input. */
  files: string[];
  format?: Format;
  organization?: string;
  map?: string;
  preset?: string;
  with?: string[];
  rejects?: string;
  dryRun?: boolean;
}

/** Loads records and resolves with the exit code: 1 when any was rejected. */
export async function ingest(io: Io, command: IngestCommand): Promise<number> {
  const stream = requireStream(command.stream);
  if (command.organization !== undefined) requireId('--organization', command.organization);
  const target = namedGateway(io, command, ['ingest:write']);
  const files = findFiles(io, command.files);
  const rejects = rejectsOf(command, files);
  const organizationOptional = target !== undefined;
  const optionsOf = (file: string) => ({ ...command, file, rejects: rejects?.(file), organizationOptional });
  if (command.dryRun) {
    let exitCode: number = EXIT.ok;
    for (const file of files) exitCode = Math.max(exitCode, await dryRun(io, stream, optionsOf(file)));
    return exitCode;
  }
  // Before the stores: problems of the command are known early, and the embedded engine does not find standard input.
  const open = (file: string) => openMapped(io, stream, optionsOf(file));
  const first = await open(files[0] as string);
  const loadInto = (destination: Stores | GatewayTarget) =>
    load(io, command, {
      stream,
      files,
      open: async (file) => (file === files[0] ? first : open(file)),
      rejects,
      destination,
    });
  if (target) return loadInto(target);
  const { organization } = command;
  return withFolder(io, { organization, scope: ['ingest:write'] }, loadInto);
}

/** The file for the rejected records of each file: with several files, one for each in a folder. Throws UsageError. */
function rejectsOf(
  { rejects }: IngestCommand,
  files: readonly string[],
): ((file: string) => string) | undefined {
  if (rejects === undefined) return undefined;
  if (files.length === 1) {
    if (resolve(rejects) === resolve(files[0] as string)) {
      throw new UsageError('--rejects names the file that is read; choose another.');
    }
    return () => rejects;
  }
  const read = new Set(files.map((file) => dirname(resolve(file))));
  if (read.has(resolve(rejects)) || statSync(rejects, { throwIfNoEntry: false })?.isFile()) {
    throw new UsageError('With several files, --rejects names a folder of its own, for a file each.');
  }
  mkdirSync(rejects, { recursive: true });
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const file of files) {
    const name = basename(file).replace(/\.(gz|zst)$/i, '');
    names.set(file, taken.has(name) ? `${names.size + 1}-${name}` : name);
    taken.add(name);
  }
  return (file) => join(rejects, names.get(file) as string);
}

interface Load {
  stream: Stream;
  files: readonly string[];
  open(file: string): Promise<MappedInput>;
  rejects: ((file: string) => string) | undefined;
  destination: Stores | GatewayTarget;
}

async function load(io: Io, command: IngestCommand, { files, ...load }: Load): Promise<number> {
  const stats = files.map((file) => statSync(file, { throwIfNoEntry: false }));
  const isMeasured = stats.every((each) => each?.isFile());
  const size = isMeasured ? stats.reduce((sum, each) => sum + (each?.size ?? 0), 0) : undefined;
  const report = new Report(io, size, await Progress.start(io));
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const onInterrupt = () => interrupt.abort();
  // A second Ctrl-C ends the process.
  process.once('SIGINT', onInterrupt);
  const rows: string[][] = [];
  try {
    for (const file of files) {
      const label = files.length > 1 ? `${file}: ` : '';
      const opened = await load.open(file).catch((error: unknown) => {
        if (label !== '') printErr(io, `${label}not loaded.`);
        throw error;
      });
      report.begin(opened.input, label);
      const result = await loadFile(io, command, { ...load, ...opened, file, report, signal });
      report.endFile(result);
      rows.push([file, formatCount(result.accepted), formatCount(result.rejected)]);
      if (signal.aborted) {
        report.end();
        opened.input.close();
        printErr(io, report.interruption());
        return EXIT.interrupted;
      }
    }
    report.end();
    if (files.length > 1) printTable(io, ['FILE', 'ACCEPTED', 'REJECTED'], rows);
    printOut(io, report.summary(load.stream.name));
    return report.total.rejected > 0 ? EXIT.failed : EXIT.ok;
  } finally {
    process.off('SIGINT', onInterrupt);
    report.end();
  }
}

interface FileLoad extends Omit<Load, 'files' | 'open'>, MappedInput {
  file: string;
  report: Report;
  signal: AbortSignal;
}

async function loadFile(io: Io, command: IngestCommand, load: FileLoad): Promise<IngestResult> {
  const { stream, file, destination, report, signal } = load;
  const rejects = load.rejects && new Rejects(load.rejects(file), load.headerBytes);
  const options = {
    stream,
    source: untilAborted(load.source, signal),
    organizationId: command.organization,
    onRejected(record: RejectedRecord, untouched: Buffer) {
      report.rejected(record);
      rejects?.write(untouched);
    },
    onOverlong: (piece: Buffer) => rejects?.writePiece(piece),
    onProgress: (accepted: number, rejected: number) => report.progress(accepted, rejected),
  };
  const result =
    'search' in destination
      ? await ingestRecords({
          ...options,
          stores: destination,
          acceptance: accept(),
          others: 'allow',
          unknownFields: loadConfig(io.env).unknownFields,
        })
      : await sendRecords({
          ...options,
          target: destination,
          findEveryRejected: rejects !== undefined,
          onWait: (reason, wait) => printErr(io, `${reason}; trying again in ${(wait / 1000).toFixed(1)} s.`),
        });
  if (!signal.aborted) rejects?.end();
  return result;
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
