/** Changes a mapping column by column, as a user decides. */
import type { TObject } from 'typebox';
import { isId } from '../../services/shared/ids.js';
import type { Stream } from '../streams/stream.js';
import type { MappingFile, SourceOptions, ValueSource } from './mapping-file.js';
import { parseTemplate, rootOf } from './path.js';
import { type ColumnForm, isDomainField, type TargetType, targetTypes } from './target-types.js';

/** Pseudo-field that means first and last name, for a column that holds both. */
export const FULL_NAME = 'full_name';

type Source = string | SourceOptions;

/** The required fields of a record except its organization, which the key decides. */
export const requiredFields = ({ schema, organizationField }: Stream): string[] =>
  ((schema as TObject).required ?? []).filter((field) => field !== organizationField);

/** Fields that a column can become. */
export function fieldChoices(stream: Stream): string[] {
  const names = [...targetTypes(stream).keys()].filter((name) => name !== stream.organizationField);
  return names.includes('first_name') && names.includes('last_name') ? [FULL_NAME, ...names] : names;
}

/** Whether a text has one comma with text on both sides. */
function isLastFirst(text: string): boolean {
  const [last = '', first = '', ...others] = text.split(',');
  return last !== '' && first.trim() !== '' && others.length === 0;
}

/** Suffix after the comma of `Ann Lee, PhD`. */
const suffix = /,\s*(?:[js]r|i{2,3}|iv|ph\.?\s?d|m\.?d|mba|m\.?sc|b\.?sc|m\.?a|b\.?a|esq|cpa|dds|pmp)\.?$/i;

/** First and last name from a column that holds both: `Lee, Ann` if all of its texts look like this, otherwise `Ann Lee`. */
export function namesFrom(
  path: string,
  values: readonly string[],
): Record<'first_name' | 'last_name', SourceOptions> {
  const areLastFirst = values.length > 0 && values.every((text) => isLastFirst(text) && !suffix.test(text));
  const [first, last] = areLastFirst
    ? (['behind_comma', 'before_comma'] as const)
    : (['first_word', 'rest'] as const);
  return { first_name: { path, part: first }, last_name: { path, part: last } };
}

/** The source for a field from a column. `values` are some texts of the column. */
export function sourceFor(field: string, column: string, values: readonly string[]): Source {
  if (isDomainField(field)) return { path: column, host: true };
  // Takes only email addresses: a placeholder among addresses must not become an id.
  if (field === 'contact_id' && values.some((value) => value.includes('@')))
    return { path: column, email: true, lower: true, id: true };
  // Turns other texts, such as a name, into an identifier.
  if (field === 'contact_id' && !values.every(isId)) return { path: column, lower: true, id: true };
  return column;
}

/**
 * The mapping with the chosen field of each column; '' leaves a column out. Earlier fields of these columns are removed; fields of other
 * columns stay.
 */
export function withChoices(
  file: MappingFile,
  choices: Readonly<Record<string, string>>,
  stream: Stream,
  valuesOf: (column: string) => readonly string[],
): MappingFile {
  const types = targetTypes(stream);
  const chosen = new Set(Object.keys(choices));
  const fields = new Map<string, ValueSource>();
  for (const [field, source] of Object.entries(file.fields)) {
    const kept = withoutColumns(source, chosen);
    if (kept !== undefined) fields.set(field, kept);
  }
  const given = new Set<string>();
  for (const [column, field] of Object.entries(choices)) {
    if (field === '') continue;
    if (field === FULL_NAME) {
      for (const [name, source] of Object.entries(namesFrom(column, valuesOf(column))))
        fields.set(name, source);
      continue;
    }
    const source = sourceFor(field, column, valuesOf(column));
    const before = given.has(field) || types.get(field) === 'list' ? fields.get(field) : undefined;
    fields.set(field, types.get(field) === 'list' ? joined(before, source) : alternatives(before, source));
    given.add(field);
  }
  const { ignore } = file;
  return {
    ...file,
    fields: Object.fromEntries(fields),
    ...(ignore !== 'rest' && chosen.size > 0 && { ignore: [...new Set([...(ignore ?? []), ...chosen])] }),
  };
}

const alternatives = (before: ValueSource | undefined, source: Source): ValueSource =>
  before === undefined ? source : [before, source].flat();

/** Combines the values of two sources into one list. */
function joined(before: ValueSource | undefined, source: Source): ValueSource {
  if (before === undefined) return source;
  const sources = [before].flat().flatMap((each) => (typeof each === 'object' && each.all) || [each]);
  return { all: [...(sources as NonNullable<SourceOptions['all']>), source as string] };
}

function withoutColumns(source: ValueSource, columns: ReadonlySet<string>): ValueSource | undefined {
  const left = [source].flat().flatMap((each): Source[] => {
    if (typeof each === 'object' && each.all !== undefined) {
      const all = each.all.filter((inner) => !readsAny(inner, columns));
      return all.length === 0 ? [] : [{ ...each, all }];
    }
    return readsAny(each, columns) ? [] : [each];
  });
  return left.length > 1 ? left : left[0];
}

function readsAny(source: Source, columns: ReadonlySet<string>): boolean {
  const { path, template }: SourceOptions = typeof source === 'string' ? { path: source } : source;
  const parts = template === undefined ? [] : parseTemplate(template);
  const paths = [path, ...(typeof parts === 'string' ? [] : parts.map((part) => part.path))];
  return paths.some((each) => each !== undefined && (columns.has(each) || columns.has(rootOf(each))));
}

/**
 * The mapping with the determined formats of its columns, so that a load does not determine the formats again. `columns` of a table have
 * the names that the mapping uses.
 */
export function withSettledForms(
  file: MappingFile,
  stream: Stream,
  forms: ReadonlyMap<string, ColumnForm>,
  columns: readonly string[],
): MappingFile {
  const types = targetTypes(stream);
  const settled = (field: string, source: Source): Source => settledAs(types.get(field), source);
  const settledAs = (type: TargetType | undefined, source: Source): Source => {
    const options: SourceOptions = typeof source === 'string' ? { path: source } : source;
    const { order, mark } = forms.get(options.path ?? '') ?? {};
    const isDate = type === 'date' || type === 'date-time';
    const isNumber = type === 'integer' || type === 'money';
    if (isDate && order !== undefined && options.format === undefined)
      return { date_order: order, ...options };
    if (isNumber && mark !== undefined) return { decimal: mark, ...options };
    return source;
  };
  const fields = Object.entries(file.fields).map(([field, source]): [string, ValueSource] => [
    field,
    Array.isArray(source) ? source.map((each) => settled(field, each)) : settled(field, source),
  ]);
  const mentioned = new Set([
    ...fields.map(([field]) => field),
    ...(Array.isArray(file.ignore) ? file.ignore : []),
  ]);
  // Columns that have the name of a field become that field.
  const own = file.ignore === 'rest' ? [] : columns.filter((name) => forms.has(name) && !mentioned.has(name));
  const added = own.flatMap((name): [string, Source][] => {
    const source = settled(name, name);
    return typeof source === 'string' ? [] : [[name, source]];
  });
  const settledDay = (source: ValueSource): ValueSource =>
    Array.isArray(source) ? source.map((each) => settledAs('date', each)) : settledAs('date', source);
  const { start, end, ...period } = file.period ?? {};
  return {
    ...file,
    ...(start !== undefined && {
      period: { ...period, start: settledDay(start), ...(end !== undefined && { end: settledDay(end) }) },
    }),
    fields: Object.fromEntries([...fields, ...added]),
  };
}
