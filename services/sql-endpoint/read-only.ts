/**
 * What analysts may run on the embedded engine. A statement is judged by the engine's own parser, and what runs is the text that
 * the parser made of it, so that comments, quotes and letters cannot make the two differ. Everything is allowed by name; the
 * engine, told that it is read-only, refuses once more.
 */
import type { Body } from './body.js';
import { CODE, SqlError } from './errors.js';
import { canonical, type Node, nodes, syntaxTree } from './parser.js';
import type { SqlRequest } from './request.js';
import type { PermittedStatement, StatementPolicy } from './server.js';
import type { Runner } from './statement.js';

const VIEWS = 'reachline';
const DATABASES = new Set([VIEWS, 'default', 'information_schema', 'INFORMATION_SCHEMA']);
/** They tell of the engine, not of folders, of other people's statements or of the machine. */
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
/** Clients list these, column by column; some columns hold folders. */
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

const REFUSED_CATEGORIES = [
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
/** Of the categories above, or made by the parser. */
const MORE_FUNCTIONS = [
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
/**
 * They take seconds for two texts and are one call a block, in which the engine neither looks at its time limit nor at
 * `KILL QUERY`.
 */
const ENDLESS_FUNCTIONS =
  /^(timeSeriesReplaceTag|editDistance|levenshteinDistance|damerauLevenshteinDistance|jaro|arrayLevenshteinDistance|arraySimilarity|multiMatch|multiFuzzyMatch|multiSearch)/i;
/** Functions that take a pattern, in lower case, and which argument it is: one of 60 000 characters takes 20 s for a single text. */
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
/** They make no text that is longer than those they are given. */
const TEXT_FUNCTIONS = /^(concat|lower|upper|lowerUTF8|upperUTF8|_?CAST|toString)$/i;
const PATTERN_LENGTH = 1000;

const COMBINATORS =
  /(If|Array|Map|SimpleState|State|Merge|MergeState|ForEach|Distinct|OrDefault|OrNull|Resample|ArgMin|ArgMax)$/i;

const FORMATS =
  /^(JSON\w*|CSV\w*|TabSeparated\w*|TSV\w*|TSKV|Pretty\w*|Native|RowBinary\w*|Parquet|Arrow|ArrowStream|ORC|Avro|MsgPack|XML|Markdown|Values|Vertical|Null|RawBLOB|SQLInsert|NDJSON)$/;

/** Limits, which a request may lower. */
const LIMITS: Record<string, number> = {
  max_execution_time: 30,
  max_memory_usage: 400_000_000,
  max_threads: 2,
  max_result_rows: 1_000_000,
  max_result_bytes: 200_000_000,
  // Limits and KILL QUERY are looked at between blocks.
  max_block_size: 1024,
};
const FIXED: Record<string, string> = {
  result_overflow_mode: 'throw',
  max_bytes_before_external_group_by: '200000000',
  max_bytes_before_external_sort: '200000000',
  max_bytes_ratio_before_external_group_by: '0',
  max_bytes_ratio_before_external_sort: '0',
  allow_ddl: '0',
  allow_introspection_functions: '0',
  do_not_merge_across_partitions_select_final: '1',
  readonly: '1',
};
/** `output_format_schema` names a file to write. */
const FREE_SETTINGS =
  /^(?!output_format_schema$)(output_format_\w+|format_csv_delimiter|date_time_output_format|extremes|final|join_use_nulls|limit|offset|log_comment|session_timezone)$/;

const NAME = '(?:\\w+|`[^`\\\\]+`)';
const PATTERN = "'(?:[^'\\\\]|\\\\.)*'";
/** Statements other than SELECT, in canonical form, as a whole. */
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

/** Names in lower case. */
async function allowedFunctions(runner: Runner): Promise<Set<string>> {
  const refused = REFUSED_CATEGORIES.map((category) => `'${category}'`).join();
  const result = await runner.run({
    sql: `SELECT lower(name) FROM system.functions WHERE is_aggregate OR (origin = 'System' AND
      (alias_to != '' ? alias_to : name) IN (SELECT name FROM system.functions WHERE categories NOT IN (${refused})))`,
    format: 'TabSeparated',
    database: '',
    settings: {},
    params: {},
    cancellable: true,
    inserts: false,
  });
  const names = Buffer.from(result.bytes()).toString('utf8').trim().split('\n');
  const allowed = [...names, ...MORE_FUNCTIONS.map((name) => name.toLowerCase())];
  return new Set(allowed.filter((name) => !ENDLESS_FUNCTIONS.test(name)));
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
    refuseClauses(text.statement);
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

/** Limits where they are lower, whatever concerns the output, and nothing else. */
function allowedSettings(given: Record<string, string>): Record<string, string> {
  const settings: Record<string, string> = {};
  for (const [name, limit] of Object.entries(LIMITS)) {
    const asked = Number(given[name] ?? limit);
    settings[name] = String(asked > 0 && asked < limit ? asked : limit);
  }
  for (const [name, value] of Object.entries(given)) {
    if (name in LIMITS || FIXED[name] === value) continue;
    if (!FREE_SETTINGS.test(name)) {
      throw new SqlError(CODE.readonly, `Cannot modify '${name}' setting in readonly mode`);
    }
    settings[name] = value;
  }
  return { ...settings, ...FIXED };
}

/** Takes the format off a statement, since it may stand in the request as well. */
function canonicalOutput(sql: string, fallback: string): { statement: string; format: string } {
  const groups = OUTPUT_FORMAT.exec(sql)?.groups;
  if (!groups) return { statement: sql, format: fallback };
  const { statement = '', format = '' } = groups;
  return { statement, format: format.replaceAll('`', '') };
}

/** Clauses that the tree shows no more than the place of. */
function refuseClauses(statement: string): void {
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

/** A pattern has to stand in the statement or in a parameter, so that its length is known. */
function checkPattern({ name, children }: Node): void {
  const argument = PATTERN_ARGUMENT.get(name.toLowerCase());
  if (argument === undefined) return;
  const pattern = children[0]?.children[argument];
  if (!pattern || lengthOf(pattern) > PATTERN_LENGTH) {
    throw denied(`a pattern of ${name} that is not a text of at most ${PATTERN_LENGTH} characters`);
  }
}

/** Characters of a text made of literals, quotes and escapes included. */
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
