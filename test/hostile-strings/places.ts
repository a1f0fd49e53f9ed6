/** Valid requests drawn from the schemas, and every place in them that holds a string: values and keys. */
import fc from 'fast-check';
import type { endpoints } from '../../services/gateway/api.js';
import { SEED } from '../support/random.js';

export interface JsonSchema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  propertyNames?: JsonSchema;
  additionalProperties?: JsonSchema | boolean;
  anyOf?: JsonSchema[];
  minItems?: number;
  required?: string[];
}

export type Json = Record<string, unknown>;

const FORMATS: Record<string, string> = {
  date: '2026-11-03',
  'date-time': '2026-11-03T10:00:00Z',
  email: 'plain@example.com',
  'ip-address': '192.0.2.7',
  ip: '192.0.2.7',
};

/** A value that the schema allows and that has no special meaning. */
export function plainValue(schema: JsonSchema): unknown {
  const [example] = schema.examples ?? [];
  if (example !== undefined) return example;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum.find((each) => each !== null);
  if (schema.anyOf) return plainValue(schema.anyOf[0] as JsonSchema);
  const type = [schema.type ?? 'string'].flat().find((each) => each !== 'null');
  if (type === 'array') return [plainValue(schema.items ?? {})];
  if (type === 'object') return plainObject(schema);
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return Math.max(1, schema.minimum ?? 1);
  if (schema.format !== undefined && schema.format in FORMATS) return FORMATS[schema.format];
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, 'u').test('plain'))
    return fc.sample(fc.stringMatching(new RegExp(schema.pattern, 'u')), { seed: SEED, numRuns: 1 })[0];
  return 'plain';
}

function plainObject({ properties = {}, additionalProperties }: JsonSchema): Json {
  const named = Object.entries(properties).map(([name, property]) => [name, plainValue(property)]);
  const others =
    typeof additionalProperties === 'object' ? [['plain', plainValue(additionalProperties)]] : [];
  return Object.fromEntries([...named, ...others]);
}

/** Names that exclude each other, or that refer to a previous page. */
const ALONE: Record<string, readonly string[]> = {
  domain: ['company_id'],
  contact_ids: ['filter', 'contact_id', 'email', 'data_import_id'],
  filter: ['contact_ids'],
  email: ['contact_ids', 'contact_id'],
  contact_id: ['email', 'contact_ids'],
  data_import_id: ['contact_ids', 'contact_id', 'email'],
};

/** The example of an operation, and for every field that the example lacks one request, with the part that is new. */
export function validBodies({
  path,
  request,
  example,
}: (typeof endpoints)[number]): { body: Json; field: string }[] {
  const own = example as Json;
  const { properties = {} } = request as JsonSchema;
  const more = Object.entries(properties).flatMap(([field, schema]) => {
    if (field in own) return [];
    const without = path === '/api/contacts/create' ? [] : (ALONE[field] ?? []);
    const rest = Object.entries(own).filter(([other]) => !without.includes(other));
    return [{ body: Object.fromEntries([...rest, [field, plainValue(schema)]]), field }];
  });
  return [{ body: own, field: '' }, ...more];
}

/** The place of a string in a request. */
export interface Place {
  /** Says in failures where the string is. */
  name: string;
  isKey: boolean;
  /** The request with another string in this place. */
  with(text: string): unknown;
}

/** Every string of a value, and every key. */
export function places(value: unknown, name = ''): Place[] {
  if (typeof value === 'string') return [{ name, isKey: false, with: (text) => text }];
  if (Array.isArray(value))
    return value.flatMap((item, index) =>
      places(item, `${name}/${index}`).map((place) => ({
        ...place,
        with: (text: string) => value.map((each, at) => (at === index ? place.with(text) : each)),
      })),
    );
  if (typeof value !== 'object' || value === null) return [];
  const entries = Object.entries(value);
  return entries.flatMap(([key, item], index) => {
    const replaced = (entry: [string, unknown]) =>
      Object.fromEntries(entries.map((each, at) => (at === index ? entry : each)));
    const inside = places(item, `${name}/${key}`).map((place) => ({
      ...place,
      with: (text: string) => replaced([key, place.with(text)]),
    }));
    return [
      ...inside,
      { name: `${name}/${key} (the key)`, isKey: true, with: (text: string) => replaced([text, item]) },
    ];
  });
}
