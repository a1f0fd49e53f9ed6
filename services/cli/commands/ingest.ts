import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
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
import { Checkpoints } from '../ingest/checkpoints.js';
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
  /** Paths, folders and patterns, or - for standard input. */
  files: string[];
  format?: Format;
  organization?: string;
  map?: string;
  preset?: string;
  with?: string[];
  rejects?: string;
  dryRun?: boolean;
  restart?: boolean;
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
  const checkpoints = checkpointsOf(io, command, files, target);
  if (command.restart) checkpoints?.clear(files);
  const waiting = files.filter((file) => !checkpoints?.find(file)?.isDone);
  // Before the stores: problems of the command are known early, and the embedded engine does not find standard input.
  const open = (file: string) => openMapped(io, stream, optionsOf(file));
  const first = waiting[0] === undefined ? undefined : await open(waiting[0]);
  const loadInto = (destination: Stores | GatewayTarget) =>
    load(io, command, {
      stream,
      files,
      open: async (file) => (first && file === waiting[0] ? first : open(file)),
      rejects,
      checkpoints,
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

function checkpointsOf(
  io: Io,
  { stream, organization, format, map, preset }: IngestCommand,
  files: readonly string[],
  target: GatewayTarget | undefined,
): Checkpoints | undefined {
  if (!files.every((file) => statSync(file, { throwIfNoEntry: false })?.isFile())) return undefined;
  const { dataDir } = loadConfig(io.env);
  const mapping = map !== undefined && existsSync(map) ? readFileSync(map, 'utf8') : preset;
  // A checkpoint must not outlive the data folder whose records it counts.
  const path = target ? `${resolve(dataDir)}-ingest.json` : join(dataDir, 'ingest.json');
  return new Checkpoints(path, [stream, target?.url, organization, format, mapping]);
}

interface Load {
  stream: Stream;
  files: readonly string[];
  open(file: string): Promise<MappedInput>;
  rejects: ((file: string) => string) | undefined;
  checkpoints: Checkpoints | undefined;
  destination: Stores | GatewayTarget;
}

async function load(io: Io, command: IngestCommand, { files, ...load }: Load): Promise<number> {
  const { stream, checkpoints } = load;
  const sizes = files.map((file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  const hasSize = files.every((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
  const size = hasSize ? sizes.reduce((sum, bytes) => sum + bytes, 0) : undefined;
  const report = new Report(io, size, await Progress.start(io));
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const onInterrupt = () => interrupt.abort();
  // A second Ctrl-C ends the process.
  process.once('SIGINT', onInterrupt);
  const rows: string[][] = [];
  try {
    for (const [index, file] of files.entries()) {
      const label = files.length > 1 ? `${file}: ` : '';
      const checkpoint = checkpoints?.find(file);
      if (checkpoint?.isDone) {
        report.skip(sizes[index] as number);
        rows.push([file, '-', '-', 'loaded before the interruption']);
        continue;
      }
      const opened = await load.open(file).catch((error: unknown) => {
        if (label !== '') printErr(io, `${label}not loaded.`);
        throw error;
      });
      report.begin(opened.input, label);
      const before = checkpoint?.records ?? 0;
      if (before > 0) {
        printErr(io, `${label}going on behind record ${formatCount(before)}; --restart begins anew.`);
      }
      try {
        const result = await loadFile(io, command, { ...load, ...opened, file, before, report, signal });
        report.endFile(result);
        const { accepted, rejected } = result;
        const note = before > 0 ? `behind record ${formatCount(before)}` : '';
        rows.push([file, formatCount(accepted), formatCount(rejected), note]);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      if (signal.aborted) {
        report.end();
        opened.input.close();
        printErr(io, report.interruption(checkpoints !== undefined));
        return EXIT.interrupted;
      }
      if (index < files.length - 1) checkpoints?.save(file, { records: 0, isDone: true });
    }
    checkpoints?.clear(files);
    report.end();
    if (files.length > 1) printTable(io, ['FILE', 'ACCEPTED', 'REJECTED', 'NOTE'], rows);
    printOut(io, report.summary(stream.name));
    return report.total.rejected > 0 ? EXIT.failed : EXIT.ok;
  } finally {
    process.off('SIGINT', onInterrupt);
    report.end();
  }
}

interface FileLoad extends Omit<Load, 'files' | 'open'>, MappedInput {
  file: string;
  /** Records at its beginning that are not sent again. */
  before: number;
  report: Report;
  signal: AbortSignal;
}

async function loadFile(io: Io, command: IngestCommand, load: FileLoad): Promise<IngestResult> {
  const { stream, file, before, destination, checkpoints, report, signal } = load;
  const rejects = load.rejects && new Rejects(load.rejects(file), load.headerBytes, before > 0);
  const options = {
    stream,
    source: untilAborted(skipRecords(load.source, before), signal),
    organizationId: command.organization,
    onRejected(record: RejectedRecord, untouched: Buffer) {
      report.rejected(record);
      rejects?.write(untouched);
    },
    onOverlong: (piece: Buffer) => rejects?.writePiece(piece),
    onProgress: (accepted: number, rejected: number) => report.progress(accepted, rejected),
    onAcknowledged: (records: number) =>
      checkpoints?.save(file, { records: before + records, isDone: false }),
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
          signal,
          onWait: (reason, wait) => printErr(io, `${reason}; trying again in ${(wait / 1000).toFixed(1)} s.`),
        });
  if (!signal.aborted) rejects?.end();
  return result;
}

/** Without the first records, whose pieces count as one. */
async function* skipRecords(source: RecordSource, count: number): RecordSource {
  let left = count;
  for await (const records of source) {
    let start = 0;
    for (; left > 0 && start < records.length; start++) if (records[start]?.overlong !== 'piece') left--;
    if (start < records.length) yield start === 0 ? records : records.slice(start);
  }
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
