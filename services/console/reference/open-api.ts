/** The OpenAPI document of the gateway, with what its schemas use of JSON Schema. */
import { signal } from '@preact/signals';
import { createTransport } from '../../client/transport.js';
import type { Scope } from '../../http/scopes.js';
import { type FailureText, failureOf } from '../api.js';
import { RETRY } from '../session.js';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  /** The kinds of records, each a `$ref`; or a value and null. */
  anyOf?: Schema[];
  enum?: unknown[];
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
}

export interface Content {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { summary?: string; value: unknown }>;
}

export interface Header {
  description?: string;
  schema?: Schema;
}

export interface Answer {
  description: string;
  headers?: Record<string, Referable<Header>>;
  content?: Record<string, Content>;
}

export interface Operation {
  id: string;
  method: 'GET' | 'POST';
  path: string;
  summary: string;
  description: string;
  tag: string;
  /** False where no key is needed. */
  secured: boolean;
  parameters: Parameter[];
  /** `content` is that of JSON; `types` are all. */
  body?: { types: string[]; description?: string; content: Content };
  responses: [status: string, answer: Answer][];
}

type Referable<T> = T | { $ref: string };

interface RawOperation {
  operationId: string;
  summary: string;
  description?: string;
  tags: [string];
  security?: object[];
  parameters?: Parameter[];
  requestBody?: { description?: string; content: Record<string, Content> };
  responses: Record<string, Answer>;
}

interface OpenApi {
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, RawOperation>>;
  components: Record<string, Record<string, unknown>>;
}

export interface Reference {
  info: OpenApi['info'];
  operations: Operation[];
  byId: Map<string, Operation>;
}

export const reference = signal<Reference | null>(null);
export const failure = signal<FailureText | null>(null);

let components: OpenApi['components'] = {};

/** What a `$ref` names; anything else as it is. */
export function resolve<T extends object>(value: Referable<T>): T {
  if (!('$ref' in value) || typeof value.$ref !== 'string') return value as T;
  const [kind = '', name = ''] = value.$ref.split('/').slice(-2);
  return (components[kind]?.[name] ?? {}) as T;
}

export const flatten = (schema: Schema): Schema => ({ ...resolve(schema), ...schema });

export const refName = ({ $ref = '' }: Schema) => $ref.slice($ref.lastIndexOf('/') + 1);

/** The kinds of records that a body can have; undefined where it is one object. */
export function kindsOf(schema: Schema): Schema[] | undefined {
  const { anyOf, items } = flatten(schema);
  return anyOf ?? (items && kindsOf(items));
}

function operationOf(path: string, method: string, raw: RawOperation): Operation {
  const { requestBody } = raw;
  const types = Object.keys(requestBody?.content ?? {});
  const content = requestBody?.content['application/json'];
  return {
    id: raw.operationId,
    method: method.toUpperCase() as Operation['method'],
    path,
    summary: raw.summary,
    description: raw.description ?? '',
    tag: raw.tags[0],
    secured: raw.security?.length !== 0,
    parameters: raw.parameters ?? [],
    body: content && { types, description: requestBody?.description, content },
    responses: Object.entries(raw.responses),
  };
}

export async function loadReference(): Promise<void> {
  try {
    const openApi = await createTransport(RETRY).send<OpenApi>({ method: 'GET', path: '/openapi.json' });
    failure.value = null;
    components = openApi.components;
    const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, raw]) => operationOf(path, method, raw)),
    );
    reference.value = {
      info: openApi.info,
      operations,
      byId: new Map(operations.map((operation) => [operation.id, operation])),
    };
  } catch (error) {
    failure.value = failureOf(error);
  }
}

/** A type in words, such as `string (date) or null`. */
export function typeOf(schema: Schema): string {
  const { type, format, items, anyOf } = flatten(schema);
  if (anyOf) return anyOf.map((each) => (each.$ref ? refName(each) : typeOf(each))).join(' or ');
  const types = [type].flat().filter((each) => each !== undefined);
  const named = types.map((each) => (items && each === 'array' ? `array of ${typeOf(items)}` : each));
  const [first = 'any', ...others] = named;
  return [format ? `${first} (${format})` : first, ...others].join(' or ');
}

const range = (least: number | undefined, most: number | undefined, unit: string) => {
  const low = least !== undefined && least > Number.MIN_SAFE_INTEGER && least !== 0 ? least : undefined;
  const high = most !== undefined && most < Number.MAX_SAFE_INTEGER ? most : undefined;
  if (low !== undefined && high !== undefined) return `${least} to ${most}${unit}`;
  if (high !== undefined) return `${least === 0 && unit === '' ? '0 to' : 'at most'} ${high}${unit}`;
  return low === undefined ? (least === 0 && unit === '' ? 'at least 0' : '') : `at least ${low}${unit}`;
};

/** The limits of a field in words. */
export function limitsOf(given: Schema): string[] {
  const schema = flatten(given);
  const parts = [
    range(schema.minimum, schema.maximum, ''),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' entries'),
    schema.exclusiveMaximum === undefined ? '' : `less than ${schema.exclusiveMaximum}`,
    schema.default === undefined || schema.default === null
      ? ''
      : `default ${JSON.stringify(schema.default)}`,
  ];
  if (schema.items) parts.push(...limitsOf(schema.items).map((limit) => `each: ${limit}`));
  return parts.filter((part) => part !== '');
}

/** The values a field, or each entry of it, may have. */
export function choicesOf(given: Schema): unknown[] {
  const schema = flatten(given);
  const others = schema.anyOf ?? (schema.items ? [schema.items] : []);
  return schema.enum ?? others.filter(({ $ref }) => !$ref).flatMap(choicesOf);
}

/** The object whose fields a schema has, through arrays; undefined for plain values. */
export function objectOf(given: Schema): Schema | undefined {
  const schema = flatten(given);
  if (schema.items) return objectOf(schema.items);
  return schema.properties && Object.keys(schema.properties).length > 0 ? schema : undefined;
}

/** Codes of the problems an operation answers with, by their status. */
export function problemsOf({ responses }: Operation): { status: string; code: string; title: string }[] {
  return responses.flatMap(([status, { description }]) =>
    [...description.matchAll(/`([a-z_]+)`: ([^`]+?)\.(?= `|$)/g)].map(([, code = '', title = '']) => ({
      status,
      code,
      title,
    })),
  );
}

/** The scope an operation names in its description. */
export const scopeOf = ({ description }: Operation) =>
  /scope `([a-z]+:[a-z]+)`/.exec(description)?.[1] as Scope | undefined;
