/** Reads the texts that a store got, without using code of the package that made them. */
import type { RecordedStatement } from './record-statements.fixture.js';

/** Texts in quotes, quoted names, comments and heredocs of ClickHouse. */
const CLICKHOUSE =
  /(?<text>'(?:[^'\\]|\\.|'')*'|\u2018[^\u2019]*\u2019|\$(?<tag>\w*)\$.*?\$\k<tag>\$)|`(?:[^`\\]|\\.|``)*`|"(?:[^"\\]|\\.|"")*"|\u201c[^\u201d]*\u201d|--[^\n]*|#[ !][^\n]*|\/\*.*?\*\//gs;
/** SQLite reads a backslash as an ordinary character. */
const SQLITE = /(?<text>'(?:[^']|'')*')|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|--[^\n]*|\/\*.*?\*\//gs;
/** Bodies of triggers have semicolons. */
const TRIGGER = /^\s*CREATE (?:TEMP )?TRIGGER\b/i;

export interface StatementText {
  /** Number of statements in the text. */
  count: number;
  /** First word of the first statement, in upper case. */
  verb: string;
  /** The text without its literals. */
  code: string;
}

export function readStatement([store, text]: RecordedStatement): StatementText {
  const pattern = store === 'sqlite' ? SQLITE : CLICKHOUSE;
  // An unclosed quote stays in the code.
  const code = text.replaceAll(pattern, (whole, literal: string | undefined) =>
    literal === undefined ? whole : "''",
  );
  const bare = text.replaceAll(pattern, (whole) => (/^(--|#|\/\*)/.test(whole) ? ' ' : "''"));
  const count = TRIGGER.test(bare) ? 1 : bare.split(';').filter((each) => each.trim() !== '').length;
  return { count, verb: (/\w+/.exec(bare.trim())?.[0] ?? '').toUpperCase(), code };
}
