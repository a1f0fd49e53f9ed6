/** The OpenAPI document, as far as the reference shows it. */
import { signal } from '@preact/signals';

export interface Schema {
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  items?: Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  example?: unknown;
  examples?: unknown[];
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
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
  body?: { type: string; types: string[]; description?: string; content: Content };
  responses: [status: string, answer: Answer][];
}

type Referable<T> = T | { $ref: string };

interface RawOperation {
  operationId: string;
  summary: string;
  description?: string;
  tags?: string[];
  security?: object[];
  parameters?: Referable<Parameter>[];
  requestBody?: Referable<{ description?: string; content: Record<string, Content> }>;
  responses: Record<string, Referable<Answer>>;
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
export const failure = signal<string | null>(null);

let components: OpenApi['components'] = {};

/** What a `$ref` names; anything else as it is. */
export function resolve<T extends object>(value: Referable<T>): T {
  if (!('$ref' in value) || typeof value.$ref !== 'string') return value as T;
  const [kind = '', name = ''] = value.$ref.split('/').slice(-2);
  return resolve((components[kind]?.[name] ?? {}) as T);
}

/** References resolved, `allOf` merged, and of `anyOf` with null the other one. */
export function flatten(schema: Schema): Schema {
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  if ($ref !== undefined) return { ...flatten(resolve(schema)), ...own };
  if (allOf) {
    const parts = allOf.map(flatten);
    return {
      ...Object.assign({}, ...parts),
      ...own,
      properties: Object.assign({}, ...parts.map(({ properties }) => properties), own.properties),
      required: [...parts.flatMap(({ required }) => required ?? []), ...(own.required ?? [])],
    };
  }
  const choices = (anyOf ?? oneOf)?.filter(({ type }) => type !== 'null');
  if (choices?.length === 1) return { ...flatten(choices[0] as Schema), ...own };
  return choices ? { ...own, oneOf: choices } : own;
}

export const refName = ({ $ref }: Schema) => $ref?.slice($ref.lastIndexOf('/') + 1);

function operationOf(path: string, method: string, raw: RawOperation): Operation {
  const body = raw.requestBody && resolve(raw.requestBody);
  const types = Object.keys(body?.content ?? {});
  const type = types.find((each) => each === 'application/json') ?? types[0];
  return {
    id: raw.operationId,
    method: method.toUpperCase() as Operation['method'],
    path,
    summary: raw.summary,
    description: raw.description ?? '',
    tag: raw.tags?.[0] ?? 'Other',
    secured: raw.security?.length !== 0,
    parameters: (raw.parameters ?? []).map(resolve),
    body:
      body && type !== undefined
        ? { type, types, description: body.description, content: body.content[type] as Content }
        : undefined,
    responses: Object.entries(raw.responses).map(([status, answer]) => [status, resolve(answer)]),
  };
}

export async function loadReference(): Promise<void> {
  failure.value = null;
  try {
    const response = await fetch('/openapi.json');
    if (!response.ok) throw new Error(`The server answered ${response.status}.`);
    const openApi = (await response.json()) as OpenApi;
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
    failure.value = error instanceof TypeError ? 'The server cannot be reached.' : (error as Error).message;
  }
}

/** The example of a media type, or a value made from the examples of its schema. */
export function exampleOf({ example, examples, schema }: Content): unknown {
  const [first] = Object.values(examples ?? {});
  return example ?? first?.value ?? (schema && sample(schema));
}

const knownExample = ({ example, examples, const: only, default: standard }: Schema) =>
  example ?? examples?.[0] ?? only ?? standard ?? undefined;

/** Of the fields of an object, those that are required or have an example. */
function sample(given: Schema, depth = 0): unknown {
  const schema = flatten(given);
  const known = knownExample(schema) ?? schema.enum?.[0];
  if (known !== undefined || depth > 6) return known ?? null;
  if (schema.oneOf) return sample(schema.oneOf[0] as Schema, depth + 1);
  if (schema.items) return [sample(schema.items, depth + 1)];
  if (schema.properties) {
    const entries = Object.entries(schema.properties).filter(
      ([name, field]) => schema.required?.includes(name) || knownExample(flatten(field)) !== undefined,
    );
    return Object.fromEntries(entries.map(([name, field]) => [name, sample(field, depth + 1)]));
  }
  const types = [schema.type].flat();
  if (types.includes('null')) return null;
  if (schema.format === 'date') return '2026-08-31';
  if (schema.format === 'date-time') return '2026-08-31T12:00:00.000Z';
  if (types.includes('boolean')) return false;
  return types.includes('string') ? 'text' : (schema.minimum ?? 0);
}

/** A type in words, such as `string (date) or null`. */
export function typeOf(given: Schema): string {
  const nullable =
    [given.type].flat().includes('null') ||
    [...(given.anyOf ?? []), ...(given.oneOf ?? [])].some(({ type }) => type === 'null');
  const schema = flatten(given);
  const types = [schema.type].flat().filter((type) => type !== undefined && type !== 'null');
  const or = nullable ? ' or null' : '';
  if (schema.oneOf) return schema.oneOf.map((each) => refName(each) ?? typeOf(each)).join(' or ') + or;
  if (schema.items) return `array of ${typeOf(schema.items)}${or}`;
  if (types.length === 0) return schema.enum ? 'string' : 'any';
  return types.join(' or ') + (schema.format ? ` (${schema.format})` : '') + or;
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
    schema.exclusiveMinimum === undefined ? '' : `above ${schema.exclusiveMinimum}`,
    schema.uniqueItems ? 'each once' : '',
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
  return (schema.enum ?? (schema.items ? choicesOf(schema.items) : [])).filter((value) => value !== null);
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
export const scopeOf = ({ description }: Operation) => /scope `([a-z]+:[a-z]+)`/.exec(description)?.[1];
