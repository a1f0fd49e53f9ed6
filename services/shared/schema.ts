/**
 * Builders of JSON Schemas, which serve to validate requests, to derive types, and to document. The first argument of a builder is the
 * description.
 */
import type { Static, TSchema, TUnsafe, Type as TypeBox } from 'typebox';
import { ID_PATTERN } from './ids.js';

type Options = Record<string, unknown>;

/** Schemas of optional fields. */
const optionals = new WeakSet<object>();

/**
 * Builders of schemas with the types of TypeBox. TypeBox itself would load 370 files for the same objects, which is a quarter of the start
 * time of a process.
 */
export const Type = {
  String: (options?: Options) => ({ type: 'string', ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Literal: (value: unknown, options?: Options) => ({ type: typeof value, const: value, ...options }),
  Unknown: (options?: Options) => ({ ...options }),
  Unsafe: (schema: object) => ({ ...schema }),
  Array: (items: object, options?: Options) => ({ type: 'array', items, ...options }),
  Object(properties: Record<string, object>, options?: Options) {
    const required = Object.keys(properties).filter((name) => !optionals.has(properties[name] as object));
    return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
  },
  Optional(schema: object) {
    const copy = { ...schema };
    optionals.add(copy);
    return copy;
  },
} as unknown as Pick<
  typeof TypeBox,
  | 'String'
  | 'Literal'
  | 'Integer'
  | 'Number'
  | 'Boolean'
  | 'Unknown'
  | 'Unsafe'
  | 'Array'
  | 'Object'
  | 'Optional'
>;

/** Optional and nullable, like most request fields. */
export function optional<T extends TSchema>(schema: T) {
  return Type.Optional(nullable(schema));
}

/** The same schema, but null is allowed. */
export function nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  const {
    type,
    enum: values,
    ...rest
  } = schema as unknown as {
    type?: string | string[];
    enum?: unknown[];
  };
  return Type.Unsafe<Static<T> | null>({
    ...rest,
    ...(type === undefined ? {} : { type: [type, 'null'].flat() }),
    ...(values === undefined ? {} : { enum: [...values, null] }),
  });
}

declare const HAS_DEFAULT: unique symbol;
/** Marks the type of an optional schema with a default: the parsed request always has the field. */
export type WithDefault = { readonly [HAS_DEFAULT]: true };

/** Sets the default of an optional schema, in place. */
export const withDefault = <T extends TSchema>(schema: T, value: NonNullable<Static<T>>) =>
  Object.assign(schema, { default: value }) as unknown as T & WithDefault;

/** Schema keyword: text that is read as a query (contract 3.9). */
export const TEXT_QUERY = 'x-text-query';

/** Text. `maxLength` applies to the text and to its folded form (contract 3.2), which searches use. */
export const text = (description: string, options: Options = {}) => {
  const maxLength = Number(options.maxLength ?? 1024);
  return Type.String({ description, ...options, maxLength, [MAX_FOLDED_LENGTH]: maxLength });
};

/** Schema keyword: maximum characters once folded. */
export const MAX_FOLDED_LENGTH = 'x-max-folded-length';

export const integer = (description: string, options: Options = {}) =>
  Type.Integer({
    description,
    minimum: Number.MIN_SAFE_INTEGER,
    maximum: Number.MAX_SAFE_INTEGER,
    ...options,
  });

export const boolean = (description: string, options: Options = {}) =>
  Type.Boolean({ description, ...options });

/** A calendar date that exists, `YYYY-MM-DD`. */
export const date = (description: string, options: Options = {}) =>
  Type.String({ description, format: 'date', ...options });

/** A date-time in ISO 8601 with an offset or Z. */
export const dateTime = (description: string, options: Options = {}) =>
  Type.String({ description, format: 'date-time', ...options });

export const arrayOf = <T extends TSchema>(description: string, items: T, options: Options = {}) =>
  Type.Array(items, { description, ...options });

/** One of the given strings. */
export const stringEnum = <const T extends string>(
  description: string,
  values: readonly T[],
  options: Options = {},
) => Type.Unsafe<T>({ type: 'string', description, enum: [...values], ...options });

/** An object without additional fields: request bodies and ingested records. */
export const strictObject = <T extends Record<string, TSchema>>(properties: T, options: Options = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });

/** An object that may gain fields: responses. */
export const looseObject = <T extends Record<string, TSchema>>(properties: T, options: Options = {}) =>
  Type.Object(properties, options);

export const id = (description: string, options: Options = {}) =>
  Type.String({ description, pattern: ID_PATTERN, ...options });

/** Marker field of records that can be deleted. */
export const deleted = optional(
  boolean('True deletes what the record names; then only its identifiers and `updated_at` count.'),
);

export const organizationId = id(
  'Organization the request is about. Must be the one the API key belongs to.',
  {
    examples: ['org_demo'],
  },
);
