/** Refuses what the grants of the embedded engine do not govern, below the allowlist. */
import { blankedTexts, type Sql } from '../shared/sql.js';
import { CODE, SqlError } from './errors.js';

const READS = /^\(*(SELECT|WITH|SHOW|DESCRIBE|EXPLAIN|EXISTS)\b/;
/** Parses and runs nothing, so it may name what would be refused. */
const PARSES = /^EXPLAIN AST /;
/** The function `file` reads any file without a grant in the embedded engine. It needs no bracket: `arrayMap(file, paths)`. */
const FILE_FUNCTION = /\bfile\b/i;
/** Its first argument, where it is a text, is parsed as columns with expressions, in which `file` may stand. */
const STRUCTURE = /\bvalues\((?!\(|tuple\(|-?\d)/i;
/** A value of a parameter may become a name. */
const FILE_VALUE = /^\W*file\W*$/i;
const IDENTIFIER_PLACEHOLDER = /\{\w+: ?Identifier\}/;

/** Throws a `SqlError` for a kind of statement that an analyst never runs, and for functions that no grant stops. */
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

/** Texts blanked, and quoted names without their quotes. */
const withNames = (text: string) => text.replaceAll(TEXTS, "''").replaceAll('`', '');
