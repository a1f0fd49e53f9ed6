/** Texts of source records in any format. */

import { TimeSlice } from '../../services/shared/async.js';
import { type DeclaredForms, settleColumns } from '../mapping/column-forms.js';
import { compileMapping } from '../mapping/compile.js';
import { type DateOrder, numericDateParser, parseIsoDate } from '../mapping/date-format.js';
import { mapSource, renamed } from '../mapping/map-source.js';
import type { Mapping, SourceRecord } from '../mapping/mapping.js';
import { rejectContradictions } from '../mapping/same-key.js';
import type { RawRecord, RecordSource } from '../records/raw-record.js';
import type { Stream } from '../streams/stream.js';
import { asUtf8 } from './as-utf8.js';
import { ColumnsError, type CsvOptions, openCsv } from './csv.js';
import { jsonArray } from './json-array.js';
import { lines } from './lines.js';
import { replayable } from './replayable.js';
import { resumed } from './resumed.js';
import { sheetAsCsv } from './xlsx/sheet.js';

/** Lines of JSON, a JSON array or object, CSV, or the first sheet of an XLSX file. */
export type TextFormat = 'ndjson' | 'json' | 'csv' | 'xlsx';

export interface TextOptions extends CsvOptions {
  /** Maximum bytes of a JSON array, which is kept in memory as a whole; unlimited by default. */
  maxJsonBytes?: number;
  /** The charset of text without a byte order mark; by default UTF-8. */
  charset?: string;
  /** Maximum bytes of the sheet of an XLSX file, and of the CSV made from it; default 1 GiB. */
  maxSheetBytes?: number;
  /** Signal that ends the reading of an XLSX file, which continues without new bytes. */
  signal?: AbortSignal;
}

/** Options of a request for reading a text. */
export type ReadingOptions = Pick<
  TextOptions,
  'charset' | 'headerRow' | 'maxJsonBytes' | 'maxSheetBytes' | 'onProposed'
>;

const MAX_SHEET_BYTES = 1024 ** 3;

export interface OpenedText {
  /** The records of the text. May be read once. */
  records: RecordSource;
  /** The header of CSV. */
  header?: { columns: readonly string[]; bytes: Buffer; delimiter: string; preamble: string };
  /** Whether records are needed as they arrive, for example from a pipe. */
  isLive?: boolean;
  close(): void;
}

/** Opens a text, and reads the header of CSV. Throws `ColumnsError` and, even while records are read, `UnreadableInputError`. */
export async function openText(
  source: AsyncIterable<Uint8Array>,
  format: TextFormat,
  options: TextOptions = {},
): Promise<OpenedText> {
  if (format === 'xlsx') {
    const sheet = sheetOf(source, options.maxSheetBytes ?? MAX_SHEET_BYTES, options.signal);
    return openTable(sheet, { ...options, isSheet: true });
  }
  const chunks = asUtf8(source, options.charset);
  if (format !== 'csv') {
    const records = format === 'json' ? jsonArray(chunks, options.maxJsonBytes) : lines(chunks);
    return { records, close: () => void records.return(undefined) };
  }
  return openTable(chunks, options);
}

async function* sheetOf(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const file = await replayable(source);
  try {
    yield* sheetAsCsv(file, maxBytes, signal);
  } finally {
    await file.close();
  }
}

async function openTable(chunks: AsyncIterable<Uint8Array>, options: CsvOptions): Promise<OpenedText> {
  const { header, headerBytes, records, close, ...file } = await openCsv(chunks, options);
  return { records: records(), header: { columns: header, bytes: headerBytes, ...file }, close };
}

/** A column of CSV, and the fields of the stream that the column becomes; empty if the mapping leaves the column out. */
export interface ColumnUse {
  column: string;
  fields: string[];
}

/**
 * The records of a stream in a text. Without a mapping, JSON is used unchanged, and columns of CSV must be named like fields. Reads the
 * first rows of CSV. Throws `ColumnsError` for columns that are neither fields nor in the mapping, and `AmbiguousInputError` if a column
 * can be read in two ways.
 */
export async function mapText(
  text: OpenedText,
  stream: Stream,
  mapping?: Mapping,
  declared: DeclaredForms = {},
  onColumns?: (columns: ColumnUse[]) => void,
): Promise<RecordSource> {
  const { records, header } = text;
  const form: DeclaredForms = {
    dateOrder: declared.dateOrder ?? mapping?.declared.dateOrder,
    decimal: declared.decimal ?? mapping?.declared.decimal,
  };
  if (header === undefined) {
    if (mapping === undefined) return records;
    const { dateOrder: order, decimal: mark } = form;
    const mapped = mapSource(records, order || mark ? mapping.withForms({ order, mark }) : mapping);
    return rejectContradictions(mapped, stream, { isLive: text.isLive });
  }
  const used = mapping ?? compileMapping({ fields: {} }, stream);
  const names = used.columnNames(header.columns);
  try {
    const problems = used.checkColumns(header.columns.map((column) => names.get(column) ?? column));
    if (problems.length > 0) throw new ColumnsError(problems.join('\n'));
    onColumns?.(
      header.columns.map((column) => ({ column, fields: used.fieldsOf(names.get(column) ?? column) })),
    );
    const { source, rows, isWhole } = await readFirstRows(
      names.size === 0 ? records : renamedRows(records, names),
    );
    const table = {
      rows,
      isWhole,
      preamble: header.preamble,
      isOwnForm: mapping === undefined && header.delimiter !== ';',
    };
    const forms = await settleColumns(used.openColumns, table, form);
    const { period, dates } = used.openColumns;
    const isHere = new Set(header.columns.map((column) => names.get(column) ?? column));
    const namesEnd = dates.some((name) => name !== period && isHere.has(name));
    const isReport = stream.rowKey !== undefined && header.preamble !== '';
    if (isReport && period !== undefined && isWhole && !namesEnd) {
      requireDays(period, rows, forms.get(period)?.order);
    }
    const mapped = mapSource(source, used.withForms(forms));
    const leftOut = [...isHere].filter((name) => name !== period && used.fieldsOf(name).length === 0);
    return rejectContradictions(mapped, stream, { isLive: text.isLive, leftOut });
  } catch (error) {
    text.close();
    throw error;
  }
}

/**
 * Throws `ColumnsError` if the rows give only the first days of several months, as in a monthly report that lacks the column of the last
 * days.
 */
function requireDays(column: string, rows: readonly SourceRecord[], order: DateOrder = 'dmy'): void {
  const days = new Set<string>();
  for (const row of rows) {
    const text = row[column];
    if (typeof text !== 'string') continue;
    const parsed = parseIsoDate(text) ?? numericDateParser(order)(text);
    if (parsed === null || !('day' in parsed)) continue;
    if (!parsed.day.endsWith('-01')) return;
    days.add(parsed.day);
  }
  if (days.size < 2) return;
  throw new ColumnsError(
    `Every row begins on the first day of a month (${JSON.stringify(column)}), so the report is one by month; export it by day.`,
  );
}

/** Rows of a table with the names that a mapping uses for its columns. */
async function* renamedRows(records: RecordSource, names: ReadonlyMap<string, string>): RecordSource {
  const slice = new TimeSlice();
  for await (const rows of records) {
    for (const row of rows) {
      if (row.value !== undefined) row.value = renamed(row.value as SourceRecord, names);
      if (slice.shouldYield(row.bytes.length)) await slice.yieldToEventLoop();
    }
    yield rows;
  }
}

/** Maximum number and bytes of rows from which the formats of dates and numbers are determined. */
const SETTLING_ROWS = 10_000;
const SETTLING_BYTES = 16 * 1024 * 1024;

/** Reads the first rows. Returns these rows, and the source from its beginning. */
export async function readFirstRows(records: RecordSource) {
  const iterator = records[Symbol.asyncIterator]();
  const chunks: RawRecord[][] = [];
  const rows: SourceRecord[] = [];
  let bytes = 0;
  let isWhole = false;
  while (!isWhole && rows.length < SETTLING_ROWS && bytes < SETTLING_BYTES) {
    const step = await iterator.next();
    isWhole = step.done === true;
    if (step.done) break;
    chunks.push(step.value);
    for (const { bytes: read, value } of step.value) {
      bytes += read.length;
      if (value !== undefined) rows.push(value as SourceRecord);
    }
  }
  return { source: resumed(chunks, iterator), rows, isWhole };
}
