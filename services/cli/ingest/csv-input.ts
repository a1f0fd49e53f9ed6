import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import {
  type ColumnMapping,
  ColumnsError,
  parseMapping,
  planColumns,
  type ToRecord,
} from '../../../ingest/columns/columns.js';
import {
  asRows,
  JOINED_TABLE,
  type Joined,
  joinRows,
  planTable,
  recognizeTable,
  streamOfTable,
  type Table,
} from '../../../ingest/columns/fivetran-linkedin.js';
import type { RecordSource } from '../../../ingest/records/raw-record.js';
import { type CsvFile, openCsv } from '../../../ingest/sources/csv.js';
import type { Stream } from '../../../ingest/streams/stream.js';
import { UsageError } from '../errors.js';
import { type Io, printErr } from '../io.js';
import { type Input, openInput } from './input.js';

export const LINKEDIN_PRESET = 'fivetran-linkedin';

export interface CsvOptions {
  file: string;
  /** The preset's name or the path of a columns file. */
  columns?: string;
  /** Other files of the same export. */
  with: string[];
  /** Stands in where no column gives it. */
  organization?: string;
  /** Whether the organization may come from somewhere else. */
  organizationOptional: boolean;
}

export interface CsvInput {
  input: Input;
  source: RecordSource;
  headerBytes: Buffer;
}

/** Opens a CSV file as records of the stream. Throws `ColumnsError` or `UsageError` before anything is read. */
export async function openCsvInput(
  io: Io,
  stream: Stream,
  input: Input,
  options: CsvOptions,
): Promise<CsvInput> {
  const csv = await openCsv(input.chunks);
  if (options.columns === LINKEDIN_PRESET) return openLinkedin(io, stream, input, csv, options);
  if (options.with.length > 0) throw new UsageError(`--with belongs to --columns ${LINKEDIN_PRESET}.`);
  const mapping = options.columns === undefined ? {} : readMapping(options.columns);
  const toRecord = planColumns(stream, csv.header, mapping);
  if (!givesOrganization(stream, csv.header, mapping)) requireOrganization(stream, options);
  return { input, source: csv.records(toRecord), headerBytes: csv.headerBytes };
}

function readMapping(path: string): ColumnMapping {
  if (!existsSync(path)) {
    throw new UsageError(
      `--columns takes the preset ${LINKEDIN_PRESET} or the path of a JSON file; there is no file ${path}.`,
    );
  }
  return parseMapping(readFileSync(path, 'utf8'));
}

function givesOrganization(
  { organizationField }: Stream,
  header: readonly string[],
  mapping: ColumnMapping,
): boolean {
  return (
    organizationField in (mapping.constants ?? {}) ||
    header.some((column) => (mapping.columns?.[column] ?? column) === organizationField)
  );
}

function requireOrganization({ organizationField }: Stream, options: CsvOptions): void {
  if (options.organization !== undefined || options.organizationOptional) return;
  throw new UsageError(
    `No column gives ${organizationField}: name the organization with --organization <id>.`,
  );
}

async function openLinkedin(
  io: Io,
  stream: Stream,
  input: Input,
  csv: CsvFile,
  options: CsvOptions,
): Promise<CsvInput> {
  requireOrganization(stream, options);
  const table = recognizeTable(csv.header);
  if (table === null) {
    throw new ColumnsError(
      `${input.name} is not one of the tables of this preset: campaign_history, campaign_group_history, creative_history and ad_analytics_by_creative are recognized by their columns.`,
    );
  }
  if (streamOfTable(table) !== stream.name) {
    throw new UsageError(
      `${input.name} is the table ${table}; load it with: reachline ingest ${streamOfTable(table)} ${options.file} --columns ${LINKEDIN_PRESET}`,
    );
  }
  const related = new RelatedFiles(io, options);
  if (table === 'campaign_group_history') {
    // Groups are not records: their names belong to the campaigns next to them.
    const campaigns = await related.find('campaign_history');
    if (campaigns === undefined) {
      throw new UsageError(
        `${input.name} only holds the names of campaign groups. Name the table of campaigns too: --with <campaign_history.csv>`,
      );
    }
    printErr(
      io,
      `${input.name} names campaign groups: loading the campaigns of ${basename(campaigns)} with these names.`,
    );
    const groupName = joinRows(table, await readRows(csv));
    const other = openInput(io, campaigns);
    const campaignsCsv = await openCsv(other.chunks);
    return tableInput(
      other,
      campaignsCsv,
      planTable('campaign_history', campaignsCsv.header, joined({ groupName })),
    );
  }
  const known = await related.join(table, input.name);
  return tableInput(input, csv, planTable(table, csv.header, known));
}

const tableInput = (input: Input, csv: CsvFile, toRecord: ToRecord): CsvInput => ({
  input,
  source: csv.records(toRecord),
  headerBytes: csv.headerBytes,
});

const joined = (known: Partial<Joined>): Joined => ({
  campaignOf: new Map(),
  groupName: new Map(),
  ...known,
});

/** The other files of an export: those named with `--with`, else those beside the file. */
class RelatedFiles {
  readonly #io: Io;
  readonly #options: CsvOptions;

  constructor(io: Io, options: CsvOptions) {
    this.#io = io;
    this.#options = options;
  }

  async find(table: Table): Promise<string | undefined> {
    for (const file of this.#options.with) {
      const csv = await openCsv(openInput(this.#io, file).chunks);
      csv.close();
      if (recognizeTable(csv.header) === table) return file;
    }
    if (this.#options.file === '-') return undefined;
    const folder = dirname(this.#options.file);
    const named = new RegExp(`(?:^|[_.-])${table}\\.csv(?:\\.gz)?$`, 'i');
    const found = readdirSync(folder)
      .filter((name) => named.test(name))
      .sort()[0];
    return found === undefined ? undefined : join(folder, found);
  }

  async join(table: Table, name: string): Promise<Joined> {
    const needed = JOINED_TABLE[table];
    if (needed === undefined) return joined({});
    const file = await this.find(needed);
    if (file === undefined) {
      const lacks = needed === 'creative_history' ? 'campaigns are unknown' : 'groups have no names';
      printErr(this.#io, `No ${needed} beside ${name}: ${lacks}. Name it with --with <file>.`);
      return joined({});
    }
    const csv = await openCsv(openInput(this.#io, file).chunks);
    if (recognizeTable(csv.header) !== needed)
      throw new ColumnsError(`${basename(file)} is not the table ${needed}.`);
    const values = joinRows(needed, await readRows(csv));
    return needed === 'creative_history' ? joined({ campaignOf: values }) : joined({ groupName: values });
  }
}

async function readRows(csv: CsvFile): Promise<Record<string, string>[]> {
  const rows: string[][] = [];
  const keep: ToRecord = (cells) => {
    rows.push([...cells]);
    return { record: {} };
  };
  for await (const _ of csv.records(keep));
  return asRows(csv.header, rows);
}
