/** Input schemas of tools: the declared requests, without what a model need not read, because it pays for every word. */
import { METRIC_NAMES } from '../advertising/metrics.js';
import { publish } from '../http/openapi.js';

type Json = Record<string, unknown>;

export interface JsonSchema extends Json {
  type: 'object';
  properties: Record<string, Json>;
  required?: string[];
}

/** Objects with more fields are shown without their fields, which another tool describes. */
const MAX_NESTED_FIELDS = 8;
/** Rules that the gateway checks, with better messages. */
const CHECKED = new Set(
  'title examples pattern minLength maxLength minItems maxItems uniqueItems propertyNames maxProperties $id'.split(
    ' ',
  ),
);
/** Descriptions of filters whose names say enough, so that the description is left out. */
const EXPLAINED = /^Every given word must be a word of /;

/** The input fields of a request. Null is shown only for fields that it clears; elsewhere, it means absent, which models need not know. */
export function inputFields(request: unknown, nullClears = false): JsonSchema {
  const schema = publish(request, {}) as JsonSchema;
  return {
    ...schema,
    properties: mapValues(schema.properties, (field, name) => slim(field, name, nullClears)),
  };
}

function slim(schema: Json, name: string, nullClears: boolean): Json {
  const { type, anyOf, description, items, properties, enum: values, ...rest } = schema;
  // A named part, such as a filter of `any_of`, repeats fields of the request.
  if (schema.$ref !== undefined) return { type: 'object' };
  const [own] = nullClears ? [] : ((anyOf ?? []) as Json[]);
  if (own) return slim({ ...rest, ...own, description: description ?? own.description }, name, nullClears);
  const types = nullClears ? type : [type].flat().filter((each) => each !== 'null');
  const text = firstSentence(String(description ?? ''));
  const fields = properties as Record<string, Json> | undefined;
  const isLarge = fields && Object.keys(fields).length > MAX_NESTED_FIELDS;
  const isSort = name === 'sort_by' && Array.isArray(values) && values.length > MAX_NESTED_FIELDS;
  return {
    ...(type !== undefined && { type: Array.isArray(types) && types.length === 1 ? types[0] : types }),
    ...(anyOf !== undefined && { anyOf }),
    ...(isSort
      ? { description: sortText(values) }
      : text !== '' && !EXPLAINED.test(text) && { description: text }),
    ...(values !== undefined && !isSort && { enum: values }),
    ...Object.fromEntries(Object.entries(rest).filter(([key]) => !CHECKED.has(key))),
    ...(items !== undefined && {
      items: slim({ ...(items as Json), description: undefined }, '', nullClears),
    }),
    ...(fields &&
      !isLarge && { properties: mapValues(fields, (field, key) => slim(field, key, nullClears)) }),
    ...(isLarge && { required: undefined, additionalProperties: undefined }),
  };
}

function firstSentence(text: string): string {
  const end = text.search(/\.(\s|$)/);
  return end < 0 ? text : text.slice(0, end + 1);
}

function sortText(values: readonly unknown[]): string {
  const metrics = new Set<unknown>(METRIC_NAMES);
  const others = values.filter((value) => !metrics.has(value));
  return `Name of a metric, or one of: ${others.join(', ')}.`;
}

const mapValues = <T, U>(values: Record<string, T>, map: (value: T, name: string) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]));
