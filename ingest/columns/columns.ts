/** Converts the columns of a CSV file to the fields of a stream's records. */
import type { TObject, TSchema } from 'typebox';
import { didYouMean } from '../../services/shared/did-you-mean.js';
import type { DeadLetter } from '../records/outcome.js';
import type { Stream } from '../streams/stream.js';

/** Converts the cells of a row, in the order of the header, to a record. */
export type ToRecord = (cells: readonly string[]) => { record: Record<string, unknown> } | DeadLetter;

/** The columns of a file do not fit its stream; no record was read. The message says what to change. */
export class ColumnsError extends Error {
  override readonly name = 'ColumnsError';
}

/** The content of a `--columns` file. Columns it does not mention must have the name of a field. */
export interface ColumnMapping {
  /** Column to field. Several columns may share a field that holds a list. */
  columns?: Record<string, string>;
  /** Fields that have the same value in every record. */
  constants?: Record<string, unknown>;
  /** Columns to leave out; "rest" leaves out all that are not mentioned. */
  ignore?: string[] | 'rest';
}

const LIST_SEPARATOR = ';';
type Kind = 'text' | 'number' | 'boolean' | 'list';

/** Plans the conversion. Throws a `ColumnsError` that names every unknown column and field. */
export function planColumns(
  stream: Stream,
  header: readonly string[],
  mapping: ColumnMapping = {},
): ToRecord {
  const properties = (stream.schema as TObject).properties as Record<string, TSchema>;
  const fields = Object.keys(properties);
  const problems: string[] = [];
  const targets: { index: number; field: string; kind: Kind }[] = [];
  const ignored = new Set(mapping.ignore === 'rest' ? [] : mapping.ignore);
  const takenBy = new Map<string, string>();

  for (const column of [...Object.keys(mapping.columns ?? {}), ...ignored]) {
    if (!header.includes(column)) problems.push(`The file has no column ${JSON.stringify(column)}.`);
  }
  for (const field of Object.keys(mapping.constants ?? {})) {
    if (!fields.includes(field)) problems.push(unknown('field', field, fields));
  }
  for (const [index, column] of header.entries()) {
    const mapped = mapping.columns?.[column];
    if (mapped === undefined && ignored.has(column)) continue;
    const field = mapped ?? column;
    if (mapped === undefined && stream.derivedFields?.includes(column)) continue;
    const alias = mapped === undefined ? stream.aliases?.[column] : undefined;
    const known = alias !== undefined && header.includes(alias) ? alias : field;
    const schema = Object.hasOwn(properties, known) ? properties[known] : undefined;
    if (schema === undefined) {
      if (mapped === undefined && mapping.ignore === 'rest') continue;
      if (mapped === undefined && column === '') {
        problems.push(`Column ${index + 1} has no name.`);
      } else problems.push(unknown(mapped === undefined ? 'column' : 'field', field, fields));
      continue;
    }
    const kind = kindOf(schema);
    const other = takenBy.get(field);
    if (other !== undefined && kind !== 'list') {
      problems.push(`The columns ${JSON.stringify(other)} and ${JSON.stringify(column)} both give ${field}.`);
    }
    takenBy.set(field, column);
    targets.push({ index, field, kind });
  }
  if (problems.length > 0) throw new ColumnsError(problems.join('\n'));
  const constants = mapping.constants ?? {};

  return (cells) => {
    const record: Record<string, unknown> = { ...constants };
    for (const { index, field, kind } of targets) {
      const text = unmarkFormula(cells[index]?.trim() ?? '');
      if (text === '') continue;
      if (kind === 'list') {
        const before = takenBy.get(field) !== undefined && Array.isArray(record[field]) ? record[field] : [];
        record[field] = [...before, ...splitList(text)];
      } else record[field] = convert(text, kind);
    }
    return { record };
  };
}

function unknown(what: 'column' | 'field', name: string, fields: readonly string[]): string {
  const subject = what === 'column' ? 'The column ' : '';
  const hint = didYouMean(name, fields);
  return `${subject}${JSON.stringify(name)} is not a field of this stream. ${hint}`.trimEnd();
}

function kindOf(schema: TSchema): Kind {
  const types = [(schema as { type?: string | string[] }).type].flat();
  if (types.includes('array')) return 'list';
  if (types.includes('boolean')) return 'boolean';
  // Money is text or number: as text it stays exact.
  if (types.includes('string')) return 'text';
  return 'number';
}

/** Without the `'` that keeps a spreadsheet from running a cell as a formula, as exports put it (contract 3.13). */
const unmarkFormula = (text: string) => text.replace(/^'(?='*[=+\-@\t\r])/, '');

const splitList = (text: string) =>
  text
    .split(LIST_SEPARATOR)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');

/** Text that is not a number or boolean stays text, and validation rejects it. */
function convert(text: string, kind: Exclude<Kind, 'list'>): unknown {
  if (kind === 'number') return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
  if (kind === 'boolean') {
    if (/^(true|t|yes|y|1)$/i.test(text)) return true;
    if (/^(false|f|no|n|0)$/i.test(text)) return false;
  }
  return text;
}

/** Checks the content of a `--columns` file. Throws a `ColumnsError`. */
export function parseMapping(text: string): ColumnMapping {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ColumnsError('The columns file is not valid JSON.');
  }
  if (!isObject(value)) throw new ColumnsError('The columns file must hold a JSON object.');
  const problems: string[] = [];
  for (const name of Object.keys(value)) {
    if (!['columns', 'constants', 'ignore'].includes(name)) {
      problems.push(
        `${JSON.stringify(name)} means nothing in a columns file; it has columns, constants and ignore.`,
      );
    }
  }
  const { columns, constants, ignore } = value;
  if (columns !== undefined && !(isObject(columns) && Object.values(columns).every(isText))) {
    problems.push('columns must be an object from column names to field names.');
  }
  if (constants !== undefined && !isObject(constants)) {
    problems.push('constants must be an object from field names to values.');
  }
  if (ignore !== undefined && ignore !== 'rest' && !(Array.isArray(ignore) && ignore.every(isText))) {
    problems.push('ignore must be a list of column names, or "rest".');
  }
  if (problems.length > 0) throw new ColumnsError(problems.join('\n'));
  return value as ColumnMapping;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown) => typeof value === 'string';
