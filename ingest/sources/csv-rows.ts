/**
 * Reads the rows of CSV with csv-parse. A row that is too long is passed on in pieces and does not stop other rows, which csv-parse alone
 * cannot do.
 */
import { once } from 'node:events';
import { CsvError, type Info, type Parser, parse } from 'csv-parse';
import { UnreadableInputError } from '../records/raw-record.js';

export interface CsvRow {
  cells: string[];
  /** The text of the row without the line feeds before and after the row. */
  bytes: Buffer;
  /** Lines of the first and the last byte of the row, from 1. */
  line: number;
  lastLine: number;
}

/** A part of a row that is too long. */
export interface CsvPiece {
  bytes: Buffer;
  /** Line on which the row begins, from 1. */
  line: number;
  /** The line on which the row ends; present in the last piece. */
  lastLine?: number;
  overlong: 'piece' | 'last';
}

export interface CsvRowsOptions {
  delimiter: string;
  /** Maximum number of cells per row. A longer row keeps one cell more than this, so that callers notice. */
  maxCells: number;
  /** Maximum bytes in the cells of a row. */
  maxBytes: number;
}

interface ParsedRow {
  record: string[];
  info: Info;
}

const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;

/**
 * Yields rows and pieces in order, one array per chunk of text. The parser reads latin1, which maps each byte to one character, so that
 * rows keep their bytes. Throws `UnreadableInputError` if a quotation mark is never closed.
 */
export async function* csvRows(
  chunks: AsyncIterable<Uint8Array>,
  options: CsvRowsOptions,
): AsyncGenerator<(CsvRow | CsvPiece)[]> {
  const source = chunks[Symbol.asyncIterator]();
  let parser = new RowParser(options, 0);
  try {
    for (;;) {
      const step = await source.next();
      let failed = step.done ? await parser.end() : await parser.write(toBuffer(step.value));
      yield parser.takeRows();
      while (failed) {
        let { rest } = parser;
        const end = new RowEnd(options.delimiter, parser.lines);
        let at = end.find(rest);
        while (at < 0) {
          yield [{ bytes: rest, line: end.line, overlong: 'piece' }];
          const more = step.done ? step : await source.next();
          if (more.done) {
            if (end.isOpen) throw unclosed(end.line);
            yield [{ bytes: Buffer.alloc(0), line: end.line, lastLine: end.lines + 1, overlong: 'last' }];
            return;
          }
          rest = toBuffer(more.value);
          at = end.find(rest);
        }
        yield [{ bytes: rest.subarray(0, at - 1), line: end.line, lastLine: end.lines, overlong: 'last' }];
        parser.destroy();
        parser = new RowParser(options, end.lines);
        failed = await parser.write(rest.subarray(at));
        if (!failed && step.done) failed = await parser.end();
        yield parser.takeRows();
      }
      if (step.done) return;
    }
  } finally {
    parser.destroy();
    await source.return?.();
  }
}

const toBuffer = (bytes: Uint8Array) =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

const unclosed = (line: number | undefined) =>
  new UnreadableInputError(
    'invalid_body',
    `The file cannot be read as CSV beyond line ${line ?? '?'}: look for a quotation mark that is never closed.`,
  );

/** Reads rows until a row is too long. */
class RowParser {
  readonly #parser: Parser;
  readonly #linesBefore: number;
  #rows: CsvRow[] = [];
  /** Chunks that may hold unread rows, and the position after the last row, in bytes and lines from the start of this parser. */
  #unread: Buffer[] = [];
  #unreadFrom = 0;
  #end = { bytes: 0, lines: 0 };

  /** `linesBefore` is the number of lines before the first chunk of this parser. */
  constructor({ delimiter, maxCells, maxBytes }: CsvRowsOptions, linesBefore: number) {
    this.#linesBefore = linesBefore;
    this.#parser = parse({
      delimiter,
      encoding: 'latin1',
      info: true,
      max_record_size: maxBytes,
      // The cast is needed because the types do not know that the function receives `info` too.
      on_record: ((row: ParsedRow) => this.#add(row, maxCells)) as never,
      record_delimiter: ['\r\n', '\n'],
      relax_column_count: true,
      relax_quotes: true,
      skip_empty_lines: true,
    });
    this.#parser.on('error', () => undefined).resume();
  }

  /** Parses a chunk. Resolves with whether the next row is too long. Throws `UnreadableInputError`. */
  async write(chunk: Buffer): Promise<boolean> {
    this.#unread.push(chunk);
    const error = await new Promise<unknown>((resolve) => void this.#parser.write(chunk, resolve));
    return isTooLong(error);
  }

  async end(): Promise<boolean> {
    const ended = once(this.#parser, 'end').then(
      () => null,
      (error: unknown) => error,
    );
    this.#parser.end();
    return isTooLong(await ended);
  }

  takeRows(): CsvRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** The bytes after the last row. */
  get rest(): Buffer {
    return this.#written(this.#end.bytes, Number.POSITIVE_INFINITY);
  }

  /** Number of line feeds before `rest`. */
  get lines(): number {
    return this.#linesBefore + this.#end.lines;
  }

  destroy(): void {
    this.#parser.destroy();
  }

  /** Takes the text and lines of rows from the input: csv-parse skips some line ends, and counts others twice. */
  #add({ record, info }: ParsedRow, maxCells: number): null {
    if (record.length > maxCells) record.length = maxCells + 1;
    const text = this.#written(this.#end.bytes, info.bytes);
    let from = 0;
    while (text[from] === NEWLINE || text[from] === RETURN) from++;
    const blank = from === 0 ? 0 : newlinesIn(text.subarray(0, from));
    const line = this.lines + blank + 1;
    const isEnded = text[text.length - 1] === NEWLINE;
    const bytes = text.subarray(from, isEnded ? -1 : undefined);
    const own = newlinesIn(bytes);
    this.#rows.push({ cells: record, bytes, line, lastLine: line + own });
    this.#end = { bytes: info.bytes, lines: this.#end.lines + blank + own + (isEnded ? 1 : 0) };
    this.#forgetRead();
    return null;
  }

  /** Bytes of the chunks between two positions from the start of this parser. */
  #written(from: number, to: number): Buffer {
    const [first] = this.#unread;
    const written = first && to - this.#unreadFrom <= first.length ? first : Buffer.concat(this.#unread);
    return written.subarray(from - this.#unreadFrom, to - this.#unreadFrom);
  }

  #forgetRead(): void {
    for (;;) {
      const [first] = this.#unread;
      if (!first || this.#unreadFrom + first.length > this.#end.bytes) return;
      this.#unreadFrom += first.length;
      this.#unread.shift();
    }
  }
}

function isTooLong(error: unknown): boolean {
  if (!error) return false;
  if (!(error instanceof CsvError)) throw error;
  if (error.code === 'CSV_MAX_RECORD_SIZE') return true;
  throw unclosed((error as CsvError & { lines?: number }).lines);
}

/** Finds the end of a row by the rules of csv-parse: a quotation mark counts at the beginning of a cell, and is doubled within one. */
class RowEnd {
  readonly #delimiter: number;
  /** Line feeds up to the current position. */
  lines: number;
  /** Line on which the row begins. */
  line: number;
  #isQuoted = false;
  #hasBegun = false;
  #isCellStart = true;
  /** Whether the last byte was a quotation mark within a quoted cell. The mark ends the cell unless another mark follows. */
  #mark = false;

  constructor(delimiter: string, linesBefore: number) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.lines = linesBefore;
    this.line = linesBefore + 1;
  }

  /** Whether the current position is within quotation marks. */
  get isOpen(): boolean {
    return this.#isQuoted && !this.#mark;
  }

  /** The index after the line feed that ends the row; -1 if the row continues. */
  find(bytes: Buffer): number {
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] as number;
      if (byte === NEWLINE) this.lines++;
      if (this.#mark) {
        this.#mark = false;
        if (byte === QUOTE) continue;
        this.#isQuoted = false;
      }
      if (this.#isQuoted) {
        this.#mark = byte === QUOTE;
      } else if (byte === NEWLINE) {
        if (this.#hasBegun) return index + 1;
        this.line = this.lines + 1;
      } else if (byte !== RETURN) {
        this.#isQuoted = byte === QUOTE && this.#isCellStart;
        this.#isCellStart = byte === this.#delimiter;
        this.#hasBegun = true;
      }
    }
    return -1;
  }
}

function newlinesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
