/**
 * Converts the first visible sheet of an XLSX file to CSV, with one line per row of the sheet, so that line numbers are row numbers. Line
 * breaks within cells become CR, which ends no line here. https://ecma-international.org/publications-and-standards/standards/ecma-376/
 */
import type { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import { type SaxesAttributePlain, SaxesParser, type SaxesTagPlain } from 'saxes';
import { type Entry, fromBuffer, fromFd, type Options, type ZipFile } from 'yauzl';
import { TimeSlice } from '../../services/shared/async.js';
import { UnreadableInputError } from '../records/raw-record.js';
import { MAX_LINE_BYTES } from './lines.js';
import type { Replayable } from './replayable.js';

/** Maximum bytes of the texts that cells share. Excel itself stops at 2 GiB. */
const MAX_SHARED_BYTES = 32 * 1024 * 1024;
const MAX_PART_BYTES = 16 * 1024 * 1024;
const MAX_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;
const MAX_ENTRIES = 10_000;
/** Maximum characters kept until a tag, comment or CDATA section ends. */
const MAX_TAG_BYTES = 1024 * 1024;
/** Maximum characters that the cells in one piece of the sheet expand to: a shared text may occur many times. */
const MAX_EXPANDED_CHARS = 32 * 1024 * 1024;
/** Maximum characters of a number format; Excel accepts no more. */
const MAX_FORMAT_CHARS = 255;
/** Text for a formula that no program has calculated: a spreadsheet's own text for an unavailable value. */
const UNCALCULATED = '#N/A';
/** CSV is passed on in pieces of about this size. */
const CHUNK_BYTES = 64 * 1024;

const broken = (detail: string) =>
  new UnreadableInputError('invalid_body', `The file cannot be read as XLSX: ${detail}.`);

/**
 * Yields the sheet as CSV in UTF-8, divided by commas. Throws `UnreadableInputError`, or the reason of an aborted `signal`. `maxBytes`
 * limits the sheet and its CSV.
 */
export async function* sheetAsCsv(
  source: Replayable,
  maxBytes: number,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const parts = await openZip(source, signal);
  const book = await readBook(parts);
  const sheet = parts.get(book.sheet);
  if (sheet === undefined) throw broken('it has no sheet');
  // No record is stored before the checksum at the end is verified.
  for await (const _ of textOf(sheet, maxBytes));
  const rows = new SheetRows(book);
  let bytes = 0;
  for await (const chunk of textOf(sheet, maxBytes)) {
    rows.write(chunk);
    bytes += rows.size;
    if (bytes > maxBytes) throw broken(`its first sheet has more than ${maxBytes} bytes`);
    yield* rows.take(CHUNK_BYTES);
  }
  rows.end();
  yield* rows.take(0);
}

/** The files within a file, by name. */
interface Parts {
  get(name: string): Part | undefined;
}

interface Part {
  name: string;
  crc32: number;
  /** Ends reading the part. */
  signal?: AbortSignal;
  open(): Promise<Readable>;
}

async function openZip(source: Replayable, signal?: AbortSignal): Promise<Parts> {
  const location = await source.location();
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    // The descriptor belongs to the source.
    const options: Options = { lazyEntries: true, autoClose: false };
    const opened = (error: Error | null, file: ZipFile) => (error ? reject(notZip()) : resolve(file));
    if ('bytes' in location) fromBuffer(location.bytes, options, opened);
    else fromFd(location.fd, options, opened);
  });
  const entries = new Map<string, Entry>();
  await new Promise<void>((resolve, reject) => {
    zip.on('error', () => reject(broken('it is damaged')));
    zip.on('end', resolve);
    zip.on('entry', (entry: Entry) => {
      // Excel accepts names regardless of case.
      entries.set(entry.fileName.toLowerCase(), entry);
      if (entries.size > MAX_ENTRIES) reject(broken('it has too many parts'));
      else zip.readEntry();
    });
    zip.readEntry();
  });
  return {
    get(name) {
      const entry = entries.get(name.toLowerCase());
      if (entry === undefined) return undefined;
      if (entry.isEncrypted()) throw broken('it is protected by a password');
      return { name, crc32: entry.crc32, signal, open: () => zip.openReadStreamPromise(entry) };
    },
  };
}

const notZip = () => broken('it is none; save it as XLSX, or as CSV in UTF-8');

/** Yields the text of a part. Throws `UnreadableInputError`, at the end if the checksum does not match. */
async function* textOf(part: Part, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let bytes = 0;
  let open = 0;
  let limit = maxBytes;
  let checksum = 0;
  const slice = new TimeSlice();
  const stream = await part.open().catch(() => {
    throw broken('it is damaged');
  });
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      part.signal?.throwIfAborted();
      bytes += chunk.length;
      checksum = crc32(chunk, checksum);
      if (chunk.includes('<!')) limit = Math.min(maxBytes, MAX_PART_BYTES);
      if (bytes > limit) throw broken(`${part.name} has more than ${limit} bytes`);
      const end = chunk.lastIndexOf('>');
      open = end < 0 ? open + chunk.length : chunk.length - end - 1;
      if (open > MAX_TAG_BYTES) throw broken(`${part.name} has a text of more than ${MAX_TAG_BYTES} bytes`);
      yield decoder.decode(chunk, { stream: true });
      if (slice.shouldYield(chunk.length)) await slice.yieldToEventLoop(part.signal);
    }
    if (checksum !== part.crc32) throw broken('its checksum does not match its content');
    yield decoder.decode();
  } catch (error) {
    part.signal?.throwIfAborted();
    throw error instanceof UnreadableInputError ? error : broken('it is damaged');
  }
}

/** Facts about a workbook that are read before its sheet. */
interface Book {
  sheet: string;
  texts: string[];
  /** Whether a number is a date, a time or both, by style. */
  dates: (DateKind | undefined)[];
  /** Whether days count from 1904. */
  isFrom1904: boolean;
}

type DateKind = 'date' | 'time' | 'moment';

type Attributes = Record<string, SaxesAttributePlain | string>;
/** Local name: some programs write a prefix, such as `x:row`. */
const localName = (name: string) => name.slice(name.indexOf(':') + 1);
const attribute = (tag: SaxesTagPlain, name: string) => {
  const attributes = tag.attributes as Attributes;
  const found = attributes[name] ?? Object.entries(attributes).find(([key]) => localName(key) === name)?.[1];
  return found === undefined ? undefined : String(found);
};

interface Handlers {
  open?(name: string, tag: SaxesTagPlain): void;
  text?(text: string): void;
  close?(name: string): void;
}

function parser({ open, text, close }: Handlers): SaxesParser {
  const parser = new SaxesParser({});
  parser.on('error', () => {
    throw broken('it is damaged');
  });
  if (open) parser.on('opentag', (tag) => open(localName(tag.name), tag as SaxesTagPlain));
  if (text) {
    parser.on('text', text);
    parser.on('cdata', text);
  }
  if (close) parser.on('closetag', (tag) => close(localName(tag.name)));
  return parser;
}

async function parsePart(part: Part | undefined, maxBytes: number, handlers: Handlers): Promise<void> {
  if (part === undefined) return;
  const xml = parser(handlers);
  for await (const chunk of textOf(part, maxBytes)) xml.write(chunk);
  xml.close();
}

async function readBook(parts: Parts): Promise<Book> {
  const targets = new Map<string, { type: string; target: string }>();
  const readRelations = (name: string) =>
    parsePart(parts.get(name), MAX_PART_BYTES, {
      open(name, tag) {
        if (name !== 'Relationship') return;
        const type = attribute(tag, 'Type') ?? '';
        targets.set(attribute(tag, 'Id') ?? '', { type, target: attribute(tag, 'Target') ?? '' });
      },
    });
  const targetOf = (kind: string, base: string) => {
    const found = [...targets.values()].find(({ type }) => type.endsWith(`/${kind}`));
    return found && pathOf(found.target, base);
  };
  await readRelations('_rels/.rels');
  const bookPath = targetOf('officeDocument', '') ?? 'xl/workbook.xml';
  const folder = bookPath.slice(0, bookPath.lastIndexOf('/') + 1);
  targets.clear();
  await readRelations(`${folder}_rels/${bookPath.slice(folder.length)}.rels`);
  if (parts.get(bookPath) === undefined) throw notZip();
  let sheet: string | undefined;
  let isFrom1904 = false;
  await parsePart(parts.get(bookPath), MAX_PART_BYTES, {
    open(name, tag) {
      if (name === 'workbookPr') isFrom1904 = /^(?:1|true)$/.test(attribute(tag, 'date1904') ?? '');
      if (name !== 'sheet' || sheet !== undefined || /hidden/i.test(attribute(tag, 'state') ?? '')) return;
      const related = targets.get(attribute(tag, 'id') ?? '');
      if (related?.type.endsWith('/worksheet')) sheet = pathOf(related.target, folder);
    },
  });
  const texts = await readTexts(parts.get(targetOf('sharedStrings', folder) ?? `${folder}sharedStrings.xml`));
  const dates = await readStyles(parts.get(targetOf('styles', folder) ?? `${folder}styles.xml`));
  return { sheet: sheet ?? `${folder}worksheets/sheet1.xml`, texts, dates, isFrom1904 };
}

/** A path within the file: relative to a folder unless it begins with a slash. */
function pathOf(target: string, folder: string): string {
  const base = `file:///${folder}`;
  if (!URL.canParse(target, base)) throw broken('it is damaged');
  return new URL(target, base).pathname.slice(1);
}

async function readTexts(part: Part | undefined): Promise<string[]> {
  const texts: string[] = [];
  let text = '';
  let isText = false;
  let isPhonetic = false;
  await parsePart(part, MAX_SHARED_BYTES, {
    open(name) {
      if (name === 'si') text = '';
      if (name === 'rPh') isPhonetic = true;
      isText = name === 't' && !isPhonetic;
    },
    text(more) {
      if (isText) text += more;
    },
    close(name) {
      if (name === 't') isText = false;
      if (name === 'rPh') isPhonetic = false;
      if (name === 'si') texts.push(unescaped(text));
    },
  });
  return texts;
}

/** Built-in number formats of dates and times, by their number. */
const BUILT_IN: Record<number, DateKind> = {
  ...Object.fromEntries([14, 15, 16, 17].map((id) => [id, 'date'])),
  ...Object.fromEntries([18, 19, 20, 21, 45, 46, 47].map((id) => [id, 'time'])),
  22: 'moment',
  ...Object.fromEntries(
    [27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 57, 58].map((id) => [id, 'date']),
  ),
  ...Object.fromEntries([32, 33, 55, 56].map((id) => [id, 'time'])),
};

async function readStyles(part: Part | undefined): Promise<(DateKind | undefined)[]> {
  const formats = new Map<number, DateKind | undefined>();
  const dates: (DateKind | undefined)[] = [];
  let isOfCells = false;
  await parsePart(part, MAX_PART_BYTES, {
    open(name, tag) {
      const id = Number(attribute(tag, 'numFmtId'));
      if (name === 'numFmt') formats.set(id, kindOf(attribute(tag, 'formatCode') ?? ''));
      if (name === 'cellXfs') isOfCells = true;
      if (name === 'xf' && isOfCells) dates.push(formats.has(id) ? formats.get(id) : BUILT_IN[id]);
    },
    close(name) {
      if (name === 'cellXfs') isOfCells = false;
    },
  });
  return dates;
}

/** Recognizes dates by their number format. `[h]` is a duration, not a date. */
function kindOf(given: string): DateKind | undefined {
  const format = given.slice(0, MAX_FORMAT_CHARS);
  if (/\[[hms]+\]/i.test(format)) return undefined;
  const code = (format.split(';', 1)[0] as string)
    // Each part of the expression has an optional end, so that it reads every character once.
    .replaceAll(/"[^"]*"?|\\.|_.|\*.|\[[^\]]*\]?/g, '')
    .toLowerCase();
  const hasDay = /[yd]/.test(code) || (code.includes('m') && !/[hs]/.test(code));
  const hasTime = /[hs]/.test(code);
  if (/\bgeneral\b/.test(code)) return undefined;
  if (hasDay) return hasTime ? 'moment' : 'date';
  return hasTime ? 'time' : undefined;
}

/** Rows of a sheet as lines of CSV. */
class SheetRows {
  readonly #parser: SaxesParser;
  readonly #book: Book;
  #lines: string[] = [];
  /** Characters of the lines since the last `write`. */
  size = 0;
  #row = 0;
  #cells: string[] = [];
  #length = 0;
  #column = 0;
  #type = 'n';
  #style = 0;
  #text = '';
  #isValue = false;
  /** Whether the cell has a formula whose value is not in the file. */
  #isUncalculated = false;
  #isPhonetic = false;
  #isWithinData = false;

  constructor(book: Book) {
    this.#book = book;
    this.#parser = parser({
      open: (name, tag) => this.#open(name, tag),
      text: (text) => {
        if (this.#isValue) this.#text += text;
      },
      close: (name) => this.#close(name),
    });
  }

  write(xml: string): void {
    this.size = 0;
    this.#parser.write(xml);
  }

  end(): void {
    this.#parser.close();
  }

  /** The lines so far, if they have at least this many characters. */
  *take(atLeast: number): Generator<Buffer> {
    const text = this.#lines.join('');
    if (text.length <= atLeast) {
      this.#lines = [text];
      return;
    }
    this.#lines = [];
    yield Buffer.from(text);
  }

  #open(name: string, tag: SaxesTagPlain): void {
    if (name === 'sheetData') this.#isWithinData = true;
    if (!this.#isWithinData) return;
    if (name === 'row') this.#openRow(Number(attribute(tag, 'r') ?? this.#row + 1));
    else if (name === 'c') this.#openCell(tag);
    else if (name === 'rPh') this.#isPhonetic = true;
    else if (name === 'f') this.#isUncalculated = true;
    else {
      this.#isValue = name === 'v' || (name === 't' && !this.#isPhonetic);
      if (this.#isValue) this.#isUncalculated = false;
    }
  }

  #openRow(row: number): void {
    if (!(row > this.#row && row <= MAX_ROWS)) throw broken('its rows are in no order');
    this.#add('\n'.repeat(row - this.#row - 1));
    this.#row = row;
    this.#cells = [];
    this.#length = 0;
    this.#column = 0;
  }

  #openCell(tag: SaxesTagPlain): void {
    const reference = attribute(tag, 'r');
    this.#column = reference === undefined ? this.#column + 1 : columnOf(reference);
    if (!(this.#column > this.#cells.length && this.#column <= MAX_COLUMNS)) {
      throw broken('its cells are in no order');
    }
    this.#type = attribute(tag, 't') ?? 'n';
    this.#style = Number(attribute(tag, 's') ?? 0);
    this.#text = '';
    this.#isUncalculated = false;
  }

  #close(name: string): void {
    if (name === 'sheetData') this.#isWithinData = false;
    if (!this.#isWithinData) return;
    if (name === 'v' || name === 't') this.#isValue = false;
    else if (name === 'rPh') this.#isPhonetic = false;
    else if (name === 'c') {
      while (this.#cells.length < this.#column - 1) this.#cells.push('');
      // Cells after the first megabyte are left out, because the row is rejected for its length.
      const cell = this.#length > MAX_LINE_BYTES ? '' : csvCell(this.#value().slice(0, MAX_LINE_BYTES + 1));
      this.#length += cell.length;
      this.#cells.push(cell);
    } else if (name === 'row') this.#add(`${this.#cells.join(',')}\n`);
  }

  #add(text: string): void {
    this.size += text.length;
    if (this.size > MAX_EXPANDED_CHARS) throw broken('its cells repeat too much text');
    if (text !== '') this.#lines.push(text);
  }

  #value(): string {
    const text = this.#text;
    if (this.#isUncalculated) return UNCALCULATED;
    switch (this.#type) {
      case 's':
        return this.#book.texts[Number(text)] ?? '';
      case 'str':
      case 'inlineStr':
        return unescaped(text);
      case 'b':
        return text === '1' ? 'true' : 'false';
      case 'd':
        return text.replace(/T00:00(?::00(?:\.0+)?)?Z?$/, '');
      case 'e':
        return text;
      default:
        return this.#number(text.trim());
    }
  }

  #number(text: string): string {
    const kind = this.#book.dates[this.#style];
    return kind === undefined || text === '' ? numberText(text) : dateText(Number(text), kind, this.#book);
  }
}

/** The number of a column, from 1, of a reference such as `AB12`. */
function columnOf(reference: string): number {
  let column = 0;
  for (const letter of /^[A-Z]{1,4}/i.exec(reference)?.[0]?.toUpperCase() ?? '') {
    column = column * 26 + letter.charCodeAt(0) - 64;
  }
  return column;
}

/** Whole numbers from here on that have an exponent were rounded by Excel. They keep the exponent, which shows that. */
const MAX_EXACT = 1e15;

/**
 * A number with all its digits and without exponent. Three decimal places get a fourth, so that the point cannot be a thousands separator.
 */
function numberText(text: string): string {
  if (/^-?\d+$/.test(text)) return text;
  const number = Number(text);
  if (text === '' || !Number.isFinite(number)) return text;
  if (Number.isInteger(number)) return Math.abs(number) < MAX_EXACT ? String(number) : text;
  const short = plainDecimal(String(number));
  return /\.\d{3}$/.test(short) ? `${short}0` : short;
}

/** A number as JavaScript writes it, without exponent. */
function plainDecimal(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent] =
    /^(-?)(\d+)(?:\.(\d+))?e-(\d+)$/.exec(text) ?? [];
  if (exponent === undefined) return text;
  return `${sign}0.${'0'.repeat(Number(exponent) - 1)}${whole}${fraction}`;
}

const DAY_MS = 86_400_000;

/** Formats days since 31 December 1899, or since 1904. Excel counts a 29 February 1900, which did not exist. */
function dateText(serial: number, kind: DateKind, { isFrom1904 }: Book): string {
  if (!(serial >= 0 && serial < 2_958_466)) return String(serial);
  const days = isFrom1904 ? serial + 1462 : serial < 60 ? serial + 1 : serial;
  const moment = new Date(Date.UTC(1899, 11, 30) + Math.round(days * DAY_MS));
  const [day, time] = moment.toISOString().slice(0, 19).split('T') as [string, string];
  if (kind === 'time' && serial < 1) return time;
  return kind === 'date' || time === '00:00:00' ? day : `${day} ${time}`;
}

/** Decodes characters that XML cannot hold, which are written as `_x000D_`. */
function unescaped(text: string): string {
  return text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

function csvCell(value: string): string {
  const text = value.replaceAll(/\r\n|\n/g, '\r');
  return /[",\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
