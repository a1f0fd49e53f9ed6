import { isUtf8 } from 'node:buffer';
import { TimeSlice } from '../../services/shared/async.js';
import { deadLetter } from '../records/outcome.js';
import { type RawRecord, UnreadableInputError } from '../records/raw-record.js';
import { type CsvPiece, type CsvRow, csvRows } from './csv-rows.js';
import { withLineFeeds } from './line-ends.js';
import { MAX_LINE_BYTES } from './lines.js';
import { resumed } from './resumed.js';

const ROWS_PER_CHUNK = 100;
const HEADER_SEARCH_BYTES = 64 * 1024;
/** Of a header or row. A row of a mebibyte could have a million empty cells. */
const MAX_COLUMNS = 10_000;

/** The columns of a file cannot be used; no record was read. The message says what to change. */
export class ColumnsError extends Error {
  override readonly name = 'ColumnsError';
}

/** A CSV file whose header has been read. */
export interface CsvFile {
  header: string[];
  /** The bytes of the header, without its line feed. */
  headerBytes: Buffer;
  delimiter: string;
  /** The lines before it. */
  preamble: string;
  /** Each row as an object from columns to texts, without empty cells. May be called once. */
  records(): AsyncGenerator<RawRecord[]>;
  close(): void;
}

type Headers = readonly (readonly (string | readonly string[])[])[] | 'any';

export interface CsvOptions {
  /** Columns of known tables: lines before one that has all columns of a table are no part of it. `any`: before the one with most cells. */
  headers?: Headers;
  /** Where none of these tables is found, the widest line is the header, as with `any`. */
  orWidest?: boolean;
}

/**
 * Reads the header and detects the delimiter (comma, semicolon or tab). Invalid UTF-8 is rejected row by row. Throws `ColumnsError` and, also while rows are read,
 * `UnreadableInputError`.
 */
export async function openCsv(
  chunks: AsyncIterable<Uint8Array>,
  { headers = [], orWidest = false }: CsvOptions = {},
): Promise<CsvFile> {
  const iterator = withLineFeeds(chunks)[Symbol.asyncIterator]();
  const read = await readBeginning(iterator, headers.length > 0 || orWidest);
  const { beginning, preamble } = afterPreamble(read, headers, orWidest);
  const skippedLines = preamble.split('\n').length - 1;
  const delimiter = delimiterOf(beginning);
  const rows = csvRows(resumed([beginning], iterator), {
    delimiter,
    maxCells: MAX_COLUMNS,
    maxBytes: MAX_LINE_BYTES,
  });
  const close = () => void rows.return(undefined).catch(() => undefined);
  try {
    const { first, others } = await firstOf(rows);
    const { header, headerBytes } = headerOf(first);
    const records = async function* () {
      try {
        yield* readRows(resumed([others], rows), header, skippedLines);
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

function headerOf(row: CsvRow | CsvPiece | undefined): Pick<CsvFile, 'header' | 'headerBytes'> {
  if (!row) throw new ColumnsError('The file is empty: a CSV file begins with a row of column names.');
  if ('overlong' in row) throw new ColumnsError(`The header has more than ${MAX_LINE_BYTES} bytes.`);
  if (row.cells.length > MAX_COLUMNS) {
    throw new ColumnsError(`The header names more than ${MAX_COLUMNS} columns.`);
  }
  const { bytes: headerBytes } = row;
  if (!isUtf8(headerBytes)) throw new ColumnsError('The header is not UTF-8. Save the file as CSV in UTF-8.');
  return { header: row.cells.map((name) => decodeCell(name).trim()), headerBytes };
}

const NO_ROWS =
  'The file has a header and no row with a value behind it. Check that its columns and line ends are those of CSV, and export it again.';

const isBlank = (cell: string) => decodeCell(cell).trim() === '';

async function* readRows(
  rows: AsyncIterable<(CsvRow | CsvPiece)[]>,
  header: readonly string[],
  skippedLines: number,
): AsyncGenerator<RawRecord[]> {
  let ready: RawRecord[] = [];
  /** Lines of one cell behind a blank line: the end of a report, unless a row follows. */
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
      if ('overlong' in row) {
        hasRows = true;
        ready.push(...footer, { ...row, line });
        footer = [];
        lastLine = row.line;
      } else {
        if (row.cells.every(isBlank)) continue;
        hasRows = true;
        const raw = { line, bytes: row.bytes, ...objectOf(row.cells, row.bytes, header) };
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

function objectOf(cells: string[], bytes: Buffer, header: readonly string[]): Partial<RawRecord> {
  if (!isUtf8(bytes)) {
    const rejection = deadLetter(
      'invalid_utf8',
      '',
      'The row is not valid UTF-8. Save the file as CSV in UTF-8.',
    );
    return { rejection };
  }
  if (cells.length > MAX_COLUMNS) {
    return { rejection: deadLetter('column_count', '', `The row has more than ${MAX_COLUMNS} cells.`) };
  }
  const beyond = cells.slice(header.length);
  if (cells.length < header.length || beyond.some((cell) => cell.trim() !== '')) {
    const detail = `The row has ${cells.length} cells, the header names ${header.length} columns.`;
    return { rejection: deadLetter('column_count', '', detail) };
  }
  const value: Record<string, string> = {};
  for (const [index, name] of header.entries()) {
    const text = unmarkFormula(decodeCell(cells[index] ?? '').trim());
    if (text !== '' && name !== '__proto__') value[name] = text;
  }
  return { value };
}

/** Without the `'` that keeps a spreadsheet from running a cell as a formula, as exports put it (contract 3.13). */
const unmarkFormula = (text: string) => text.replace(/^'(?='*[=+\-@\t\r\n＝＋－＠])/, '');

const decodeCell = (cell: string) => Buffer.from(cell, 'latin1').toString('utf8');

/** The first line at least, and the lines that a header is searched in where one is known. */
async function readBeginning(iterator: AsyncIterator<Uint8Array>, hasKnownHeaders: boolean): Promise<Buffer> {
  let beginning: Buffer = Buffer.alloc(0);
  while (beginning.length < HEADER_SEARCH_BYTES && (hasKnownHeaders || !beginning.includes(10))) {
    const step = await iterator.next();
    if (step.done) break;
    beginning = Buffer.concat([beginning, step.value]);
  }
  const hasMark = beginning[0] === 0xef && beginning[1] === 0xbb && beginning[2] === 0xbf;
  return hasMark ? beginning.subarray(3) : beginning;
}

const MAX_PREAMBLE_LINES = 50;
const MAX_FOOTER_LINES = 50;

/** The text from the first line on that is the header of a known table; all of it where none is. */
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

/** The text from the first line on that has the most cells of all, or the most that two lines have: a row may have a cell too many. */
function afterNarrowLines(beginning: Buffer): { beginning: Buffer; preamble: string } {
  const lines = beginning.toString('latin1').split('\n').slice(0, MAX_PREAMBLE_LINES);
  const cells = lines.map(
    (line) => line.replace(/"[^"]*"/g, '').split(delimiterOf(Buffer.from(line, 'latin1'))).length,
  );
  const repeated = cells.filter((count, index) => count > 1 && cells.indexOf(count) < index);
  const header = cells.indexOf(Math.max(...(repeated.length > 0 ? repeated : cells)));
  const from = lines.slice(0, header).reduce((bytes, line) => bytes + line.length + 1, 0);
  return { beginning: beginning.subarray(from), preamble: beginning.subarray(0, from).toString() };
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
