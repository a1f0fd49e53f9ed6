/**
 * Only this module can compose SQL. `sql` is a tagged template. A placeholder takes another fragment or a number; a plain string does not
 * compile, and throws if the types are bypassed. Values are bound by the driver, never written into a statement: `?` in SQLite,
 * `{name:Type}` in ClickHouse.
 */
import { readFileSync } from 'node:fs';

let fragmentOf: (text: string) => Sql;

/** A statement, or a part of one. */
export class Sql {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  static {
    fragmentOf = (text) => new Sql(text);
  }

  /** Text of the statement for the driver. */
  get text(): string {
    return this.#text;
  }
}

export type SqlHole = Sql | number | bigint;

/** Fragments without placeholders, created once per place in the code. */
const constants = new WeakMap<TemplateStringsArray, Sql>();

/** Composes a statement. Throws `TypeError` for a placeholder that is neither a fragment nor a finite number. */
export function sql(strings: TemplateStringsArray, ...holes: SqlHole[]): Sql {
  if (!Object.isFrozen(strings) || !Array.isArray(strings.raw))
    throw new TypeError('sql is a tag of templates, not a function of texts');
  if (holes.length > 0) return fragmentOf(String.raw({ raw: strings }, ...holes.map(textOf)));
  let constant = constants.get(strings);
  if (!constant) {
    constant = fragmentOf(strings[0] ?? '');
    constants.set(strings, constant);
  }
  return constant;
}

function textOf(hole: SqlHole): string {
  if (hole instanceof Sql) return hole.text;
  if (typeof hole !== 'bigint' && !Number.isFinite(hole))
    throw new TypeError('A hole of a statement takes a fragment or a finite number');
  // Parentheses, because "1 -${-1}" would otherwise begin a comment.
  return hole < 0 ? `(${hole})` : String(hole);
}

export const EMPTY_SQL: Sql = sql``;

type Separator =
  | ''
  | ' '
  | ', '
  | ',\n'
  | ',\n  '
  | ',\n    '
  | '\n'
  | ' AND '
  | ' OR '
  | ' + '
  | ' UNION ALL ';

/** Empty fragments are left out. */
export const joinSql = (parts: readonly Sql[], separator: Separator): Sql =>
  fragmentOf(
    parts
      .map(({ text }) => text)
      .filter((text) => text !== '')
      .join(separator),
  );

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;

/** A name written in the code. A name of type `string` does not compile, because it may come from a request. */
export const identifier = <const Name extends string>(name: string extends Name ? never : Name): Sql =>
  checkedIdentifier(name);

/** A name from outside, such as a database in a setting. Throws `RangeError` unless it consists of letters, digits and underscores. */
export function checkedIdentifier(name: string): Sql {
  if (!NAME.test(name)) throw new RangeError('A name has only letters, digits and underscores, 128 at most');
  return fragmentOf(name);
}

/**
 * Quoted text for ClickHouse, for places where a parameter cannot be bound: in `SET` and in definitions. Quotes are doubled, so the text
 * would be a single text in SQLite too.
 */
export const textLiteral = (text: string): Sql =>
  fragmentOf(`'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`);

/** The statements of a file of this package, without lines of comments. */
export const readSqlFile = (path: string): Sql =>
  fragmentOf(readFileSync(path, 'utf8').replaceAll(/^[ \t]*--.*\n?/gm, ''));

/** Statements of a file for ClickHouse, which runs one statement at a time. A semicolon at the end of a line ends a statement. */
export const statementsOf = (file: Sql): Sql[] =>
  file.text
    .split(/;$/m)
    .map((text) => fragmentOf(text.trim()))
    .filter(({ text }) => text !== '');

const QUOTED = /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/gs;

/** A statement that ClickHouse's parser printed, with texts and quoted names blanked, so that only keywords remain, at their positions. */
export const blankedTexts = (printed: string): string =>
  printed.replaceAll(QUOTED, (quoted) => `'${' '.repeat(quoted.length - 2)}'`);

/**
 * Text that the printer never writes outside quotes. It includes what would end the statement or hide a part of it, and every letter by
 * which the engine could read quotes that this module does not see, such as \u2018 and the texts x'…' and b'…', in which backslashes have
 * no meaning.
 */
const UNPRINTED = /[^\x20-\x7e]|[;"#`$\\]|--|\/\*|\b[xb]'/i;
/** The printer repeats the type of a placeholder as the client wrote it. */
const PLACEHOLDER = /\{\w+: ?[\w(), ]+\}/g;
/** A placeholder with quotes in its type. Only types of times are accepted, with the name of a time zone in the quotes. */
const QUOTED_PLACEHOLDER = /\{\w+: ?[\w(), ']+\}/g;
const ZONE = "'[A-Za-z][\\w+/-]{0,63}'";
const TIME_PLACEHOLDER = new RegExp(
  `^\\{\\w+: ?(?:(?:Nullable|Array)\\(){0,2}(?:DateTime\\(${ZONE}\\)|DateTime64\\(\\d, ?${ZONE}\\))\\){0,2}\\}$`,
);
/**
 * A control character or escape in a quoted name. The engine prints names into trees unescaped, where a line feed would begin a new node.
 */
const CONTROL = /\p{Cc}|\\[^\\`'"]/u;

const namesWithControl = (printed: string) =>
  Array.from(printed.matchAll(QUOTED)).some(
    ([quoted]) => quoted.startsWith('`') && CONTROL.test(quoted.replaceAll(/\\[\\`'"]/g, '')),
  );

/**
 * The statement of a client, as ClickHouse's parser printed it: the only text from outside that becomes SQL. Throws `RangeError` unless the
 * text is exactly one statement without `INTO OUTFILE`, which the embedded engine obeys regardless of rights.
 */
export function printedStatement(printed: string): Sql {
  const bare = blankedTexts(printed);
  const texts = bare.replaceAll(/' *'/g, '');
  if (UNPRINTED.test(bare) || texts.includes("'")) throw new RangeError('A text has exactly one statement');
  const timed = bare.replaceAll(QUOTED_PLACEHOLDER, (blanked, at: number) =>
    TIME_PLACEHOLDER.test(printed.slice(at, at + blanked.length)) ? '' : blanked,
  );
  if (/[{}]/.test(timed.replaceAll(PLACEHOLDER, '')))
    throw new RangeError(
      "A placeholder has the form {name:Type}; only DateTime('zone') and DateTime64(3, 'zone') have quotes",
    );
  if (namesWithControl(printed)) throw new RangeError('A name has no control characters');
  if (/\bINTO\s+OUTFILE\b/i.test(bare)) throw new RangeError('A statement writes no file');
  return fragmentOf(printed);
}

/** A name in backquotes for ClickHouse. The name may contain any character. */
export const quotedIdentifier = (name: string): Sql =>
  fragmentOf(`\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``);

/**
 * Fills `{{name}}` placeholders of a file. For an empty fragment, the space before it is removed too. Throws `RangeError` for a name
 * without a fragment.
 */
export const fillPlaceholders = (file: Sql, fragments: Readonly<Record<string, Sql>>): Sql =>
  fragmentOf(
    file.text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
      const fragment = Object.hasOwn(fragments, name) ? fragments[name] : undefined;
      if (!fragment) throw new RangeError(`A file has the unknown placeholder ${name}`);
      return fragment.text;
    }),
  );

/** Inserts a fragment after the first match; returns the statement unchanged if nothing matches. */
export const insertBehind = (statement: Sql, pattern: RegExp, fragment: Sql): Sql =>
  fragmentOf(statement.text.replace(pattern, (match) => match + fragment.text));
