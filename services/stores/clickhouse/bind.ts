/** Binds settings and parameters to statements. */
import { checkedIdentifier, joinSql, type Sql, sql, textLiteral } from '../../shared/sql.js';

export type Setting = string | number;

export type Param = string | number | readonly string[];

/** Values in the escaped form in which the engine reads parameters. */
export const parameterTexts = (params: Record<string, Param>): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, parameterText(value)]));

function parameterText(value: Param): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return `[${value.map((item) => `'${parameterText(item)}'`).join(',')}]`;
  return value
    .replaceAll('\\', '\\\\')
    .replaceAll("'", "\\'")
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r');
}

/** Names of the `{name:Type}` placeholders of a statement. */
export function placeholders({ text }: Sql): string[] {
  return Array.from(text.matchAll(/\{(\w+):/g), (match) => match[1] as string);
}

/** Pattern of names of settings and parameters that a client may choose. */
export const NAME_PATTERN = '^[A-Za-z_][A-Za-z0-9_]{0,63}$';

/**
 * A `SET` statement with the settings of a connection and the escaped parameters of the next statement. Throws `RangeError` for a name that
 * is not an identifier, because the engine would run any other text as SQL. The engine still binds the values. This code does not use the
 * binding API of chdb, which runs one query at a time in the whole process, whichever connection the query is on: one slow report would
 * delay all others.
 */
export function preamble(settings: Record<string, Setting>, params: Record<string, string>): Sql {
  const assignments = [
    ...Object.entries(settings).map(([name, value]) => assignment(name, value)),
    ...Object.entries(params).map(([name, value]) => assignment(`param_${name}`, value)),
  ];
  return sql`SET ${joinSql(assignments, ', ')}`;
}

const assignment = (name: string, value: Setting): Sql =>
  sql`${checkedIdentifier(name)} = ${typeof value === 'number' ? value : textLiteral(value)}`;
