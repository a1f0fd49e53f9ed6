/** What a request means: strings normalized, every rule checked, query text and cursor parsed, defaults filled in. */
import { type CursorScope, readCursor } from '../search/cursor.js';
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

export const propertiesOf = (schema: unknown) =>
  (schema as { properties?: Record<string, { default?: unknown; [TEXT_QUERY]?: true }> } | undefined)
    ?.properties ?? {};

/** `format` is that of an export, null for JSON. Throws 403 for another organization, and 422 with every broken rule. */
export function parseRequest(
  endpoint: Pick<Endpoint, 'path' | 'request' | 'query' | 'check' | 'idempotent' | 'nullClears'> & {
    list?: Pick<MatchList, 'pageFields'>;
  },
  sent: SentRequest,
  organizationId: string,
  format: ExportFormat | null = null,
): ParsedRequest {
  const { path, list } = endpoint;
  const properties = propertiesOf(endpoint.request);
  const { normalized: body, errors } = normalizeStrings(sent.body, endpoint.nullClears);
  requireOwnOrganization(body.organization_id, organizationId);
  const { query, errors: queryErrors } = readQuery(sent.query ?? {}, endpoint.query);
  const { key, errors: keyErrors } = readIdempotencyKey(sent.idempotencyKey, endpoint.idempotent);
  errors.push(...compileValidator(endpoint.request)(body), ...queryErrors, ...keyErrors);
  if (format && list) errors.push(...pageFieldErrors(body, list));
  const request: ParsedRequest = { operation: path, body, query };
  if (key !== undefined) request.idempotency = { route: path, key, fingerprint: fingerprint(body, query) };
  for (const [name, property] of Object.entries(properties)) {
    const value = body[name];
    if (value === undefined && property.default !== undefined) body[name] = property.default;
    if (!property[TEXT_QUERY] || typeof value !== 'string') continue;
    const parsed = parseQuery(value);
    if ('code' in parsed) errors.push({ pointer: `/${name}`, ...parsed });
    else if (parsed.required.length + parsed.excluded.length === 0) errors.push(noWordsError(name));
    else request.textQuery = parsed;
  }
  if (endpoint.check) errors.push(...endpoint.check(withoutInvalid(body, errors), body));
  if (list && !format && typeof body.cursor === 'string') {
    const read = readCursor(cursorScope(request, organizationId, list), body.cursor, request.textQuery);
    if ('code' in read) errors.push({ pointer: '/cursor', ...read });
    else request.after = read;
  }
  if (errors.length > 0) throw invalid(...dropRepeated(errors));
  return request;
}

/** What a cursor belongs to: the operation, the organization and every field that is not about one page. */
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
      detail: `${name} is about one page, and CSV and NDJSON hold every match; leave it out.`,
    }));
}

/** The body without the fields that errors name. */
function withoutInvalid(body: Fields, errors: readonly FieldError[]): Fields {
  if (errors.length === 0) return body;
  const broken = new Set(errors.map(({ pointer }) => pointer.split('/', 2)[1]));
  return Object.fromEntries(Object.entries(body).filter(([name]) => !broken.has(escapePointer(name))));
}

/** The first error of each pointer and code: a text too long for its schema is too long to be parsed as well. */
function dropRepeated(errors: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>();
  return errors.filter(({ pointer, code }) => {
    const id = `${pointer} ${code}`;
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

/** Throws the same 403 whether the other organization exists or not. */
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
 * Trims every string, and drops null and blank values, which count as absent (contract 1.4) unless they clear a field. `errors` point to text that no store
 * can hold: NUL characters and lone surrogates.
 */
function normalizeStrings(body: Fields, nullClears = false): { normalized: Fields; errors: FieldError[] } {
  const errors: FieldError[] = [];
  // Without a prototype, so that `__proto__` is an ordinary field.
  const normalized: Fields = Object.hasOwn(body, '__proto__') ? Object.create(null) : {};
  for (const name in body) {
    // One level deep, as every request is: recursion could overflow the stack.
    let value = body[name];
    if (typeof value === 'string') value = normalizeString(value, errors, name);
    else if (Array.isArray(value)) {
      value = value.map((item, index) =>
        typeof item === 'string' ? normalizeString(item, errors, name, index) : item,
      );
    }
    if (value !== undefined && (nullClears || (value !== null && value !== ''))) normalized[name] = value;
  }
  return { normalized, errors };
}

function normalizeString(text: string, errors: FieldError[], name: string, index?: number): string {
  if ((text.includes('\0') || !text.isWellFormed()) && errors.length < MAX_ERRORS) {
    const pointer = `/${escapePointer(name.slice(0, 128))}${index === undefined ? '' : `/${index}`}`;
    errors.push({
      pointer,
      code: 'invalid_text',
      detail: `${fieldName(pointer)} contains a NUL character or half of a surrogate pair.`,
    });
  }
  return text.trim();
}
