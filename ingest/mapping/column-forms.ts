/**
 * Determines in which format the dates and numbers of a table are written. Reads whole columns, before the first record of the table is
 * written.
 */
import { TimeSlice } from '../../services/shared/async.js';
import { type DateOrder, dateOrders, numericDateParser, parseIsoDate } from './date-format.js';
import { type DecimalMark, markEvidence, readNumber } from './number-format.js';
import type { ColumnForm } from './target-types.js';

/** The columns of a table whose format is not declared. */
export interface OpenColumns {
  dates: readonly string[];
  /** The column whose dates lie in the period that the preamble names. */
  period?: string | undefined;
  numbers: readonly { name: string; isCount: boolean }[];
}

/** Formats of dates and numbers that the user declared. */
export interface DeclaredForms {
  dateOrder?: DateOrder | undefined;
  decimal?: DecimalMark | undefined;
}

export interface Table {
  rows: readonly Readonly<Record<string, unknown>>[];
  /** Text of the lines before the header. */
  preamble: string;
  /** Whether these rows are the whole table. */
  isWhole: boolean;
  /**
   * Whether the columns are named like the fields of the stream. Then numbers have a decimal point and dates are ISO 8601. Otherwise,
   * semicolons as delimiters suggest a country with a decimal comma.
   */
  isOwnForm: boolean;
}

/** A column whose values can be read in two ways. */
export interface FormDoubt {
  code: 'ambiguous_date' | 'ambiguous_number';
  column: string;
  /** The value of an example text with each choice. */
  readings: { choice: DateOrder | DecimalMark; text: string; reading: string | undefined }[];
}

/**
 * A value of a table can be read in two ways, and nothing says which way is right; no record was read. The message says what to declare.
 */
export class AmbiguousInputError extends Error {
  override readonly name = 'AmbiguousInputError';
  readonly code: FormDoubt['code'];
  readonly doubt: FormDoubt;

  constructor(doubt: FormDoubt, message: string) {
    super(message);
    this.code = doubt.code;
    this.doubt = doubt;
  }
}

/** Determines the formats of the columns. Yields to the event loop. Throws `AmbiguousInputError`. */
export async function settleColumns(
  open: OpenColumns,
  table: Table,
  declared: DeclaredForms,
): Promise<Map<string, ColumnForm>> {
  const { forms, doubts } = await readForms(open, table, declared);
  const [first] = doubts;
  if (first !== undefined) throw first;
  return forms;
}

/** Determines the formats of the columns, and a doubt for each column that stays ambiguous. Yields to the event loop. */
export async function readForms(
  open: OpenColumns,
  { rows, preamble, isWhole, isOwnForm }: Table,
  declared: DeclaredForms,
): Promise<{ forms: Map<string, ColumnForm>; doubts: AmbiguousInputError[] }> {
  const doubts: AmbiguousInputError[] = [];
  const dates = open.dates.map((name) => new DateColumn(name));
  const numbers = open.numbers.map(({ name, isCount }) => new NumberColumn(name, isCount));
  const days = new Set<string>();
  const slice = new TimeSlice();
  for (const row of rows) {
    for (const column of dates) column.add(row[column.name]);
    for (const column of numbers) column.add(row[column.name]);
    const day = open.period === undefined || preamble === '' ? undefined : row[open.period];
    if (typeof day === 'string') days.add(day);
    if (slice.shouldYield()) await slice.yieldToEventLoop();
  }
  const forms = new Map<string, ColumnForm>();
  const ofPreamble = orderByPreamble(preamble.slice(0, MAX_PREAMBLE), [...days]);
  for (const column of dates) {
    const order = declared.dateOrder ?? column.order(ofPreamble, isWhole);
    if (order instanceof AmbiguousInputError) doubts.push(order);
    else forms.set(column.name, { order });
  }
  const ofOthers = only(numbers.map(({ mark }) => mark));
  const mayHavePoint = isOwnForm && !dates.some(({ hasOrder }) => hasOrder);
  for (const column of numbers) {
    const settled = declared.decimal ?? column.mark ?? (column.isMixed ? undefined : ofOthers);
    const mark = settled ?? (mayHavePoint && !column.hasComma ? '.' : undefined);
    const doubt = mark === undefined ? column.doubt() : undefined;
    if (doubt === undefined) forms.set(column.name, { ...forms.get(column.name), mark });
    else doubts.push(doubt);
  }
  return { forms, doubts };
}

/** The value that all defined values share; undefined if they differ. */
function only<T>(values: readonly (T | undefined)[]): T | undefined {
  const different = new Set(values.filter((value) => value !== undefined));
  return different.size === 1 ? [...different][0] : undefined;
}

/** Maximum characters that are read from the lines before a header. A period is named at the beginning of these lines. */
const MAX_PREAMBLE = 8192;

/** Number texts of a column, which show its decimal mark. */
class NumberColumn {
  readonly name: string;
  readonly #isCount: boolean;
  /** The first text that proves each mark, and a text that means a different number with each mark, if possible a text with a comma. */
  readonly #texts: Partial<Record<DecimalMark | 'ambiguous', string>> = {};

  constructor(name: string, isCount: boolean) {
    this.name = name;
    this.#isCount = isCount;
  }

  add(text: unknown): void {
    if (typeof text !== 'string') return;
    const evidence = markEvidence(text, this.#isCount);
    if (evidence === null || evidence === 'none') return;
    if (evidence === 'ambiguous' && text.includes(',') && !this.hasComma) this.#texts.ambiguous = text;
    this.#texts[evidence] ??= text;
  }

  get mark(): DecimalMark | undefined {
    if (this.isMixed) return undefined;
    if (this.#texts['.'] !== undefined) return '.';
    return this.#texts[','] === undefined ? undefined : ',';
  }

  /**
   * Whether an ambiguous text has a comma, which is a decimal mark or separates thousands. In the format of the stream, a comma is neither.
   */
  get hasComma(): boolean {
    return this.#texts.ambiguous?.includes(',') ?? false;
  }

  get isMixed(): boolean {
    return this.#texts['.'] !== undefined && this.#texts[','] !== undefined;
  }

  /** The doubt about the mark; undefined if all numbers can be read in only one way. */
  doubt(): AmbiguousInputError | undefined {
    const refusal = (texts: readonly [point: string, comma: string], message: string) => {
      const readings = (['.', ','] as const).map((choice, index) => {
        const text = texts[index] as string;
        return { choice, text, reading: readNumber(text, choice) ?? undefined };
      });
      return new AmbiguousInputError({ code: 'ambiguous_number', column: this.name, readings }, message);
    };
    const option = 'Say which with --decimal . or --decimal , (over HTTP ?decimal=, in a mapping "decimal").';
    const column = `The numbers of the column ${JSON.stringify(this.name)}`;
    if (this.isMixed) {
      const texts = [this.#texts['.'] ?? '', this.#texts[','] ?? ''] as const;
      const [point, comma] = texts.map((text) => JSON.stringify(text));
      return refusal(
        texts,
        `${column} have both decimal marks: ${point} a point, ${comma} a comma. ${option}`,
      );
    }
    const text = this.#texts.ambiguous;
    if (text === undefined) return undefined;
    return refusal(
      [text, text],
      `${column} can be read in two ways: ${JSON.stringify(text)} is ${readNumber(text, '.')} with a decimal point, and ${readNumber(text, ',')} with a decimal comma. ${option}`,
    );
  }
}

/** Date texts of a column, which show the order of day and month. */
class DateColumn {
  readonly name: string;
  /** The first text that proves each order, and a text that fits both orders, if possible a text whose readings differ. */
  readonly #texts: Partial<Record<DateOrder | 'ambiguous', string>> = {};

  constructor(name: string) {
    this.name = name;
  }

  add(text: unknown): void {
    if (typeof text !== 'string') return;
    const [order, other] = dateOrders(text);
    if (order === undefined) return;
    const { ambiguous } = this.#texts;
    if (other === undefined) this.#texts[order] ??= text;
    else if (ambiguous === undefined || (isSameBothWays(ambiguous) && !isSameBothWays(text))) {
      this.#texts.ambiguous = text;
    }
  }

  /** Whether there are dates whose order matters. */
  get hasOrder(): boolean {
    return Object.keys(this.#texts).length > 0;
  }

  /** The order; undefined if no date depends on the order; a doubt if the order stays ambiguous. */
  order(ofPreamble: DateOrder | undefined, isWhole: boolean): DateOrder | AmbiguousInputError | undefined {
    const { dmy, mdy, ambiguous } = this.#texts;
    if (dmy !== undefined && mdy !== undefined) {
      const [day, month] = [JSON.stringify(dmy), JSON.stringify(mdy)];
      const reason = `have both orders: ${day} the day first, ${month} the month first.`;
      return this.#refusal([dmy, mdy], reason);
    }
    if (dmy !== undefined) return 'dmy';
    if (mdy !== undefined) return 'mdy';
    if (ambiguous === undefined || ofPreamble !== undefined) return ofPreamble;
    if (isWhole && isSameBothWays(ambiguous)) return 'dmy';
    return this.#refusal(
      [ambiguous, ambiguous],
      `can be read in two ways: ${JSON.stringify(ambiguous)} is ${dayIn(ambiguous, 'dmy')} with the day first, and ${dayIn(ambiguous, 'mdy')} with the month first.`,
    );
  }

  #refusal(texts: readonly [day: string, month: string], reason: string): AmbiguousInputError {
    const readings = (['dmy', 'mdy'] as const).map((choice, index) => {
      const text = texts[index] as string;
      return { choice, text, reading: dayIn(text, choice) };
    });
    return new AmbiguousInputError(
      { code: 'ambiguous_date', column: this.name, readings },
      `The dates of the column ${JSON.stringify(this.name)} ${reason} Say which with --date-order dmy or --date-order mdy (over HTTP ?date_order=, in a mapping "date_order").`,
    );
  }
}

function dayIn(text: string, order: DateOrder): string | undefined {
  const parsed = parseIsoDate(text) ?? numericDateParser(order)(text);
  return parsed !== null && 'day' in parsed ? parsed.day : undefined;
}

const isSameBothWays = (text: string) => dayIn(text, 'dmy') === dayIn(text, 'mdy');

/** Month names in the languages of LinkedIn's reports, in lower case. Computed when first used, because ICU loads each language. */
let months: Map<string, string> | undefined;
const monthOf = (name: string) => {
  months ??= new Map(
    ['en', 'de', 'fr', 'es', 'pt', 'it'].flatMap((language) =>
      (['long', 'short'] as const).flatMap((month) => {
        const format = new Intl.DateTimeFormat(language, { month, timeZone: 'UTC' });
        return Array.from({ length: 12 }, (_, index): [string, string] => [
          format
            .format(Date.UTC(2000, index, 15))
            .toLowerCase()
            .replace(/\.$/, ''),
          String(index + 1).padStart(2, '0'),
        ]);
      }),
    ),
  );
  return months.get(name);
};

/** Words have a bounded length: otherwise, matching a preamble that is one long word would take quadratic time. */
const namedDate =
  /(?<!\p{L})(?<monthFirst>\p{L}{3,12})\.? (?<dayAfter>\d{1,2}),? (?<yearAfter>\d{4})|(?<day>\d{1,2})\.? (?:de )?(?<month>\p{L}{3,12})\.?,? (?:de )?(?<year>\d{4})|(?<iso>\d{4}-\d{2}-\d{2})/gu;

/**
 * The order of numeric dates in the preamble. If the preamble has no such date, the only order in which all `texts` lie in the period that
 * the preamble names.
 */
function orderByPreamble(preamble: string, texts: readonly string[]): DateOrder | undefined {
  const ofDigits = only(
    (preamble.match(/\b\d{1,2}([/-])\d{1,2}\1\d{4}\b/g) ?? []).flatMap((text) => {
      const orders = dateOrders(text);
      return orders.length === 1 ? orders : [];
    }),
  );
  if (ofDigits !== undefined) return ofDigits;
  const days: string[] = [];
  for (const { groups = {} } of preamble.matchAll(namedDate)) {
    const { monthFirst, dayAfter, yearAfter, day, month, year, iso } = groups;
    const number = monthOf((monthFirst ?? month ?? '').toLowerCase());
    if (iso !== undefined) days.push(iso);
    else if (number !== undefined) {
      days.push(`${yearAfter ?? year}-${number}-${(dayAfter ?? day ?? '').padStart(2, '0')}`);
    }
  }
  const [start, end] = days;
  if (start === undefined || end === undefined || start > end) return undefined;
  const fits = (order: DateOrder) =>
    texts.length > 0 &&
    texts.every((text) => {
      const date = dayIn(text, order);
      return date === undefined || (date >= start && date <= end);
    });
  return only((['dmy', 'mdy'] as const).map((order) => (fits(order) ? order : undefined)));
}
