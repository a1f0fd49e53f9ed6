/** Reads statements with the engine's own parser. */
import { printedStatement, type Sql, sql, textLiteral } from '../shared/sql.js';
import { CODE, SqlError } from './errors.js';
import { checkSettings } from './settings.js';
import type { Runner, RunOne, Surroundings } from './statement.js';

/** Surroundings of the endpoint's own statements about the engine. */
const OWN: Surroundings = { role: 'owner', database: '', settings: { readonly: '1' }, params: {} };

/** Runs a statement of the endpoint itself. Its only column contains no tabs, line feeds or backslashes. */
export async function firstColumn(statement: Sql, runner: Runner): Promise<string[]> {
  const result = await runner.run({ ...OWN, sql: statement, format: 'TabSeparated' });
  return Buffer.from(result.bytes()).toString('utf8').split('\n').slice(0, -1);
}

/**
 * Limits of the length of a check. A check contains the canonical text twice, as quoted texts, with spaces that the statement lacks and
 * with each quote doubled.
 */
const CHECK_LENGTH = { factor: 16, least: 1000 };

/** Opens a connection for checking a statement, with no more rights than the statement will have. */
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

/**
 * The statement on one line without comments. If the query has no statement or several statements, throws the `SqlError` that a server
 * would.
 */
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

/**
 * The name in ` name (alias x) (children 2)`, in which each part is optional. The name ends where the first of the other parts may begin.
 */
export function nodeName(rest: string): string {
  let end = CHILDREN.exec(rest)?.index ?? rest.length;
  const alias = rest.endsWith(')') ? rest.indexOf(ALIAS) : -1;
  if (alias >= 0) end = Math.min(end, alias);
  return rest.slice(1, end);
}

/** A canonical statement as SQL. Throws a `SqlError` for text that the engine could read in another way. */
export function printed(statement: string): Sql {
  try {
    return printedStatement(statement);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new SqlError(CODE.ACCESS_DENIED, `Not allowed here: ${error.message}`);
  }
}

const SCOPE = ': In scope SELECT formatQuerySingleLine';

/** An error message without the statement that `canonical` wraps around the user's statement. */
function withoutScope(message: string): string {
  const from = message.indexOf(SCOPE);
  const to = message.lastIndexOf('. (');
  return from < 0 || to < from + SCOPE.length ? message : message.slice(0, from) + message.slice(to);
}

/** Whether the engine prints the text unchanged. In that case, every bracket, text and name that begins in the text also ends in it. */
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
 * The syntax tree of a canonical SELECT, with the values of its parameters; null if the tree is ambiguous. The engine parses the SELECT in
 * brackets after FROM, where its grammar allows neither INTO OUTFILE nor FORMAT: the engine itself rejects both, whatever this module takes
 * for a text. Because the SELECT alone is canonical, none of its brackets closes the outer bracket.
 */
export async function syntaxTree(select: string, run: RunOne): Promise<Node | null> {
  if (!(await isCanonical(select, run))) return null;
  const explained = await run(sql`EXPLAIN AST SELECT * FROM (${printed(select)}\n)`, 'LineAsString');
  const lines = Buffer.from(explained.bytes()).toString('utf8').split('\n').slice(0, -1);
  const open: Node[] = [];
  const declared = new Map<Node, number>();
  for (const line of lines) {
    const groups = LINE.exec(line)?.groups;
    // A line that does not match: a line feed in a name would be parsed as a node.
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
