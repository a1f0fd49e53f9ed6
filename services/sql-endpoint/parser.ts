/** Statements as the engine's own parser reads them. */
import { printedStatement, type Sql, sql, textLiteral } from '../shared/sql.js';
import { CODE, SqlError } from './errors.js';
import { checkSettings } from './settings.js';
import type { Runner, RunOne, Surroundings } from './statement.js';

/** Surroundings of the endpoint's own statements about the engine. */
const OWN: Surroundings = { role: 'owner', database: '', settings: { readonly: '1' }, params: {} };

/** Runs a statement of the endpoint itself; its one column has no tabs, line feeds or backslashes. */
export async function firstColumn(statement: Sql, runner: Runner): Promise<string[]> {
  const result = await runner.run({ ...OWN, sql: statement, format: 'TabSeparated' });
  return Buffer.from(result.bytes()).toString('utf8').split('\n').slice(0, -1);
}

/** Checks hold the canonical text twice, as texts: with spaces that the statement has not, and each quote doubled. */
const CHECK_LENGTH = { factor: 16, least: 1000 };

/** Opens a connection that checks a statement: it has no more rights than the statement gets. */
export const checking = <T>(
  query: string,
  params: Record<string, string>,
  runner: Runner,
  work: (run: RunOne) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> => {
  const maxLength = CHECK_LENGTH.factor * query.length + CHECK_LENGTH.least;
  const settings = { max_query_size: String(maxLength), ...checkSettings() };
  return runner.connected({ role: 'analyst', database: '', settings, params }, work, signal);
};

/** The statement on one line without comments. Throws the `SqlError` of a server for several statements or none. */
export async function canonical(query: string, run: RunOne): Promise<string> {
  try {
    const result = await run(sql`SELECT formatQuerySingleLine(${textLiteral(query)})`, 'RawBLOB');
    return Buffer.from(result.bytes()).toString('utf8');
  } catch (error) {
    const { clickhouseCode, message } = error as { clickhouseCode?: number; message: string };
    if (clickhouseCode === undefined) throw error;
    throw new SqlError(clickhouseCode, withoutScope(message));
  }
}

/** A node of a syntax tree, such as `Function` with the name `sum`. */
export interface Node {
  kind: string;
  name: string;
  children: Node[];
}

const LINE = /^(?<indent> *)(?<kind>[A-Za-z:]+)(?<rest> .*)?$/;
const ALIAS = ' (alias ';
const CHILDREN = / \(children (\d+)\)$/;

/** The name in ` name (alias x) (children 2)`, each part optional; it ends where the first of the other parts may begin. */
export function nodeName(rest: string): string {
  let end = CHILDREN.exec(rest)?.index ?? rest.length;
  const alias = rest.endsWith(')') ? rest.indexOf(ALIAS) : -1;
  if (alias >= 0) end = Math.min(end, alias);
  return rest.slice(1, end);
}

/** A canonical statement as SQL. Throws the `SqlError` of one with text that the engine could read in another way. */
export function printed(statement: string): Sql {
  try {
    return printedStatement(statement);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SqlError(CODE.ACCESS_DENIED, `Not allowed here: ${error.message}`);
  }
}

const SCOPE = ': In scope SELECT formatQuerySingleLine';

/** An error message without the statement that `canonical` wraps around the user's. */
function withoutScope(message: string): string {
  const from = message.indexOf(SCOPE);
  const to = message.lastIndexOf('. (');
  return from < 0 || to < from + SCOPE.length ? message : message.slice(0, from) + message.slice(to);
}

/** Whether the engine prints a text as it is, which then has whole brackets, texts and names when it stands alone. */
async function isCanonical(statement: string, run: RunOne): Promise<boolean> {
  const text = textLiteral(statement);
  const result = await run(sql`SELECT toUInt8(formatQuerySingleLine(${text}) = ${text})`, 'RawBLOB');
  return result.bytes()[0] === 1;
}

/** Path from the root of a tree to a statement in brackets after FROM. */
const PLACE = [
  'SelectWithUnionQuery',
  'ExpressionList',
  'SelectQuery',
  'TablesInSelectQuery',
  'TablesInSelectQueryElement',
  'TableExpression',
  'Subquery',
];

/**
 * The tree of a canonical SELECT, with the values of its parameters. Null when it is ambiguous.
 *
 * The engine parses it in brackets behind FROM, where its grammar knows neither INTO OUTFILE nor FORMAT: it refuses them itself, whatever
 * this module takes for a text. As the SELECT alone is canonical, none of its brackets closes that one.
 */
export async function syntaxTree(select: string, run: RunOne): Promise<Node | null> {
  if (!(await isCanonical(select, run))) return null;
  const explained = await run(sql`EXPLAIN AST SELECT * FROM (${printed(select)}\n)`, 'LineAsString');
  const lines = Buffer.from(explained.bytes()).toString('utf8').split('\n').slice(0, -1);
  const open: Node[] = [];
  const declared = new Map<Node, number>();
  for (const line of lines) {
    const groups = LINE.exec(line)?.groups;
    // A line feed in a name would be parsed as a node.
    if (!groups) return null;
    const { indent = '', kind = '', rest = '' } = groups;
    if (indent.length > open.length) return null;
    const node = { kind, name: nodeName(rest), children: [] };
    declared.set(node, Number(CHILDREN.exec(rest)?.[1] ?? 0));
    open.length = indent.length;
    open.at(-1)?.children.push(node);
    open.push(node);
  }
  for (const [node, children] of declared) if (node.children.length !== children) return null;
  return statementAt(open[0]);
}

function statementAt(root: Node | undefined): Node | null {
  let node = root;
  for (const kind of PLACE) {
    if (node?.kind !== kind) return null;
    node = node.children.at(-1);
  }
  // A second child would be the file or the format of the output.
  return node?.kind === 'SelectWithUnionQuery' && node.children.length === 1 ? node : null;
}

export function* nodes(tree: Node): Generator<Node> {
  yield tree;
  for (const child of tree.children) yield* nodes(child);
}
