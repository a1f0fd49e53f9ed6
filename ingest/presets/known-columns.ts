/** Maps columns that a preset leaves out, although their names match fields. */
import { pathsNamed, sourceNamed } from '../mapping/field-names.js';
import {
  MAX_SOURCES,
  type MappingFile,
  type SourceOptions,
  type ValueSource,
} from '../mapping/mapping-file.js';
import { type TargetType, targetTypes } from '../mapping/target-types.js';
import { STREAMS } from '../streams/index.js';
import type { Stream } from '../streams/stream.js';
import type { Preset } from './index.js';
import { presetMapping } from './named-mappings.js';

/** Types of fields for which a column may be guessed. Ids name records and dates need a format, so neither is ever guessed. */
const TAKEN_TYPES: Partial<Record<string, readonly TargetType[]>> = {
  contacts: ['text', 'list'],
  'network-a-deliveries': ['integer', 'money'],
};

/** A column that a preset takes in addition, and the field of the column. */
export interface TakenColumn {
  column: string;
  field: string;
}

/**
 * Extends a preset with columns that it leaves out and whose names are known. A column is added for a field that no other column provides,
 * or for a list in addition to the columns of the list.
 */
export function withKnownColumns(
  name: string,
  preset: Preset,
  columns: readonly string[] = [],
): { preset: Preset; taken: TakenColumn[] } {
  const mapping = presetMapping(name);
  const names = mapping.columnNames(columns);
  const fieldsOf = (column: string) => mapping.fieldsOf(names.get(column) ?? column);
  const given = new Set(columns.flatMap(fieldsOf));
  const { recognize, dimensions = {} } = preset;
  const mentioned = new Set([...recognize.flat(), ...Object.keys(dimensions)]);
  const open = columns.filter((column) => fieldsOf(column).length === 0 && !mentioned.has(column));
  const taken: TakenColumn[] = [];
  const fields: MappingFile['fields'] = { ...preset.fields };
  for (const [field, type] of targetTypes(STREAMS[preset.stream] as Stream)) {
    const isRequired = field === 'contact_id' || !TAKEN_TYPES[preset.stream]?.includes(type);
    if (isRequired || (given.has(field) && type !== 'list')) continue;
    const free = pathsNamed(field, open).filter((path) => !taken.some(({ column }) => column === path));
    const found = type === 'list' ? free : free.slice(0, 1);
    if (found.length === 0) continue;
    taken.push(...found.map((column) => ({ column, field })));
    fields[field] = withSource(fields[field], sourceNamed(field, type, found), type === 'list');
  }
  return { preset: taken.length === 0 ? preset : { ...preset, fields }, taken };
}

/** Adds a source after the other sources of its field; for a list, adds the values of the source. */
function withSource(before: ValueSource | undefined, source: SourceOptions, isList: boolean): ValueSource {
  const sources = [...(before === undefined ? [] : [before].flat()), source];
  if (!isList) return sources.slice(0, MAX_SOURCES);
  const all = sources.flatMap((each) => (typeof each === 'object' && each.all ? each.all : [each]));
  return { all: all.slice(0, MAX_SOURCES) as NonNullable<SourceOptions['all']> };
}
