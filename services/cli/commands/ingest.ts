import { mkdirSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type IngestOptions, type IngestResult, ingestRecords } from '../../../ingest/pipeline.js';
import type { RecordSource } from '../../../ingest/records/raw-record.js';
import { type OnDuplicate, PeopleResolver } from '../../../ingest/resolve-people.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { withImport } from '../../../ingest/streams/with-import.js';
import type { Scope } from '../../http/scopes.js';
import { untilAborted } from '../../shared/async.js';
import { loadConfig } from '../../shared/config.js';
import { acceptanceClock } from '../../shared/record-order.js';
import { CommandError, EXIT, UsageError } from '../errors.js';
import { type GatewayOptions, type GatewayTarget, namedGateway, withFolder } from '../gateway.js';
import { dryRun } from '../ingest/dry-run.js';
import { findFiles } from '../ingest/files.js';
import { sendRecords } from '../ingest/gateway-sink.js';
import { type MappedInput, type MappedOptions, openMapped } from '../ingest/mapped-input.js';
import { Rejects, Report } from '../ingest/report.js';
import { formatCount, type Io, isStandardInput, printErr, printOut, printTable } from '../io.js';
import { placeOf, placeOfStandardInput, requireOutsideStores } from '../output-file.js';
import { Progress } from '../progress.js';
import { requireStream } from '../streams.js';

/** Placeholder for the organization of the key in a dry run; a gateway would fill it in. */
const ANY_ORGANIZATION = 'organization-of-the-key';
const SHOWN_ERRORS = 20;
/** On these signals the command ends, and the records read so far stay stored. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

export interface IngestCommand
  extends GatewayOptions,
    Pick<
      MappedOptions,
      'format' | 'map' | 'preset' | 'with' | 'dateOrder' | 'decimal' | 'charset' | 'headerRow'
    > {
  stream: string;
  /** Paths of files and folders, or - for standard input. */
  files: string[];
  rejects?: string;
  /** Number of rejected records up to which the exit code is 0. */
  maxRejected?: number;
  dryRun?: boolean;
  onDuplicate?: OnDuplicate;
  /** Import and audience of the contacts. */
  import?: string;
  audience?: string;
}

const scopesOf = ({ onDuplicate, audience }: IngestCommand): Scope[] => [
  'ingest:write',
  ...(onDuplicate === undefined ? [] : ['contacts:read' as const]),
  ...(audience === undefined ? [] : ['audiences:write' as const]),
];

/** Loads records and resolves with the exit code: 1 if more than `maxRejected` records were rejected. */
export async function ingest(io: Io, command: IngestCommand): Promise<number> {
  const stream = requireStream(command.stream);
  const target = namedGateway(io, command, scopesOf(command));
  const files = findFiles(io, command.files);
  for (const path of [command.map, ...(command.with ?? []), command.rejects]) {
    if (path !== undefined && isStandardInput(path))
      throw new UsageError('Only the file of records may be standard input.');
  }
  if (command.onDuplicate !== undefined && (stream.name !== 'contacts' || command.dryRun)) {
    const detail = command.dryRun
      ? 'A dry run of this command reads only the files. Leave --on-duplicate out, or check the file over HTTP.'
      : `--on-duplicate is for contacts. Leave it out for ${stream.name}.`;
    throw new UsageError(detail);
  }
  for (const name of ['import', 'audience'] as const) {
    if (command[name] !== undefined && stream.name !== 'contacts')
      throw new UsageError(`--${name} is for contacts. Leave it out for ${stream.name}.`);
  }
  const rejects = rejectsOf(command, files);
  const needsOrganization = command.organization === undefined && target === undefined;
  // Files open before the stores: usage errors appear early, and the embedded engine finds standard input empty.
  const open = (file: string) => openMapped(io, stream, { ...command, file, needsOrganization });
  const first = await open(files[0] as string);
  try {
    return await loadFiles(io, command, { stream, target, files, first, open, rejects });
  } finally {
    // A pending read of standard input would keep the process alive.
    first.input.close();
  }
}

interface LoadFiles extends Pick<Load, 'stream' | 'files' | 'open' | 'rejects'> {
  target: GatewayTarget | undefined;
  first: MappedInput;
}

async function loadFiles(
  io: Io,
  command: IngestCommand,
  { stream, target, files, first, open, rejects }: LoadFiles,
): Promise<number> {
  const { organization } = command;
  const imported = { importId: command.import, audienceId: command.audience };
  const loadWith = (write: Write) =>
    load(io, command, {
      stream,
      files,
      open: async (file) => (file === files[0] ? first : open(file)),
      rejects,
      write,
    });
  // The audience is one of the organization.
  const others = command.audience === undefined ? ('allow' as const) : ('reject' as const);
  const rules = () => ({ others, unknownFields: loadConfig(io.env).unknownFields });
  if (command.dryRun) {
    const organizationId = organization ?? (target && ANY_ORGANIZATION);
    return loadWith((options) => dryRun(io, { ...options, ...rules(), organizationId }));
  }
  const loadThrough = (gateway: GatewayTarget) =>
    loadWith((options) =>
      sendRecords({
        ...options,
        target: gateway,
        findEveryRejected: rejects !== undefined,
        onDuplicate: command.onDuplicate,
        imported,
        onWait: (reason, wait) => printErr(io, `${reason}; trying again in ${(wait / 1000).toFixed(1)} s.`),
      }),
    );
  if (target) return loadThrough(target);
  return withFolder(io, { organization, scope: scopesOf(command) }, async (opened) => {
    if (!('records' in opened)) return loadThrough(opened);
    const { audience } = command;
    if (audience !== undefined) {
      if (organization === undefined) throw new UsageError('--audience needs --organization.');
      const found = await opened.records.getAudience(organization, audience);
      if (!found) throw new CommandError(`The organization has no audience ${audience}.`);
    }
    // One clock for all inputs, so that records keep the order of the inputs.
    const accept = acceptanceClock(opened.records);
    const { onDuplicate } = command;
    const people = onDuplicate && new PeopleResolver(opened.records, onDuplicate);
    return loadWith(async (options) =>
      ingestRecords({
        ...options,
        stream: withImport(stream, imported),
        ...rules(),
        people,
        stores: opened,
        acceptance: await accept(),
      }),
    );
  });
}

type RejectsOf = (file: string) => string;

/** The file for rejected records of each input. With several inputs, each gets a file in one folder. Throws UsageError. */
function rejectsOf(command: IngestCommand, files: readonly string[]): RejectsOf | undefined {
  const { rejects } = command;
  if (rejects === undefined) return undefined;
  requireOutsideStores(rejects);
  const inputs = [...files, ...(command.with ?? []), ...(command.map === undefined ? [] : [command.map])];
  if (files.length === 1) {
    requireNotRead(rejects, inputs);
    return () => rejects;
  }
  const read = new Set(files.map((file) => placeOf(dirname(file))));
  if (read.has(placeOf(rejects)) || statSync(rejects, { throwIfNoEntry: false })?.isFile()) {
    throw new UsageError('With several files, --rejects must name a folder, which gets one file for each.');
  }
  const names = namesFor(files);
  for (const name of names.values()) {
    requireNotRead(join(rejects, name), inputs);
    requireOutsideStores(join(rejects, name));
  }
  mkdirSync(rejects, { recursive: true });
  return (file) => join(rejects, names.get(file) as string);
}

/** Throws UsageError if the file is one of the inputs. */
function requireNotRead(rejects: string, inputs: readonly string[]): void {
  const read = new Set(inputs.map((file) => (file === '-' ? placeOfStandardInput() : placeOf(file))));
  if (!read.has(placeOf(rejects))) return;
  throw new UsageError(`--rejects would overwrite the input ${rejects}; choose another file.`);
}

/** A file name for each input. Names differ in more than upper and lower case. */
function namesFor(files: readonly string[]): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const file of files) {
    const name = basename(file).replace(/\.(gz|zst)$/i, '');
    let free = name;
    for (let number = names.size + 1; taken.has(free.toLowerCase()); number++) free = `${number}-${name}`;
    names.set(file, free);
    taken.add(free.toLowerCase());
  }
  return names;
}

type Write = (
  options: Pick<IngestOptions, 'stream' | 'organizationId' | 'onRejected' | 'onOverlong' | 'onFault'> & {
    source: RecordSource;
    onProgress(accepted: number, rejected: number): void;
  },
) => Promise<IngestResult>;

interface Load {
  stream: Stream;
  files: readonly string[];
  open(file: string): Promise<MappedInput>;
  rejects: RejectsOf | undefined;
  write: Write;
}

async function load(io: Io, command: IngestCommand, { files, ...load }: Load): Promise<number> {
  const stats = files.map((file) => statSync(file, { throwIfNoEntry: false }));
  const isMeasured = stats.every((each) => each?.isFile());
  const size = isMeasured ? stats.reduce((sum, each) => sum + (each?.size ?? 0), 0) : undefined;
  const maxShown = command.dryRun ? Number.POSITIVE_INFINITY : SHOWN_ERRORS;
  const report = new Report(io, size, await Progress.start(io), maxShown);
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const onInterrupt = () => interrupt.abort();
  // A second signal ends the process at once.
  if (!command.dryRun) for (const each of SIGNALS) process.once(each, onInterrupt);
  const rows: string[][] = [];
  try {
    for (const file of files) {
      const label = files.length > 1 ? `${file}: ` : '';
      const opened = await load.open(file).catch((error: unknown) => {
        if (label !== '') printErr(io, `${label}not loaded.`);
        throw error;
      });
      report.begin(opened.input, label);
      const path = load.rejects?.(file);
      if (path !== undefined) requireNotRead(path, opened.tables);
      const rejects = path === undefined ? undefined : new Rejects(path, opened.headerBytes);
      const result = await load
        .write({
          stream: load.stream,
          source: untilAborted(opened.source, signal),
          organizationId: command.organization,
          onRejected(record, untouched) {
            report.rejected(record);
            rejects?.write(untouched);
          },
          onOverlong: (piece) => rejects?.writePiece(piece),
          onProgress: (accepted, rejected) => report.progress(accepted, rejected),
          onFault: (error) => printErr(io, `A record could not be read: ${(error as Error).stack}`),
        })
        .catch((error: unknown) => {
          rejects?.discard();
          throw error;
        });
      report.endFile(result);
      rows.push([file, formatCount(result.accepted), formatCount(result.rejected)]);
      opened.input.close();
      if (signal.aborted) {
        rejects?.discard();
        break;
      }
      rejects?.end();
    }
  } finally {
    for (const each of SIGNALS) process.off(each, onInterrupt);
    report.end();
  }
  if (signal.aborted) {
    printErr(io, report.interruption());
    return EXIT.interrupted;
  }
  if (files.length > 1) printTable(io, ['FILE', 'ACCEPTED', 'REJECTED'], rows);
  const note = command.dryRun ? '; dry run: nothing was written' : '';
  printOut(io, `${report.summary(load.stream.name)}${note}`);
  const { rejected } = report.total;
  if (rejected > 0 && load.rejects === undefined && !command.dryRun)
    printErr(io, 'Rejected records were not kept. To save them for a second load, add --rejects <file>.');
  return rejected > (command.maxRejected ?? 0) ? EXIT.failed : EXIT.ok;
}
