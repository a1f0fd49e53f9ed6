/** Results of tools: the declared responses without null fields, and without texts, which a model would pay for. */
import { publish } from '../http/openapi.js';

type Json = Record<string, unknown>;

export interface JsonSchema extends Json {
  type: 'object';
  properties: Record<string, Json>;
  required?: string[];
}

const COMPONENTS = '#/components/schemas/';

/** The input fields of a request. Null is shown only for fields that it clears; elsewhere, it means absent, which models need not know. */
export function inputFields(request: unknown, nullClears = false): JsonSchema {
  const schema = publish(request, {}) as JsonSchema;
  return nullClears ? schema : { ...schema, properties: mapValues(schema.properties, withoutNullType) };
}

function withoutNullType({ type, anyOf, properties, ...rest }: Json): Json {
  const [own] = (anyOf ?? []) as Json[];
  const types = [type].flat().filter((each) => each !== 'null');
  return {
    ...(type === undefined ? {} : { type: types.length === 1 ? types[0] : types }),
    ...rest,
    ...own,
    ...(properties ? { properties: mapValues(properties as Record<string, Json>, withoutNullType) } : {}),
  };
}

/** The schema of a result with these schemas as its fields. */
export function outputSchema(fields: Record<string, unknown>, required: readonly string[]): JsonSchema {
  const components: Json = {};
  const properties = mapValues(fields, (schema) => slim(publish(schema, components) as Json));
  const definitions = mapValues(components, (schema) => slim(schema as Json));
  return { type: 'object', properties, required: [...required], $defs: definitions };
}

function slim(schema: Json): Json {
  const { $ref, type, enum: values, const: constant, items, properties, required, anyOf } = schema;
  if (typeof $ref === 'string') return { $ref: $ref.replace(COMPONENTS, '#/$defs/') };
  const fields = properties as Record<string, Json> | undefined;
  return {
    ...(type !== undefined && { type }),
    ...(values !== undefined && { enum: values }),
    ...(constant !== undefined && { const: constant }),
    ...(items !== undefined && { items: slim(items as Json) }),
    ...(anyOf !== undefined && { anyOf: (anyOf as Json[]).map(slim) }),
    ...(fields && {
      properties: mapValues(fields, slim),
      required: ((required ?? []) as string[]).filter((name) => !isNullable(fields[name] as Json)),
    }),
  };
}

const isNullable = ({ type, enum: values, anyOf }: Json): boolean =>
  [type].flat().includes('null') ||
  ((values ?? []) as unknown[]).includes(null) ||
  ((anyOf ?? []) as Json[]).some(isNullable);

const mapValues = <T, U>(values: Record<string, T>, map: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));

/** JSON of a value without null fields; null items of lists stay. */
export const withoutNulls = (value: object): string =>
  JSON.stringify(value, function (this: unknown, _, field: unknown) {
    return field === null && !Array.isArray(this) ? undefined : field;
  });
