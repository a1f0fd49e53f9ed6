import { isUtf8 } from 'node:buffer';
import { TimeSlice } from '../../services/shared/async.js';
import { deadLetter } from '../records/outcome.js';
import { type RawRecord, UnreadableInputError } from '../records/raw-record.js';
import { proposedCharset } from './charset.js';
import { type CsvPiece, type CsvRow, csvRows } from './csv-rows.js';
import { withLineFeeds } from './line-ends.js';
import { MAX_LINE_BYTES } from './lines.js';
import { resumed } from './resumed.js';

const ROWS_PER_CHUNK = 100;
const HEADER_SEARCH_BYTES = 64 * 1024;
/** Maximum columns of a header or row. Without a limit, a row of a mebibyte could have a million empty cells. */
const MAX_COLUMNS = 10_000;

/** The columns of a file cannot be used, and no record was read. The message says what to change. */
export class ColumnsError extends Error {
  override readonly name = 'ColumnsError';
}

/** A CSV file whose header has been read. */
export interface CsvFile {
  header: string[];
  /** The bytes of the header, without its line feed. */
  headerBytes: Buffer;
  delimiter: string;
  /** Text of the lines before the header. */
  preamble: string;
  /** Each row as an object from columns to texts, without empty cells. May be called once. */
  records(): AsyncGenerator<RawRecord[]>;
  close(): void;
}

type Headers = readonly (readonly (string | readonly string[])[])[] | 'any';

/** The way in which the text must probably be read, if the text suggests a way and the caller named none. */
export interface ProposedReading {
  charset?: string;
  /** Line of the header, from 1. */
  headerRow?: number;
}

export interface CsvOptions {
  /** Line of the header, from 1. Earlier lines are skipped. If absent, the header is searched for. */
  headerRow?: number;
  /** Whether the text comes from a sheet: the delimiter is a comma, a CR is a line break within a cell, and rows may end early. */
  isSheet?: boolean;
  /** Called with a reading that would make the text readable. Called before an error about the text, or while its records are read. */
  onProposed?: (proposed: ProposedReading) => void;
  /**
   * Columns of known tables: lines before a line with all columns of a known table are skipped. With `any`, lines before the line with most
   * cells are skipped.
   */
  headers?: Headers;
  /** Whether the widest line is the header, as with `any`, if no known table is found. */
  orWidest?: boolean;
}

/**
 * Reads the header and detects the delimiter (comma, semicolon or tab). Rows with invalid UTF-8 are rejected one by one. Throws
 * `ColumnsError` and, even while rows are read, `UnreadableInputError`.
 */
export async function openCsv(chunks: AsyncIterable<Uint8Array>, options: CsvOptions = {}): Promise<CsvFile> {
  const { headers = [], headerRow, orWidest = false, isSheet = false, onProposed } = options;
  const isSearched = headers.length > 0 || orWidest;
  const iterator = (isSheet ? chunks : withLineFeeds(chunks))[Symbol.asyncIterator]();
  const read = await readBeginning(iterator, headerRow ?? (isSearched ? undefined : 1));
  const { beginning, preamble } =
    headerRow === undefined ? afterPreamble(read, headers, orWidest) : afterLines(read, headerRow - 1);
  const skippedLines = preamble.split('\n').length - 1;
  const delimiter = isSheet ? ',' : delimiterOf(beginning);
  const rows = csvRows(resumed([beginning], iterator), {
    delimiter,
    maxCells: MAX_COLUMNS,
    maxBytes: MAX_LINE_BYTES,
  });
  const close = () => void rows.return(undefined).catch(() => undefined);
  try {
    const { first, others } = await firstOf(rows);
    if (headerRow === undefined && preamble === '') proposeHeader(read, first, onProposed);
    const { header, headerBytes } = headerOf(first, onProposed);
    const records = async function* () {
      try {
        yield* readRows(resumed([others], rows), { header, skippedLines, isSheet, onProposed });
      } finally {
        close();
      }
    };
    return { header, headerBytes, delimiter, preamble, records, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** Properties of the rows of a table. */
interface Table extends Pick<CsvOptions, 'isSheet' | 'onProposed'> {
  header: readonly string[];
  skippedLines: number;
}

/** The header, and the rows that were read with it. */
async function firstOf(
  rows: AsyncIterator<(CsvRow | CsvPiece)[]>,
): Promise<{ first: CsvRow | CsvPiece | undefined; others: (CsvRow | CsvPiece)[] }> {
  for (let step = await rows.next(); !step.done; step = await rows.next()) {
    const [first, ...others] = step.value;
    if (first) return { first, others };
  }
  return { first: undefined, others: [] };
}

function headerOf(
  row: CsvRow | CsvPiece | undefined,
  onProposed: CsvOptions['onProposed'],
): Pick<CsvFile, 'header' | 'headerBytes'> {
  if (!row) throw new ColumnsError('The file is empty: a CSV file begins with a row of column names.');
  if ('overlong' in row) throw new ColumnsError(`The header has more than ${MAX_LINE_BYTES} bytes.`);
  if (row.cells.length > MAX_COLUMNS) {
    throw new ColumnsError(`The header names more than ${MAX_COLUMNS} columns.`);
  }
  const { bytes: headerBytes } = row;
  if (!isUtf8(headerBytes)) {
    proposeCharset(headerBytes, onProposed);
    throw new ColumnsError(
      'The header is not UTF-8. Save the file as CSV in UTF-8, or say which charset it has.',
    );
  }
  return { header: row.cells.map((name) => decodeCell(name).trim()), headerBytes };
}

const NO_ROWS =
  'The file has a header and no row with a value behind it. Check that its columns and line ends are those of CSV, and export it again.';

const isBlank = (cell: string) => decodeCell(cell).trim() === '';

async function* readRows(
  rows: AsyncIterable<(CsvRow | CsvPiece)[]>,
  table: Table,
): AsyncGenerator<RawRecord[]> {
  const { header, skippedLines } = table;
  let ready: RawRecord[] = [];
  /** Lines with one cell after a blank line: the end of a report, unless a row follows. */
  let footer: RawRecord[] = [];
  let lastLine = 1;
  let hasBytes = false;
  let hasRows = false;
  const slice = new TimeSlice();
  for await (const some of rows) {
    for (const row of some) {
      hasBytes = true;
      if (slice.shouldYield(row.bytes.length)) await slice.yieldToEventLoop();
      const line = skippedLines + row.line;
      const { lastLine: ownLast = row.line } = row;
      const place = ownLast === row.line ? { line } : { line, lastLine: skippedLines + ownLast };
      if ('overlong' in row) {
        hasRows = true;
        ready.push(...footer, { bytes: row.bytes, overlong: row.overlong, ...place });
        footer = [];
        lastLine = row.line;
      } else {
        if (row.cells.every(isBlank)) continue;
        hasRows = true;
        const raw = { ...place, bytes: row.bytes, ...objectOf(row.cells, row.bytes, table) };
        const isApart = footer.length > 0 || row.line > lastLine + 1;
        ({ lastLine } = row);
        if (isApart && row.cells.length === 1 && header.length > 1 && footer.length < MAX_FOOTER_LINES) {
          footer.push(raw);
          continue;
        }
        ready.push(...footer, raw);
        footer = [];
      }
      if (ready.length >= ROWS_PER_CHUNK) {
        yield ready;
        ready = [];
      }
    }
  }
  ready.push(...footer.map(({ rejection: _, ...raw }) => ({ ...raw, isSkipped: true })));
  if (hasBytes && !hasRows) throw new UnreadableInputError('invalid_body', NO_ROWS);
  if (ready.length > 0) yield ready;
}

function objectOf(
  cells: string[],
  bytes: Buffer,
  { header, isSheet, onProposed }: Table,
): Partial<RawRecord> {
  if (!isUtf8(bytes)) {
    proposeCharset(bytes, onProposed);
    const rejection = deadLetter(
      'invalid_utf8',
      '',
      'The row is not valid UTF-8. Save the file as CSV in UTF-8, or say which charset it has.',
    );
    return { rejection };
  }
  if (cells.length > MAX_COLUMNS) {
    return { rejection: deadLetter('column_count', '', `The row has more than ${MAX_COLUMNS} cells.`) };
  }
  const beyond = cells.slice(header.length);
  if ((cells.length < header.length && !isSheet) || beyond.some((cell) => cell.trim() !== '')) {
    const detail = `The row has ${cells.length} cells, the header names ${header.length} columns.`;
    return { rejection: deadLetter('column_count', '', detail) };
  }
  const value: Record<string, string> = {};
  for (const [index, name] of header.entries()) {
    const cell = unmarkFormula(decodeCell(cells[index] ?? '').trim());
    const text = isSheet ? cell.replaceAll('\r', '\n') : cell;
    if (text !== '' && name !== '__proto__') value[name] = text;
  }
  return { value };
}

/** Removes the `'` that exports put before a cell, so that a spreadsheet does not run it as a formula (contract 3.13). */
const unmarkFormula = (text: string) => text.replace(/^'(?='*[=+\-@\t\r\n＝＋－＠])/, '');

const decodeCell = (cell: string) => Buffer.from(cell, 'latin1').toString('utf8');

/** Reads at least the first `lines` lines, or as much text as is searched for a header. */
async function readBeginning(
  iterator: AsyncIterator<Uint8Array>,
  lines: number | undefined,
): Promise<Buffer> {
  let beginning: Buffer = Buffer.alloc(0);
  const isEnough = () => lines !== undefined && startOfLine(beginning, lines) >= 0;
  while (beginning.length < HEADER_SEARCH_BYTES && !isEnough()) {
    const step = await iterator.next();
    if (step.done) break;
    beginning = Buffer.concat([beginning, step.value]);
  }
  const hasMark = beginning[0] === 0xef && beginning[1] === 0xbb && beginning[2] === 0xbf;
  return hasMark ? beginning.subarray(3) : beginning;
}

/** The index after this many line feeds; -1 if the text has fewer. */
function startOfLine(text: Buffer, lines: number): number {
  let start = 0;
  for (let line = 0; line < lines; line++) {
    start = text.indexOf(10, start) + 1;
    if (start === 0) return -1;
  }
  return start;
}

function afterLines(beginning: Buffer, lines: number): { beginning: Buffer; preamble: string } {
  const from = startOfLine(beginning, lines);
  if (from < 0) {
    throw new ColumnsError(`The file has no row ${lines + 1} within its first ${HEADER_SEARCH_BYTES} bytes.`);
  }
  return { beginning: beginning.subarray(from), preamble: beginning.subarray(0, from).toString() };
}

function proposeCharset(text: Buffer, onProposed: CsvOptions['onProposed']): void {
  const charset = proposedCharset(text);
  if (charset !== undefined) onProposed?.({ charset });
}

/**
 * Proposes another line as the header if the first line has at most half as many values: then the first line is a title, or the day of a
 * report.
 */
function proposeHeader(
  beginning: Buffer,
  first: CsvRow | CsvPiece | undefined,
  onProposed: CsvOptions['onProposed'],
): void {
  if (first === undefined || 'overlong' in first) return;
  const rows = firstRows(beginning);
  const header = headerIndex(rows);
  const own = first.cells.filter((cell) => !isBlank(cell)).length;
  if (header >= first.line && own * 2 <= valuesOf(rows[header])) onProposed?.({ headerRow: header + 1 });
}

const MAX_PREAMBLE_LINES = 50;
const MAX_FOOTER_LINES = 50;

/** The text from the header of a known table on, or the whole text if it has no such header. */
function afterPreamble(
  beginning: Buffer,
  headers: Headers,
  orWidest: boolean,
): { beginning: Buffer; preamble: string } {
  if (headers === 'any') return afterNarrowLines(beginning);
  let from = 0;
  const known = headers.map((header) =>
    header.map((column) => [column].flat().map((name) => name.toLowerCase())),
  );
  for (let lines = 0; headers.length > 0 && lines < MAX_PREAMBLE_LINES; lines++) {
    const end = beginning.indexOf(10, from);
    const rest = beginning.subarray(from);
    const line = rest.subarray(0, end < 0 ? rest.length : end - from).toString();
    const names = new Set(
      line.split(delimiterOf(rest)).map((name) =>
        name
          .trim()
          .replace(/^"(.*)"$/, '$1')
          .toLowerCase(),
      ),
    );
    if (known.some((header) => header.every((column) => column.some((name) => names.has(name))))) {
      return { beginning: rest, preamble: beginning.subarray(0, from).toString() };
    }
    if (end < 0) break;
    from = end + 1;
  }
  if (orWidest) return afterNarrowLines(beginning);
  return { beginning, preamble: '' };
}

/** The text from the widest line on. */
function afterNarrowLines(beginning: Buffer): { beginning: Buffer; preamble: string } {
  const from = startOfLine(beginning, headerIndex(firstRows(beginning)));
  return { beginning: beginning.subarray(from), preamble: beginning.subarray(0, from).toString() };
}

/** The cells of the first lines, with a letter in place of quoted text. */
const firstRows = (beginning: Buffer): string[][] =>
  beginning
    .toString('latin1')
    .split('\n')
    .slice(0, MAX_PREAMBLE_LINES)
    .map((line) => line.replace(/"[^"]*"/g, 'x').split(delimiterOf(Buffer.from(line, 'latin1'))));

const valuesOf = (cells: readonly string[] = []) => cells.filter((cell) => !isBlank(cell)).length;

/**
 * Finds the header: the first line with the most cells, or with the most cells that two lines have, because a row may have a cell too many.
 * A line that begins with a value and has at most half the values of other lines is a title and is skipped.
 */
function headerIndex(rows: readonly string[][]): number {
  const counts = rows.map((cells) => cells.length);
  const repeated = counts.filter((count, index) => count > 1 && counts.indexOf(count) < index);
  const widest = Math.max(...(repeated.length > 0 ? repeated : counts));
  const wide = rows.flatMap((cells, index) => (cells.length === widest ? [index] : []));
  const most = Math.max(...wide.map((index) => valuesOf(rows[index])));
  const isTitle = (cells: readonly string[] = []) =>
    widest > 1 && valuesOf(cells) * 2 <= most && !isBlank(cells[0] ?? '');
  const hasValues = (index: number) => valuesOf(rows[index]) > 0 || most === 0;
  return wide.find((index) => hasValues(index) && !isTitle(rows[index])) ?? (wide[0] as number);
}

function delimiterOf(beginning: Buffer): string {
  const firstLine =
    beginning
      .toString('latin1')
      .split('\n', 1)[0]
      ?.replace(/"[^"]*"/g, '') ?? '';
  const count = (delimiter: string) => firstLine.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best));
}
