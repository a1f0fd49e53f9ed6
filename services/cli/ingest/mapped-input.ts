/** Opens a file in its format and maps it to records of a stream. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { compileMapping } from '../../../ingest/mapping/compile.js';
import type { DateOrder } from '../../../ingest/mapping/date-format.js';
import { sourceRecordOf } from '../../../ingest/mapping/map-source.js';
import type { JoinedRows, JoinPlan, Mapping, SourceRecord } from '../../../ingest/mapping/mapping.js';
import { MappingError, type MappingFile, parseMappingFile } from '../../../ingest/mapping/mapping-file.js';
import type { DecimalMark } from '../../../ingest/mapping/number-format.js';
import { PRESETS } from '../../../ingest/presets/index.js';
import { presetsNamed } from '../../../ingest/presets/recognize.js';
import type { RecordSource } from '../../../ingest/records/raw-record.js';
import { asUtf8 } from '../../../ingest/sources/as-utf8.js';
import { charsetOf } from '../../../ingest/sources/charset.js';
import { ColumnsError, type ProposedReading } from '../../../ingest/sources/csv.js';
import { recognizeText } from '../../../ingest/sources/recognize-text.js';
import { mapText, type OpenedText, openText, type TextOptions } from '../../../ingest/sources/text.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { didYouMean } from '../../shared/did-you-mean.js';
import { isObject } from '../../shared/json.js';
import { CommandError, UsageError } from '../errors.js';
import { type Io, isStandardInput, printErr } from '../io.js';
import { type Format, formatOf, type Input, openInput, peekJson } from './input.js';

export interface MappedOptions {
  /** A path, or - for standard input. */
  file: string;
  format?: Format;
  /** Path of a mapping file. */
  map?: string;
  /** Name of a preset, of a source that has presets, or `auto`. */
  preset?: string;
  /** Other tables of the same export. */
  with?: string[];
  /** How dates and numbers are written, if the file does not show it. */
  dateOrder?: DateOrder;
  decimal?: DecimalMark;
  /** The charset of the text, if it is not UTF-8. */
  charset?: string;
  /** Line of the column names, from 1. */
  headerRow?: number;
  /** Whether only the records can name the organization. */
  needsOrganization: boolean;
  /** Whether nothing is written. If so, the columns that are left out are printed. */
  dryRun?: boolean;
}

export interface MappedInput {
  input: Input;
  source: RecordSource;
  headerBytes?: Buffer;
  /** Paths of the joined tables. */
  tables: readonly string[];
}

/** Throws `ColumnsError`, `MappingError` or `UsageError` before any record is read. */
export async function openMapped(io: Io, stream: Stream, options: MappedOptions): Promise<MappedInput> {
  const candidates = candidatesOf(options, stream);
  const headers = Object.values(candidates).flatMap(({ recognize }) => (recognize ? [recognize] : []));
  const { charset, headerRow } = options;
  const { input, text } = await openFile(io, options.file, options.format, { headers, charset, headerRow });
  try {
    return await mapInput(io, stream, options, candidates, input, text);
  } catch (error) {
    input.close();
    throw error;
  }
}

async function mapInput(
  io: Io,
  stream: Stream,
  options: MappedOptions,
  candidates: Candidates,
  input: Input,
  text: OpenedText,
): Promise<MappedInput> {
  const file = await chooseMapping(io, candidates, text, stream, options);
  let mapping = file && compileFor(file, stream, options);
  const tables: string[] = [];
  if (mapping !== undefined && file?.join !== undefined) {
    mapping = mapping.withJoins(await readJoins(io, mapping.joins, options, tables));
  }
  const names = text.header && mapping?.columnNames(text.header.columns);
  const columns = text.header?.columns.map((column) => names?.get(column) ?? column);
  const mapped = mapText(text, stream, mapping, options, (uses) => {
    const leftOut = uses.filter(({ fields }) => fields.length === 0).map(({ column }) => column);
    if (options.dryRun && leftOut.length > 0)
      printErr(io, `${input.name}: columns left out: ${leftOut.join(', ')}.`);
  });
  const source = await mapped.catch((error: unknown) => {
    if (!(error instanceof ColumnsError) || mapping !== undefined) throw error;
    throw new UsageError(
      `${error.message}\nAdd --preset auto if the file is an export of a known tool. Otherwise draft a mapping with: ${draftCommand(options, stream)}`,
    );
  });
  if (columns !== undefined) {
    const field = stream.organizationField;
    if (options.needsOrganization && !(mapping?.givesOrganization(columns) ?? columns.includes(field))) {
      throw new UsageError(`No column gives ${field}: name the organization with --organization <id>.`);
    }
    if (options.map !== undefined && mapping !== undefined) {
      for (const path of mapping.missingPaths(columns)) {
        printErr(
          io,
          `${input.name} has no column ${JSON.stringify(path)}. ${didYouMean(path, columns)}`.trimEnd(),
        );
      }
    }
  }
  return { input, source, headerBytes: headerBytesOf(text, options), tables };
}

/**
 * Bytes at the beginning of the file of rejected rows, so that it is read in the same way as the input. Text of another charset was
 * converted to UTF-8, which a byte order mark says.
 */
function headerBytesOf({ header }: OpenedText, { charset, headerRow }: MappedOptions): Buffer | undefined {
  if (header === undefined) return undefined;
  const mark = charset === undefined ? '' : '\ufeff';
  const preamble = headerRow === undefined ? '' : header.preamble;
  return Buffer.concat([Buffer.from(mark + preamble), header.bytes]);
}

const draftCommand = ({ file, charset, headerRow }: MappedOptions, { name }: Stream) =>
  ['reachline mapping draft', file, '--stream', name, ...readingOptions({ charset, headerRow })].join(' ');

type Candidates = Readonly<Record<string, MappingFile>>;

/** The mapping of a file, or the presets to choose from. */
function candidatesOf({ map, preset }: MappedOptions, stream: Stream): Candidates {
  if (map !== undefined && preset !== undefined) throw new UsageError('Give either --map or --preset.');
  if (preset !== undefined) return findPresets(preset, stream);
  if (map === undefined) return {};
  if (!existsSync(map)) {
    const hint = presetsNamed(map).length > 0 ? ` For the preset of that name: --preset ${map}` : '';
    throw new UsageError(`--map takes the path of a mapping file; there is no file ${map}.${hint}`);
  }
  return { [map]: parseMappingFile(readFileSync(map, 'utf8')) };
}

function findPresets(name: string, stream: Stream): Candidates {
  const found = presetsNamed(name);
  if (found.length > 0) return Object.fromEntries(found.map((each) => [each, PRESETS[each] as MappingFile]));
  const names = Object.keys(PRESETS);
  const ofStream = names.filter((each) => PRESETS[each]?.stream === stream.name);
  const hint = didYouMean(name, names) || `The presets of ${stream.name} are ${ofStream.join(', ')}.`;
  throw new UsageError(`There is no preset ${JSON.stringify(name)}. ${hint}`);
}

/** The mapping of a file, or the preset that fits the first records of the text. Prints the name of the preset. */
async function chooseMapping(
  io: Io,
  candidates: Candidates,
  text: OpenedText,
  stream: Stream,
  options: MappedOptions,
): Promise<MappingFile | undefined> {
  const { map, preset, file } = options;
  if (map !== undefined || preset === undefined) return Object.values(candidates)[0];
  const recognition = await recognizeText(text, preset, stream.name);
  if ('reason' in recognition) {
    text.close();
    const next = recognition.reason.startsWith('No preset fits.')
      ? ` Draft a mapping with: ${draftCommand(options, stream)}`
      : '';
    throw new UsageError(`${basename(file)}: ${recognition.reason}${next}`);
  }
  const { name, taken, others } = recognition;
  if (name !== preset) printErr(io, `${basename(file)}: preset ${name} (${recognition.preset.description}).`);
  if (taken.length > 0) {
    const listed = taken.map(({ column, field }) => `${column} as ${field}`).join(', ');
    printErr(io, `${basename(file)}: columns taken by their names: ${listed}.`);
  }
  for (const other of others) {
    const command = `reachline ingest ${other.preset.stream} ${file} --preset ${other.name}`;
    printErr(io, `${basename(file)} also holds ${other.preset.stream}. Load them with: ${command}`);
  }
  return recognition.preset;
}

function compileFor(file: MappingFile, stream: Stream, { file: path, map, preset }: MappedOptions): Mapping {
  if (file.stream !== undefined && file.stream !== stream.name) {
    const option = preset === undefined ? `--map ${map}` : `--preset ${preset}`;
    throw new UsageError(
      `This mapping is for ${file.stream}. Load the file with: reachline ingest ${file.stream} ${path} ${option}`,
    );
  }
  try {
    return compileMapping(file, stream);
  } catch (error) {
    if (!(error instanceof MappingError) || map === undefined) throw error;
    throw new MappingError(error.message.replace(/^/gm, `${basename(map)}: `));
  }
}

/** Command-line options that read a text in this way. */
export const readingOptions = ({ charset, headerRow }: ProposedReading): string[] => [
  ...(charset === undefined ? [] : [`--charset ${charset}`]),
  ...(headerRow === undefined ? [] : [`--header-row ${headerRow}`]),
];

/** Opens a text in the format that its name or its first bytes show. */
export async function openFile(
  io: Io,
  file: string,
  format = formatOf(file),
  options: TextOptions = {},
): Promise<{ input: Input; text: OpenedText }> {
  const { charset } = options;
  if (charset !== undefined && charsetOf(charset) === undefined) {
    throw new UsageError(
      `There is no charset ${JSON.stringify(charset)}. Name one such as windows-1252 with --charset.`,
    );
  }
  const isLive = isStandardInput(file);
  const input = openInput(io, isLive ? '-' : file);
  const onProposed = (proposed: ProposedReading) => {
    const isSaid = said.size > 0;
    for (const each of readingOptions(proposed)) said.add(each);
    if (!isSaid) printErr(io, `${input.name}: perhaps it must be read with ${[...said].join(' ')}.`);
  };
  const said = new Set<string>();
  try {
    if (format !== undefined) {
      const text = await openText(input.chunks, format, { ...options, onProposed });
      return { input, text: Object.assign(text, { isLive }) };
    }
    const peeked = await peekJson(asUtf8(input.chunks, charset));
    return { input, text: Object.assign(await openText(peeked.chunks, peeked.format), { isLive }) };
  } catch (error) {
    input.close();
    throw error;
  }
}

/** Reads the joined tables: files named with `--with`, or files in the folder of the input. Reports missing tables. */
async function readJoins(
  io: Io,
  joins: Mapping['joins'],
  options: MappedOptions,
  tables: string[],
): Promise<Record<string, JoinedRows>> {
  const rows: Record<string, JoinedRows> = {};
  for (const [name, plan] of Object.entries(joins)) {
    const file = findTable(plan.table, options);
    if (file !== undefined) {
      tables.push(file);
      printErr(io, `${basename(options.file)}: joined with ${basename(file)}.`);
    }
    // Connectors write the messages of all their streams to one file, so the table may be in the input itself.
    const messages = plan.isAmongMessages ? (options.with?.[0] ?? options.file) : '-';
    if (file !== undefined) rows[name] = await readTable(io, file, plan, false);
    else if (messages !== '-') rows[name] = await readTable(io, messages, plan, true);
    if (file === undefined && !rows[name]?.size) {
      printErr(
        io,
        `There is no ${plan.table} beside ${basename(options.file)}, so its values stay unknown. Name the file with --with <file>.`,
      );
    }
  }
  return rows;
}

/**
 * The file of a joined table. Prefers the file whose name begins like the input, then a file without a prefix, then the only candidate.
 * Throws `UsageError` if several candidates remain.
 */
function findTable(table: string, options: MappedOptions): string | undefined {
  const name = `(?:^|[_.-])${table.replaceAll('.', '\\.')}`;
  const named = (options.with ?? []).filter((path) =>
    new RegExp(`${name}(?:[.-]|$)`, 'i').test(basename(path)),
  );
  if (named.length > 0 || options.file === '-') return chooseTable(table, named, options.file);
  const folder = dirname(options.file);
  const beside = new RegExp(`${name}\\.(?:csv|tsv|json|jsonl|ndjson)(?:\\.(?:gz|zst))?$`, 'i');
  const found = readdirSync(folder).filter((each) => beside.test(each));
  return chooseTable(
    table,
    found.sort().map((each) => join(folder, each)),
    options.file,
  );
}

function chooseTable(table: string, paths: readonly string[], input: string): string | undefined {
  const prefixOf = (path: string) => {
    const name = basename(path).toLowerCase();
    return name.slice(0, name.lastIndexOf(table.toLowerCase()));
  };
  const own = paths.filter((path) => basename(input).toLowerCase().startsWith(prefixOf(path)));
  const longest = Math.max(...own.map((path) => prefixOf(path).length));
  const best = own.length === 0 ? paths : own.filter((path) => prefixOf(path).length === longest);
  if (best.length < 2) return best[0];
  const names = best.map((path) => basename(path)).join(', ');
  throw new UsageError(
    `Several files may be the ${table} of ${basename(input)}: ${names}. Name the right file with --with <file>.`,
  );
}

/** Maximum number of rows of a joined table in memory. */
const MAX_JOINED_ROWS = 1_000_000;

/** The newest row of each key, reduced to the columns that the mapping uses. Throws CommandError if there are more than `maxRows`. */
export async function readTable(
  io: Io,
  file: string,
  plan: JoinPlan,
  onlyMessages: boolean,
  maxRows = MAX_JOINED_ROWS,
): Promise<JoinedRows> {
  const { input, text } = await openFile(io, file);
  const newest = new Map<string, { version: string; row: SourceRecord }>();
  try {
    for await (const records of text.records) {
      for (const raw of records) {
        const message = sourceRecordOf(raw);
        if (message === undefined) continue;
        for (const entry of plan.split?.(message) ?? [message]) {
          if (!isObject(entry)) continue;
          const key = plan.keyOf(entry, onlyMessages);
          if (key === undefined) continue;
          const version = plan.versionOf(entry);
          const before = newest.get(key);
          if (before !== undefined && version < before.version) continue;
          newest.set(key, { version, row: plan.pick(entry) });
        }
        if (newest.size <= maxRows) continue;
        throw new CommandError(
          `${input.name} has more than ${maxRows} different rows of ${plan.table}, which is the limit for a join.`,
        );
      }
    }
  } finally {
    input.close();
  }
  return new Map([...newest].map(([key, { row }]) => [key, row]));
}
