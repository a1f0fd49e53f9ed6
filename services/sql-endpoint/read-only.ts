/**
 * Decides what analysts may run on the embedded engine. The engine's own parser reads a statement, and the engine runs the text that this
 * parser printed, so comments, quotes and case cannot make the checked statement differ from the statement that runs. Everything that is
 * allowed is allowed by name. The engine runs the statement read-only, which rejects writes a second time.
 */
import { blankedTexts, identifier, joinSql, type Sql, sql, textLiteral } from '../shared/sql.js';
import { COPIED_TABLES, nextOf } from '../stores/common/sql-copy.js';
import type { Body } from './body.js';
import { CODE, SqlError } from './errors.js';
import { canonical, checking, firstColumn, type Node, nodes, printed, syntaxTree } from './parser.js';
import type { StatementRequest } from './request.js';
import { allowedSettings, takeSettings } from './settings.js';
import type { Runner, RunOne, Statement } from './statement.js';

export const VIEWS = 'reachline';
const DATABASES = new Set([VIEWS, 'information_schema', 'INFORMATION_SCHEMA']);
/** Drivers connect to this database by default. It also holds the tables of the views, which are hidden. */
const DEFAULT_DATABASE = 'default';
/** Tables that describe the engine. They contain no folders, no statements of other users, and no data about the machine. */
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
/**
 * Tables of the catalog that clients list. Filters hide Reachline's tables, and so their folders. The columns `FOLDER_COLUMNS` of
 * `databases` are rejected.
 */
const CATALOG_TABLES = new Set(['databases', 'tables']);
const FOLDER_COLUMNS = new Set(['data_path', 'metadata_path']);
/** Filters on the catalog: they determine what statements, including `SHOW`, see of the catalog. */
const textList = (texts: Iterable<string>) => joinSql(Array.from(texts, textLiteral), ', ');
const VISIBLE_DATABASES = textList(DATABASES);
const VISIBLE_SYSTEM_TABLES = textList([...SYSTEM_TABLES, ...CATALOG_TABLES]);
const visible = (table: Sql) =>
  sql`database IN (${VISIBLE_DATABASES}) OR (database = 'system' AND ${table} IN (${VISIBLE_SYSTEM_TABLES}))`;
const CATALOG_FILTERS = {
  'system.databases': sql`name IN (${VISIBLE_DATABASES}, 'system')`,
  'system.tables': visible(identifier('name')),
  'system.columns': visible(identifier('table')),
  'system.data_skipping_indices': visible(identifier('table')),
  // Hides statements of other organizations, because a statement that sees other statements could kill them.
  'system.processes': sql`0`,
};
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
  'DescribeQuery',
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
/** Functions that are allowed although they are in a category above, or that the parser produces. */
const EXTRA_FUNCTIONS = [
  '_CAST',
  'bar',
  'caseWithExpression',
  'countDigits',
  'currentDatabase',
  'currentUser',
  'defaultValueOfTypeName',
  'displayName',
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
  'revision',
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
 * Functions that take seconds for two texts in one call per block, during which the engine checks neither its time limit nor `KILL QUERY`.
 */
const UNINTERRUPTIBLE_FUNCTIONS =
  /^(timeSeriesReplaceTag|editDistance|levenshteinDistance|damerauLevenshteinDistance|jaro|arrayLevenshteinDistance|arraySimilarity|multiMatch|multiFuzzyMatch|multiSearch|polygons|seriesDecomposeSTL)/i;
/** Position of the pattern argument, by lower-case name of the function. A pattern of 60 000 characters takes 20 s for a single text. */
const PATTERN_ARGUMENT = new Map([
  ...(
    'like ilike notlike notilike match regexp_matches extract extractall extractgroups extractallgroups extractallgroupshorizontal ' +
    'extractallgroupsvertical regexpextract regexp_extract regexp_substr regexpposition regexpinstr regexp_instr replaceregexpone ' +
    'replaceregexpall regexp_replace countmatches countmatchescaseinsensitive mapcontainskeylike mapcontainsvaluelike ' +
    'mapextractkeylike mapextractvaluelike'
  )
    .split(' ')
    .map((name): [string, number] => [name, 1]),
  // A search for a long text takes time proportional to the product of both lengths.
  ...(
    'position positionutf8 positioncaseinsensitive positioncaseinsensitiveutf8 countsubstrings countsubstringscaseinsensitive ' +
    'countsubstringscaseinsensitiveutf8 replace replaceone replaceall hasall hasany hassubstr'
  )
    .split(' ')
    .map((name): [string, number] => [name, 1]),
  ['locate', 0],
  ['instr', 1],
  ['splitbyregexp', 0],
  ['splitbystring', 0],
  ['tokensforlikepattern', 0],
]);
/** Functions whose result is never longer than their arguments together. */
const TEXT_FUNCTIONS = /^(array|concat|lower|upper|lowerUTF8|upperUTF8|_?CAST|toString)$/i;
const MAX_PATTERN_LENGTH = 1000;
const LONG_COLUMNS_PATTERN = new RegExp(`\\bCOLUMNS\\(' {${MAX_PATTERN_LENGTH + 1},}'`);

/** Position of the argument that names a type, by lower-case name of the function. Negative positions count from the end. */
const TYPE_ARGUMENT = new Map([
  ...'cast _cast accuratecast accuratecastornull accuratecastordefault reinterpret dynamicelement variantelement'
    .split(' ')
    .map((name): [string, number] => [name, 1]),
  ['defaultvalueoftypename', 0],
  ['jsonextract', -1],
  ['jsonextractcaseinsensitive', -1],
]);
/** Types whose values the engine reads from bytes that it trusts. Forged bytes would cause an endless loop. */
const STATES = /AggregateFunction/i;

const COMBINATORS =
  /(If|Array|Map|SimpleState|State|Merge|MergeState|ForEach|Distinct|OrDefault|OrNull|Resample|ArgMin|ArgMax)$/i;

const FORMATS =
  /^(JSON\w*|CSV\w*|ODBCDriver2|TabSeparated\w*|TSV\w*|TSKV|Pretty\w*|Native|RowBinary\w*|Parquet|Arrow|ArrowStream|ORC|Avro|MsgPack|XML|Markdown|Values|Vertical|Null|RawBLOB|SQLInsert|NDJSON)$/;

const NAME = '(?:\\w+|`[^`\\\\]+`)';
const PATTERN = "'(?:[^'\\\\]|\\\\.)*'";
const LIKE = `(?: (?:NOT )?I?LIKE ${PATTERN})?(?: LIMIT \\d+)?`;
/** Complete statements other than SELECT, in canonical form. */
const SIMPLE_STATEMENTS = [
  new RegExp(`^SHOW (?:EXTENDED )?(?:FULL )?(?:TABLES|COLUMNS)(?: FROM ${NAME}){0,2}${LIKE}$`),
  new RegExp(`^SHOW (?:EXTENDED )?(?:INDEX|INDEXES|INDICES|KEYS) FROM ${NAME}(?: FROM ${NAME})?$`),
  new RegExp(`^SHOW (?:DATABASES|FUNCTIONS)${LIKE}$`),
  new RegExp(`^SHOW (?:CHANGED )?SETTINGS (?:NOT )?I?LIKE ${PATTERN}$`),
  new RegExp(`^(?:SHOW CREATE|EXISTS) (?:TABLE|VIEW) (?:(?<database>${NAME})\\.)?(?<table>${NAME})$`),
];
const DESCRIBE = 'DESCRIBE TABLE ';
/** Prefix that is allowed before a SELECT: kinds and options that show a plan, but no rows of tables, sizes or indexes. */
const EXPLAIN =
  /^EXPLAIN(?: (?:AST|SYNTAX|QUERY TREE|PLAN|PIPELINE))?(?: (?:header|description|actions|json|compact|graph|oneline|optimize|run_passes|dump_ast|run_query_tree_passes|query_tree_passes) = \d+,?)* (?=\(*(?:SELECT|WITH)\b)/;
const OUTPUT_FORMAT = new RegExp(`^(?<statement>.*?) FORMAT (?<format>${NAME})$`, 's');

/** Resolves with the statement to run for a request. Throws a `SqlError` to reject the request. */
export async function readOnly(
  runner: Runner,
): Promise<(request: StatementRequest, body: Body, signal: AbortSignal) => Promise<Statement>> {
  const functions = await allowedFunctions(runner);
  const allFunctions = new Set(await firstColumn(sql`SELECT lower(name) FROM system.functions`, runner));
  const tables = await tablesOfOrganizations(runner);
  return (request, body, signal) =>
    authorize(request, body, runner, { functions, allFunctions, tables }, signal);
}

/** Lower-case names of the functions that statements may call. */
async function allowedFunctions(runner: Runner): Promise<Set<string>> {
  const rejected = joinSql(REJECTED_CATEGORIES.map(textLiteral), ', ');
  const extra = joinSql(
    EXTRA_FUNCTIONS.map((name) => textLiteral(name.toLowerCase())),
    ', ',
  );
  const names = await firstColumn(
    sql`SELECT lower(name) FROM system.functions WHERE is_aggregate OR (origin = 'System' AND
      (alias_to != '' ? alias_to : name) IN (SELECT name FROM system.functions WHERE categories NOT IN (${rejected})))
      OR lower(alias_to) IN (${extra})`,
    runner,
  );
  const allowed = [...names, ...EXTRA_FUNCTIONS.map((name) => name.toLowerCase())];
  return new Set(allowed.filter((name) => !UNINTERRUPTIBLE_FUNCTIONS.test(name)));
}

/** The tables that the views read. */
const tablesOfOrganizations = (runner: Runner) =>
  firstColumn(
    sql`SELECT table FROM system.columns WHERE database = ${textLiteral(DEFAULT_DATABASE)} AND name = 'organization_id'`,
    runner,
  );

interface PolicyDeps {
  /** Lower-case names of the allowed functions. */
  functions: ReadonlySet<string>;
  /** Lower-case names of all functions, including functions that are not allowed. */
  allFunctions: ReadonlySet<string>;
  tables: readonly string[];
}

async function authorize(
  request: StatementRequest,
  body: Body,
  runner: Runner,
  deps: PolicyDeps,
  signal: AbortSignal,
): Promise<Statement> {
  if (body.encoding !== undefined) {
    throw new SqlError(CODE.UNKNOWN_COMPRESSION_METHOD, `Unknown compression method ${body.encoding}`);
  }
  const query = [request.query, body.data.toString('utf8')].filter(Boolean).join('\n');
  return checking(query, request.params, runner, (run) => authorizeText(query, request, run, deps), signal);
}

async function authorizeText(
  query: string,
  request: StatementRequest,
  run: RunOne,
  deps: PolicyDeps,
): Promise<Statement> {
  const database = databaseOf(request);
  const text = canonicalOutput(await canonical(query, run), request.format);
  if (!FORMATS.test(text.format)) throw denied(`format ${text.format}`);
  const settings = allowedSettings({ ...request.settings, ...text.settings });
  const select = text.statement.startsWith(DESCRIBE)
    ? `SELECT 1 FROM ${text.statement.slice(DESCRIBE.length)}`
    : text.statement.replace(EXPLAIN, '');
  if (/^\(*(SELECT|WITH)\b/.test(select)) {
    rejectClauses(select);
    rejectStates([select, ...Object.values(request.params)]);
    checkIdentifiers(select, request.params);
    const tree = await syntaxTree(select, run);
    if (!tree) throw denied('a statement that the engine prints in another way');
    checkTree(tree, deps);
  } else checkSimple(text.statement);
  return {
    role: 'analyst',
    sql: printed(text.statement),
    format: text.format,
    database,
    settings: { ...settings, ...filterSettings(request.organizationId, deps.tables) },
    params: request.params,
  };
}

/**
 * Filters that the engine applies to the tables that it reads, below every view. The filters are separate from the conditions of a
 * statement: otherwise, the engine could evaluate these conditions first on hidden rows, and show the rows in an error. The engine looks
 * filters up by name while it plans, and a swap that runs then has given the table its other name.
 */
function filterSettings(organizationId: string, tables: readonly string[]): Record<string, string> {
  const filters: Record<string, Sql> = { ...CATALOG_FILTERS };
  for (const table of [...tables, ...COPIED_TABLES.map(nextOf)]) {
    filters[`${DEFAULT_DATABASE}.${table}`] = sql`organization_id = ${textLiteral(organizationId)}`;
  }
  const entries = Object.entries(filters).map(
    ([table, filter]) => sql`${textLiteral(table)}:${textLiteral(filter.text)}`,
  );
  return {
    additional_table_filters: sql`{${joinSql(entries, ', ')}}`.text,
    query_plan_merge_filters: '0',
    optimize_move_to_prewhere: '0',
  };
}

function databaseOf({ database }: StatementRequest): string {
  if (database === '' || database === DEFAULT_DATABASE) return VIEWS;
  if (!DATABASES.has(database)) throw denied(`database ${database}`);
  return database;
}

const denied = (what: string) => new SqlError(CODE.ACCESS_DENIED, `Not allowed here: ${what}`);
const readonly = (what: string) =>
  new SqlError(CODE.READONLY, `${what} in readonly mode: only SELECT, SHOW, DESCRIBE, EXPLAIN and EXISTS`);

const IDENTIFIER_PLACEHOLDER = /\{(\w+): ?Identifier\}/g;

/** Rejects line feeds in values that become names, because a line feed would begin a new node of the tree. */
function checkIdentifiers(statement: string, params: Readonly<Record<string, string>>): void {
  for (const [, name = ''] of blankedTexts(statement).matchAll(IDENTIFIER_PLACEHOLDER)) {
    const value = Object.hasOwn(params, name) ? (params[name] ?? '') : '';
    if (/[\\\p{Cc}]/u.test(value)) throw denied(`the name that is the value of ${name}`);
  }
}

interface CanonicalText {
  statement: string;
  format: string;
  settings: Record<string, string>;
}

/** Separates format and settings from a statement, in either order, because a request may give both outside the statement. */
function canonicalOutput(sql: string, fallback: string): CanonicalText {
  const behind = takeSettings(sql);
  const { statement = behind.statement, format = fallback } =
    OUTPUT_FORMAT.exec(behind.statement)?.groups ?? {};
  const before = takeSettings(statement);
  return {
    statement: before.statement,
    format: format.replaceAll('`', ''),
    settings: { ...before.settings, ...behind.settings },
  };
}

/** Rejects clauses whose content the syntax tree does not show. */
function rejectClauses(statement: string): void {
  const bare = blankedTexts(statement);
  if (/\bINTO OUTFILE\b/.test(bare)) throw readonly('Cannot write files');
  if (/\bSETTINGS\b/.test(bare))
    throw readonly('Cannot change settings inside of a statement, only at its end,');
  if (/\bFORMAT\b/.test(bare)) throw readonly('Cannot name a format inside of a statement');
  // A pattern of 240 000 characters takes 8 s, which neither a time limit nor `KILL QUERY` ends.
  if (LONG_COLUMNS_PATTERN.test(bare))
    throw denied(`a pattern of COLUMNS longer than ${MAX_PATTERN_LENGTH} characters`);
}

/** Rejects types of aggregate function states, also in placeholders and texts. `sumState(x)` makes a state without naming its type. */
function rejectStates(texts: readonly string[]): void {
  if (texts.some((text) => STATES.test(text))) throw denied('the type AggregateFunction');
}

function checkSimple(statement: string): void {
  const match = SIMPLE_STATEMENTS.map((pattern) => pattern.exec(statement)).find(Boolean);
  if (!match) throw readonly(`Cannot execute ${/^\w+/.exec(statement)?.[0] ?? 'this'}`);
  const { database, table } = match.groups ?? {};
  if (database !== undefined) checkTable([database, table ?? ''].map((name) => name.replaceAll('`', '')));
}

const HIDDEN_DATABASES = /^(system|default)$/i;
const LISTS_CATALOG = /^system\.(databases|tables)(\.|$)/i;
const LISTS_DATABASES = /^system\.databases(\.|$)/i;

/** Throws unless a table may be read. The path is `[table]` or `[database, table]`. */
function checkTable([database = '', ...rest]: readonly string[]): void {
  if (rest.length === 0 || DATABASES.has(database)) return;
  const table = rest.join('.');
  if (database.toLowerCase() !== 'system') throw denied(`database ${database}`);
  if (!SYSTEM_TABLES.has(table) && !CATALOG_TABLES.has(table)) throw denied(`table ${database}.${table}`);
}

function checkTree(tree: Node, { functions, allFunctions }: PolicyDeps): void {
  let listsCatalog = false;
  let listsDatabases = false;
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
        if (child.kind !== 'Function') continue;
        functionOfTable.add(child);
        checkStructure(child);
      }
    } else if (kind === 'Function' && !functionOfTable.has(node)) {
      if (!isAllowed(name, functions)) throw denied(`function ${name}`);
      checkPattern(node);
      checkType(node);
      checkReferences(node, functions, allFunctions);
    } else if (kind === 'TableIdentifier') {
      checkTable(name.split('.'));
    } else if (kind === 'Identifier') {
      const path = name.split('.');
      // After IN, a path may name a table. Only the hidden databases need a check: any other first part is the alias of a table.
      if (path.length > 1 && HIDDEN_DATABASES.test(path[0] ?? '')) checkTable(path.slice(0, 2));
    }
    if (!kind.endsWith('Identifier')) continue;
    if (LISTS_CATALOG.test(name)) listsCatalog = true;
    if (LISTS_DATABASES.test(name)) listsDatabases = true;
  }
  if (matches && listsDatabases) throw denied('* of system.databases; name the columns');
  if (!listsCatalog) return;
  for (const { kind, name } of nodes(tree)) {
    if (kind === 'Identifier' && FOLDER_COLUMNS.has(name.split('.').at(-1) ?? '')) {
      throw denied(`column ${name}`);
    }
  }
}

/** Table functions whose first argument, if it is a text, is parsed as columns with expressions such as `ALIAS file('…')`. */
const TAKES_STRUCTURE = /values$/i;
const NO_TEXT = /^(?:Tuple_|-?\d|[A-Z]\w*\d_)/;

/** Rejects a text as the first argument of `values`, and any expression that could become a text. */
function checkStructure({ name, children }: Node): void {
  const first = children[0]?.children[0];
  if (!TAKES_STRUCTURE.test(name) || !first) return;
  const isTuple = first.kind === 'Function' && first.name === 'tuple';
  const isNumber = first.kind === 'Literal' && NO_TEXT.test(first.name);
  if (!isTuple && !isNumber) throw denied(`a text as the first argument of ${name}`);
}

/** Functions that take another function by name, such as `arrayMap(lower, names)`. */
const HIGHER_ORDER = /^(array|map)/i;

/**
 * Rejects the name of a function as an argument if the function itself would be rejected, or if its pattern or type could not be checked.
 */
function checkReferences(
  { name, children }: Node,
  functions: ReadonlySet<string>,
  allFunctions: ReadonlySet<string>,
): void {
  for (const argument of children[0]?.children ?? []) {
    if (argument.kind !== 'Identifier') continue;
    const given = argument.name.toLowerCase();
    const isRejected = allFunctions.has(given) && !functions.has(given);
    const hidesArgument =
      HIGHER_ORDER.test(name) && (PATTERN_ARGUMENT.has(given) || TYPE_ARGUMENT.has(given));
    if (isRejected || hidesArgument) throw denied(`function ${argument.name}`);
  }
}

/** Rejects a pattern that is neither a literal nor a parameter, because its length is unknown. */
function checkPattern({ name, children }: Node): void {
  const argument = PATTERN_ARGUMENT.get(name.toLowerCase());
  if (argument === undefined) return;
  const pattern = children[0]?.children[argument];
  if (!pattern || lengthOf(pattern) > MAX_PATTERN_LENGTH) {
    throw denied(`a pattern of ${name} that is not a text of at most ${MAX_PATTERN_LENGTH} characters`);
  }
}

/** Rejects the name of a type that is neither a literal nor a parameter, because the type is unknown. */
function checkType({ name, children }: Node): void {
  const argument = TYPE_ARGUMENT.get(name.toLowerCase());
  const type = argument === undefined ? undefined : children[0]?.children.at(argument);
  if (type && type.kind !== 'Literal') throw denied(`a type of ${name} that is not a text`);
}

/** Characters of a text built from literals, including quotes and escapes; infinite for any other expression. */
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
