/** Rejects functions and statements that the grants of the embedded engine do not govern, in addition to the allowlist. */
import { blankedTexts, type Sql } from '../shared/sql.js';
import { CODE, SqlError } from './errors.js';

const READS = /^\(*(SELECT|WITH|SHOW|DESCRIBE|EXPLAIN|EXISTS)\b/;
/** Statements that parse another statement without running it, so the other statement may contain what would be rejected. */
const PARSES = /^EXPLAIN AST /;
/** In the embedded engine, the function `file` reads any file without a grant. It may occur without parentheses: `arrayMap(file, paths)`. */
const FILE_FUNCTION = /\bfile\b/i;
/**
 * A call of `values` whose first argument may be a text. The engine parses this text as columns with expressions, which may contain `file`.
 */
const STRUCTURE = /\bvalues\((?!\(|tuple\(|-?\d)/i;
/** A parameter with the value `file`, because the value may become a name. */
const FILE_VALUE = /^\W*file\W*$/i;
const IDENTIFIER_PLACEHOLDER = /\{\w+: ?Identifier\}/;

/** Throws a `SqlError` for kinds of statements that analysts never run, and for functions that no grant stops. */
export function requireGoverned({ text }: Sql, params: Readonly<Record<string, string>>): void {
  const bare = blankedTexts(text);
  if (!READS.test(bare)) throw denied('this kind of statement');
  if (PARSES.test(bare)) return;
  const names = withNames(text);
  if (FILE_FUNCTION.test(names)) throw denied('function file');
  if (STRUCTURE.test(names)) throw denied('a text as the first argument of values');
  if (IDENTIFIER_PLACEHOLDER.test(names) && Object.values(params).some((value) => FILE_VALUE.test(value)))
    throw denied('function file');
}

const denied = (what: string) => new SqlError(CODE.ACCESS_DENIED, `Not allowed here: ${what}`);

const TEXTS = /'(?:[^'\\]|\\.)*'/gs;

/** Blanks texts, and removes the quotes of quoted names. */
const withNames = (text: string) => text.replaceAll(TEXTS, "''").replaceAll('`', '');
