import { resolve } from 'node:path';
import { ingestRecords, type RejectedRecord } from '../../../ingest/pipeline.js';
import type { RecordSource } from '../../../ingest/records/raw-record.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import type { Stores } from '../../stores/open-stores.js';
import { requireId } from '../arguments.js';
import { EXIT, UsageError } from '../errors.js';
import { type GatewayOptions, type GatewayTarget, namedGateway, withFolder } from '../gateway.js';
import { dryRun } from '../ingest/dry-run.js';
import { sendRecords } from '../ingest/gateway-sink.js';
import type { Format, Input } from '../ingest/input.js';
import { type MappedInput, openMapped } from '../ingest/mapped-input.js';
import { Rejects, Report } from '../ingest/report.js';
import { type Io, printErr, printOut } from '../io.js';
import { Progress } from '../progress.js';
import { requireStream } from '../streams.js';

export interface IngestCommand extends GatewayOptions {
  stream: string;
  /** A path, or - for standard input. */
  file: string;
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
  const target = namedGateway(io, command, 'ingest:write');
  if (command.rejects !== undefined && resolve(command.rejects) === resolve(command.file)) {
    throw new UsageError('--rejects names the file that is read; choose another.');
  }
  const organizationOptional = target !== undefined;
  if (command.dryRun) return dryRun(io, stream, { ...command, organizationOptional });
  const opened = await openMapped(io, stream, { ...command, organizationOptional });
  const loadInto = (destination: Stores | GatewayTarget) =>
    load(io, command, { stream, ...opened, destination });
  if (target) return loadInto(target);
  const { organization } = command;
  return withFolder(io, { organization, scope: 'ingest:write' }, loadInto);
}

interface Load extends MappedInput {
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
    const result =
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
    printOut(io, report.summary(stream.name, result));
    return result.rejected > 0 ? EXIT.failed : EXIT.ok;
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
