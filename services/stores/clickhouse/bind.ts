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

export const literal = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** Names of the `{name:Type}` placeholders of a statement. */
export function placeholders(sql: string): string[] {
  return Array.from(sql.matchAll(/\{(\w+):/g), (match) => match[1] as string);
}

/**
 * One `SET` statement that gives a connection its settings and binds the parameters, in escaped form, of the statement after it.
 *
 * The engine still binds the values. The binding API of chdb is not used because it runs one query at a time
 * in the whole process, whichever connection it is on, so one slow report would delay every other.
 */
export function preamble(settings: Record<string, Setting>, params: Record<string, string>): string {
  const assignments = Object.entries(settings).map(
    ([name, value]) => `${name} = ${typeof value === 'number' ? value : literal(value)}`,
  );
  for (const [name, value] of Object.entries(params)) assignments.push(`param_${name} = ${literal(value)}`);
  return `SET ${assignments.join(', ')};`;
}
