import type { SaxesParser, SaxesTagPlain } from 'saxes';
import { MAX_LINE_BYTES } from '../lines.js';
import { broken } from './archive.js';
import { dateText, numberText } from './cell-text.js';
import type { Book } from './workbook.js';
import { attribute, parser, unescaped } from './xml.js';

const MAX_ROWS = 1_048_576;
const MAX_COLUMNS = 16_384;
/** Maximum characters to which the cells in one piece of the sheet expand: a shared text may occur many times. */
const MAX_EXPANDED_CHARS = 32 * 1024 * 1024;
/** Text for a formula that no program has calculated: the text with which spreadsheets mark an unavailable value. */
const UNCALCULATED = '#N/A';

/** Rows of a sheet as lines of CSV. */
export class SheetRows {
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

  /** Yields the lines so far, if they have at least this many characters. */
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

function csvCell(value: string): string {
  const text = value.replaceAll(/\r\n|\n/g, '\r');
  return /[",\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
