/**
 * What analysts may run on the embedded engine. The engine's own parser judges a statement, and the text that this parser printed is
 * what runs, so comments, quotes and case cannot make the two differ. Everything is allowed by name; the engine runs it read-only and
 * rejects writes once more.
 */
import { ANALYST_LIMITS, ANALYST_SETTINGS } from '../stores/clickhouse/settings.js';
import type { Body } from './body.js';
import { CODE, SqlError } from './errors.js';
import { canonical, type Node, nodes, syntaxTree } from './parser.js';
import type { SqlRequest } from './request.js';
import type { Runner, Statement } from './statement.js';

/** Decides what runs for a request; throws a `SqlError` to reject it. */
export type StatementPolicy = (
  request: SqlRequest,
  body: Body,
  runner: Runner,
) => Promise<PermittedStatement>;

export interface PermittedStatement {
  statement: Statement;
  /** Format of the output, as the statement or the request names it. */
  format: string;
  /** Removes files that the policy created for the statement. */
  release?: () => void;
}

const VIEWS = 'reachline';
const DATABASES = new Set([VIEWS, 'default', 'information_schema', 'INFORMATION_SCHEMA']);
/** They describe the engine: no folders, no statements of other users, no data of the machine. */
const SYSTEM_TABLES = new Set([
  'columns',
  'contributors',
  'data_type_families',
  'formats',
  'functions',
  'keywords',
  'numbers',
  'one',
  'settings',
  'table_functions',
  'time_zones',
]);
/** Clients list these by column; some columns hold folders. */
const TABLES_WITH_FOLDERS = new Set(['databases', 'tables']);
const FOLDER_COLUMNS = new Set(['data_path', 'data_paths', 'metadata_path']);
const TABLE_FUNCTIONS = new Set([
  'generate_series',
  'generateseries',
  'numbers',
  'sqlstandardvalues',
  'values',
]);

const NODE_KINDS = new Set([
  'ArrayJoin',
  'Asterisk',
  'ColumnsExceptTransformer',
  'ColumnsListMatcher',
  'ColumnsRegexpMatcher',
  'ColumnsReplaceTransformer',
  'ColumnsReplaceTransformer::Replacement',
  'ColumnsTransformerList',
  'ExpressionList',
  'Function',
  'Identifier',
  'InterpolateElement',
  'Literal',
  'OrderByElement',
  'QualifiedAsterisk',
  'QualifiedColumnsListMatcher',
  'QualifiedColumnsRegexpMatcher',
  'SampleRatio',
  'SelectIntersectExceptQuery',
  'SelectQuery',
  'SelectWithUnionQuery',
  'Subquery',
  'TableExpression',
  'TableIdentifier',
  'TableJoin',
  'TablesInSelectQuery',
  'TablesInSelectQueryElement',
  'WindowDefinition',
  'WindowListElement',
  'WithElement',
]);
const MATCHERS = /^(Qualified)?(Asterisk|Columns\w+Matcher)$/;

const REJECTED_CATEGORIES = [
  '',
  'AI',
  'Dictionary',
  'Embedded Dictionary',
  'Encryption',
  'Internal',
  'Introspection',
  'Machine Learning',
  'Other',
];
/** Allowed although in one of the categories above, or produced by the parser. */
const EXTRA_FUNCTIONS = [
  '_CAST',
  'bar',
  'caseWithExpression',
  'countDigits',
  'currentDatabase',
  'currentUser',
  'defaultValueOfTypeName',
  'exists',
  'finalizeAggregation',
  'formatReadableDecimalSize',
  'formatReadableQuantity',
  'formatReadableSize',
  'formatReadableTimeDelta',
  'identity',
  'ignore',
  'initializeAggregation',
  'lambda',
  'materialize',
  'neighbor',
  'rowNumberInAllBlocks',
  'runningAccumulate',
  'runningDifference',
  'timezone',
  'toColumnTypeName',
  'toTypeName',
  'transform',
  'version',
];
/** Seconds for two texts in one call per block, during which the engine checks neither its time limit nor `KILL QUERY`. */
const UNINTERRUPTIBLE_FUNCTIONS =
  /^(timeSeriesReplaceTag|editDistance|levenshteinDistance|damerauLevenshteinDistance|jaro|arrayLevenshteinDistance|arraySimilarity|multiMatch|multiFuzzyMatch|multiSearch)/i;
/** Lower-case functions with a pattern → its argument. A pattern of 60 000 characters takes 20 s for a single text. */
const PATTERN_ARGUMENT = new Map([
  ...(
    'like ilike notlike notilike match regexp_matches extract extractall extractgroups extractallgroups extractallgroupshorizontal ' +
    'extractallgroupsvertical regexpextract regexp_extract regexp_substr regexpposition regexpinstr regexp_instr replaceregexpone ' +
    'replaceregexpall regexp_replace countmatches countmatchescaseinsensitive mapcontainskeylike mapcontainsvaluelike ' +
    'mapextractkeylike mapextractvaluelike'
  )
    .split(' ')
    .map((name): [string, number] => [name, 1]),
  ['splitbyregexp', 0],
  ['tokensforlikepattern', 0],
]);
/** Their result is never longer than their arguments together. */
const TEXT_FUNCTIONS = /^(concat|lower|upper|lowerUTF8|upperUTF8|_?CAST|toString)$/i;
const MAX_PATTERN_LENGTH = 1000;

const COMBINATORS =
  /(If|Array|Map|SimpleState|State|Merge|MergeState|ForEach|Distinct|OrDefault|OrNull|Resample|ArgMin|ArgMax)$/i;

const FORMATS =
  /^(JSON\w*|CSV\w*|TabSeparated\w*|TSV\w*|TSKV|Pretty\w*|Native|RowBinary\w*|Parquet|Arrow|ArrowStream|ORC|Avro|MsgPack|XML|Markdown|Values|Vertical|Null|RawBLOB|SQLInsert|NDJSON)$/;

const FIXED_SETTINGS = Object.fromEntries(
  Object.entries(ANALYST_SETTINGS).map(([name, value]) => [name, String(value)]),
);
/** `output_format_schema` names a file to write. */
const FREE_SETTINGS =
  /^(?!output_format_schema$)(output_format_\w+|format_csv_delimiter|date_time_output_format|extremes|final|join_use_nulls|limit|offset|log_comment|session_timezone)$/;

const NAME = '(?:\\w+|`[^`\\\\]+`)';
const PATTERN = "'(?:[^'\\\\]|\\\\.)*'";
/** Statements other than SELECT, whole and in canonical form. */
const SIMPLE_STATEMENTS = [
  new RegExp(`^SHOW (?:FULL )?(?:TABLES|COLUMNS)(?: FROM ${NAME}){0,2}(?: (?:NOT )?I?LIKE ${PATTERN})?$`),
  new RegExp(`^SHOW DATABASES(?: (?:NOT )?I?LIKE ${PATTERN})?$`),
  new RegExp(`^SHOW CREATE (?:TABLE|VIEW) (?:(?:${VIEWS}|default)\\.)?${NAME}$`),
  new RegExp(`^(?:DESCRIBE|EXISTS) (?:TABLE|VIEW) (?:(?<database>${NAME})\\.)?${NAME}$`),
];
const TEXTS_AND_NAMES = /'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`/g;
const OUTPUT_FORMAT = new RegExp(`^(?<statement>.*?) FORMAT (?<format>${NAME})$`, 's');

export async function readOnly(runner: Runner): Promise<StatementPolicy> {
  const functions = await allowedFunctions(runner);
  return (request, body) => authorize(request, body, runner, functions);
}

/** Lower-case names. */
async function allowedFunctions(runner: Runner): Promise<Set<string>> {
  const rejected = REJECTED_CATEGORIES.map((category) => `'${category}'`).join();
  const result = await runner.run({
    sql: `SELECT lower(name) FROM system.functions WHERE is_aggregate OR (origin = 'System' AND
      (alias_to != '' ? alias_to : name) IN (SELECT name FROM system.functions WHERE categories NOT IN (${rejected})))`,
    format: 'TabSeparated',
    database: '',
    settings: {},
    params: {},
    cancellable: true,
    inserts: false,
  });
  const names = Buffer.from(result.bytes()).toString('utf8').trim().split('\n');
  const allowed = [...names, ...EXTRA_FUNCTIONS.map((name) => name.toLowerCase())];
  return new Set(allowed.filter((name) => !UNINTERRUPTIBLE_FUNCTIONS.test(name)));
}

async function authorize(
  request: SqlRequest,
  body: Body,
  runner: Runner,
  functions: ReadonlySet<string>,
): Promise<PermittedStatement> {
  if (body.encoding !== undefined) {
    throw new SqlError(CODE.unknownCompressionMethod, `Unknown compression method ${body.encoding}`);
  }
  const database = request.database || VIEWS;
  if (!DATABASES.has(database)) throw denied(`database ${database}`);
  const settings = allowedSettings(request.settings);
  const text = canonicalOutput(
    await canonical([request.query, body.data.toString('utf8')].filter(Boolean).join('\n'), runner),
    request.format,
  );
  if (!FORMATS.test(text.format)) throw denied(`format ${text.format}`);
  if (/^\(*(SELECT|WITH)\b/.test(text.statement)) {
    rejectClauses(text.statement);
    const tree = await syntaxTree(text.statement, request.params, runner);
    if (!tree) throw new SqlError(CODE.accessDenied, 'A name has characters that are not allowed');
    checkTree(tree, functions);
  } else checkSimple(text.statement);
  return {
    statement: {
      sql: text.statement,
      format: text.format,
      database,
      settings,
      params: request.params,
      cancellable: true,
      inserts: false,
    },
    format: text.format,
  };
}

const denied = (what: string) => new SqlError(CODE.accessDenied, `Not allowed here: ${what}`);
const readonly = (what: string) =>
  new SqlError(CODE.readonly, `${what} in readonly mode: only SELECT, SHOW, DESCRIBE and EXISTS`);

/** Lower limits and output settings pass; any other setting throws. */
function allowedSettings(requested: Record<string, string>): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [name, limit] of Object.entries(ANALYST_LIMITS)) {
    const value = Number(requested[name] ?? limit);
    settings[name] = String(value > 0 && value < limit ? value : limit);
  }
  for (const [name, value] of Object.entries(requested)) {
    if (name in ANALYST_LIMITS || FIXED_SETTINGS[name] === value) continue;
    if (!FREE_SETTINGS.test(name)) {
      throw new SqlError(CODE.readonly, `Cannot modify '${name}' setting in readonly mode`);
    }
    settings[name] = value;
  }
  return { ...settings, ...FIXED_SETTINGS };
}

/** Separates the format from a statement, since a request may name it elsewhere. */
function canonicalOutput(sql: string, fallback: string): { statement: string; format: string } {
  const groups = OUTPUT_FORMAT.exec(sql)?.groups;
  if (!groups) return { statement: sql, format: fallback };
  const { statement = '', format = '' } = groups;
  return { statement, format: format.replaceAll('`', '') };
}

/** Rejects clauses whose content the syntax tree does not show. */
function rejectClauses(statement: string): void {
  const bare = statement.replaceAll(TEXTS_AND_NAMES, "''");
  if (/\bINTO OUTFILE\b/.test(bare)) throw readonly('Cannot write files');
  if (/\bSETTINGS\b/.test(bare))
    throw readonly('Cannot change settings in a statement, only with the request,');
  if (/\bFORMAT\b/.test(bare)) throw readonly('Cannot name a format inside of a statement');
}

function checkSimple(statement: string): void {
  const match = SIMPLE_STATEMENTS.map((pattern) => pattern.exec(statement)).find(Boolean);
  if (!match) throw readonly(`Cannot execute ${/^\w+/.exec(statement)?.[0] ?? 'this'}`);
  const database = match.groups?.database?.replaceAll('`', '');
  if (database !== undefined && !DATABASES.has(database) && database !== 'system') {
    throw denied(`database ${database}`);
  }
}

function checkTree(tree: Node, functions: ReadonlySet<string>): void {
  let listsFolders = false;
  let matches = false;
  const functionOfTable = new Set<Node>();
  for (const node of nodes(tree)) {
    const { kind, name } = node;
    if (!NODE_KINDS.has(kind)) throw readonly(`Cannot execute ${kind}`);
    if (MATCHERS.test(kind)) matches = true;
    if (kind === 'TableExpression') {
      for (const child of node.children) {
        if (child.kind === 'Function' && !TABLE_FUNCTIONS.has(child.name.toLowerCase())) {
          throw denied(`table function ${child.name}`);
        }
        if (child.kind === 'Function') functionOfTable.add(child);
      }
    } else if (kind === 'Function' && !functionOfTable.has(node)) {
      if (!isAllowed(name, functions)) throw denied(`function ${name}`);
      checkPattern(node);
    } else if (kind === 'TableIdentifier' || kind === 'Identifier') {
      const [database = '', ...rest] = name.split('.');
      const isSystem = database.toLowerCase() === 'system' && rest.length > 0;
      const table = rest.join('.');
      if (isSystem && TABLES_WITH_FOLDERS.has(table)) listsFolders = true;
      else if (isSystem && !SYSTEM_TABLES.has(table)) throw denied(`table ${name}`);
      else if (kind === 'TableIdentifier' && rest.length > 0 && !isSystem && !DATABASES.has(database)) {
        throw denied(`database ${database}`);
      }
    }
  }
  if (!listsFolders) return;
  if (matches) throw denied('* of system.tables and system.databases; name the columns');
  for (const { kind, name } of nodes(tree)) {
    if (kind === 'Identifier' && FOLDER_COLUMNS.has(name.split('.').at(-1) ?? '')) {
      throw denied(`column ${name}`);
    }
  }
}

/** A pattern must be a literal or a parameter, so that its length is known. */
function checkPattern({ name, children }: Node): void {
  const argument = PATTERN_ARGUMENT.get(name.toLowerCase());
  if (argument === undefined) return;
  const pattern = children[0]?.children[argument];
  if (!pattern || lengthOf(pattern) > MAX_PATTERN_LENGTH) {
    throw denied(`a pattern of ${name} that is not a text of at most ${MAX_PATTERN_LENGTH} characters`);
  }
}

/** Characters of a text built from literals, quotes and escapes included; infinite for any other expression. */
function lengthOf({ kind, name, children }: Node): number {
  if (kind === 'Literal') return name.length;
  const isText = kind === 'ExpressionList' || (kind === 'Function' && TEXT_FUNCTIONS.test(name));
  return isText ? children.reduce((length, child) => length + lengthOf(child), 0) : Number.POSITIVE_INFINITY;
}

function isAllowed(name: string, functions: ReadonlySet<string>): boolean {
  for (let base = name; ; ) {
    if (functions.has(base.toLowerCase())) return true;
    const shorter = base.replace(COMBINATORS, '');
    if (shorter === base) return false;
    base = shorter;
  }
}
