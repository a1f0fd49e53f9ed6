/** Parses a request: normalizes strings, checks every rule, parses the text query and cursor, and fills in defaults. */
import { type CursorScope, readCursor } from '../search/cursor.js';
import type { TextQuery } from '../search/query.js';
import { parseQuery } from '../search/query-parser.js';
import { TEXT_QUERY } from '../shared/schema.js';
import {
  compileValidator,
  escapePointer,
  type FieldError,
  fieldName,
  MAX_ERRORS,
} from '../shared/validation.js';
import type { Endpoint, ExportFormat, HandlerContext, MatchList } from './endpoint.js';
import { fingerprint, readIdempotencyKey } from './idempotency.js';
import { invalid, noWordsError, Problem } from './problems.js';
import { type QueryParameters, readQuery } from './query-string.js';

type Fields = Record<string, unknown>;

/** A request as it was sent. */
export interface SentRequest {
  body: Fields;
  query?: QueryParameters;
  /** The Idempotency-Key header. */
  idempotencyKey?: string;
}

export type ParsedRequest = Pick<
  HandlerContext<Fields, Fields>,
  'operation' | 'body' | 'query' | 'textQuery' | 'after' | 'idempotency'
>;

interface Property {
  default?: unknown;
  type?: string | readonly string[];
  enum?: unknown;
  format?: unknown;
  pattern?: unknown;
  [TEXT_QUERY]?: true;
  properties?: Properties;
  items?: { properties?: Properties };
}
type Properties = Record<string, Property>;

export const propertiesOf = (schema: unknown): Properties =>
  (schema as { properties?: Properties } | undefined)?.properties ?? {};

/**
 * Parses and checks a request. `format` is the format of an export, or null for JSON. Throws 403 for another organization, and 422 with all
 * violated rules.
 */
export function parseRequest(
  endpoint: Pick<
    Endpoint,
    | 'method'
    | 'path'
    | 'scope'
    | 'source'
    | 'request'
    | 'query'
    | 'check'
    | 'idempotent'
    | 'answersSecret'
    | 'nullClears'
  > & {
    list?: Pick<MatchList, 'pageFields'>;
  },
  sent: SentRequest,
  organizationId: string,
  format: ExportFormat | null = null,
): ParsedRequest {
  const { path, list } = endpoint;
  const properties = propertiesOf(endpoint.request);
  const errors: FieldError[] = [];
  const body = normalizeStrings(sent.body, properties, errors, { nullClears: endpoint.nullClears });
  requireOwnOrganization(body.organization_id, organizationId);
  const { query, errors: queryErrors } = readQuery(sent.query ?? {}, endpoint.query);
  const { key, errors: keyErrors } = readIdempotencyKey(sent.idempotencyKey, endpoint);
  errors.push(...compileValidator(endpoint.request)(body), ...queryErrors, ...keyErrors);
  if (format && list) errors.push(...pageFieldErrors(body, list));
  const request: ParsedRequest = { operation: path, body, query };
  // Only a body that fits its schema is short of levels: others could be nested too deeply to be hashed.
  if (key !== undefined && errors.length === 0)
    request.idempotency = { route: path, key, fingerprint: fingerprint(body, query) };
  request.textQuery = readFields(body, properties, errors);
  if (endpoint.check) errors.push(...endpoint.check(withoutInvalid(body, errors), body));
  if (list && !format && typeof body.cursor === 'string') {
    const valid = { ...request, body: withoutInvalid(body, errors) };
    const read = readCursor(cursorScope(valid, organizationId, list), body.cursor, request.textQuery);
    if ('code' in read) errors.push({ pointer: '/cursor', ...read });
    else request.after = read;
  }
  if (errors.length > 0) throw invalid(...dropRepeated(errors));
  return request;
}

/** Fills in defaults, and returns the text query if the request has one. */
function readFields(
  fields: Fields,
  properties: Properties,
  errors: FieldError[],
  prefix = '',
): TextQuery | undefined {
  let textQuery: TextQuery | undefined;
  for (const [name, property] of Object.entries(properties)) {
    const value = fields[name];
    if (value === undefined && property.default !== undefined) fields[name] = property.default;
    const pointer = `${prefix}/${name}`;
    if (property.properties && isObject(value)) {
      textQuery = readFields(value, property.properties, errors, pointer) ?? textQuery;
    }
    if (!property[TEXT_QUERY] || typeof value !== 'string') continue;
    const parsed = parseQuery(value);
    if ('code' in parsed) errors.push({ pointer, ...parsed });
    else if (parsed.required.length + parsed.excluded.length === 0)
      errors.push({ ...noWordsError(name), pointer });
    else textQuery = parsed;
  }
  return textQuery;
}

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The values to which a cursor is bound: the operation, the organization, and every field that affects more than one page. */
export function cursorScope(
  { operation, body }: Pick<ParsedRequest, 'operation' | 'body'>,
  organizationId: string,
  { pageFields }: Pick<MatchList, 'pageFields'>,
): CursorScope {
  const isFilter = (name: string) => name !== 'organization_id' && !pageFields.includes(name);
  const filters = Object.fromEntries(Object.entries(body).filter(([name]) => isFilter(name)));
  return { operation, organizationId, filters };
}

function pageFieldErrors(body: Fields, { pageFields }: Pick<MatchList, 'pageFields'>): FieldError[] {
  return pageFields
    .filter((name) => body[name] !== undefined)
    .map((name) => ({
      pointer: `/${name}`,
      code: 'not_in_export',
      detail: `${name} applies to one page, but CSV and NDJSON return all matches; leave it out.`,
    }));
}

/** The body without the fields that errors name. */
function withoutInvalid(body: Fields, errors: readonly FieldError[]): Fields {
  if (errors.length === 0) return body;
  const broken = new Set(errors.map(({ pointer }) => pointer.split('/', 2)[1]));
  return Object.fromEntries(Object.entries(body).filter(([name]) => !broken.has(escapePointer(name))));
}

/** Keeps only the first error of each pointer and code: text that is too long for its schema is also too long to parse. */
function dropRepeated(errors: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>();
  return errors.filter(({ pointer, code }) => {
    const id = `${pointer} ${code}`;
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

/** Throws 403 for another organization. The error is the same whether or not the other organization exists. */
function requireOwnOrganization(sent: unknown, organizationId: string): void {
  if (typeof sent !== 'string' || sent === organizationId) return;
  throw new Problem(
    'organization_mismatch',
    'The organization_id of the body is not the organization of the API key.',
    {
      errors: [
        {
          pointer: '/organization_id',
          code: 'organization_mismatch',
          detail: 'Not the organization of the API key.',
        },
      ],
    },
  );
}

/**
 * Trims every string. Drops null fields and blank texts, which count as absent (contract 1.4) unless they clear a field. Adds errors for
 * text that no store can hold: NUL characters and lone surrogates.
 */
function normalizeStrings(
  fields: Fields,
  properties: Properties,
  errors: FieldError[],
  { nullClears = false, prefix = '' }: { nullClears?: boolean; prefix?: string } = {},
): Fields {
  // An object without a prototype treats `__proto__` as an ordinary field.
  const normalized: Fields = Object.hasOwn(fields, '__proto__') ? Object.create(null) : {};
  for (const name in fields) {
    // Normalizes only as deep as the schema: recursion over the sent value could overflow the stack.
    let value = fields[name];
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const nested = property?.properties;
    const itemFields = property?.items?.properties;
    const pointer = () => `${prefix}/${escapePointer(name.slice(0, 128))}`;
    if (typeof value === 'string') value = normalizeString(value, errors, pointer);
    else if (Array.isArray(value)) {
      value = value.map((item, index) =>
        typeof item === 'string'
          ? normalizeString(item, errors, () => `${pointer()}/${index}`)
          : itemFields && isObject(item)
            ? normalizeStrings(item, itemFields, errors, { prefix: `${pointer()}/${index}` })
            : item,
      );
    } else if (nested && isObject(value)) {
      value = normalizeStrings(value, nested, errors, { prefix: pointer() });
    }
    if (nullClears || !countsAsAbsent(value, property)) normalized[name] = value;
  }
  return normalized;
}

/**
 * Whether a field counts as absent. An unknown field never counts as absent; a blank text counts as absent only if the schema allows any
 * text.
 */
function countsAsAbsent(value: unknown, property: Property | undefined): boolean {
  if (!property) return false;
  if (value !== '') return value === null;
  const { type, enum: values, format, pattern } = property;
  return [type].flat().includes('string') && !values && !format && !pattern;
}

function normalizeString(text: string, errors: FieldError[], pointerOf: () => string): string {
  if ((text.includes('\0') || !text.isWellFormed()) && errors.length < MAX_ERRORS) {
    const pointer = pointerOf();
    errors.push({
      pointer,
      code: 'invalid_text',
      detail: `${fieldName(pointer)} contains a NUL character or half of a surrogate pair.`,
    });
  }
  return text.trim();
}
