import type { FieldError } from '../shared/validation.js';

/** Every error of the API: status and title by code (contract 1.2). */

export const PROBLEMS = {
  malformed_request: [400, 'The request is not valid HTTP'],
  invalid_json: [400, 'The body is not valid JSON'],
  invalid_body: [400, 'The body is malformed'],
  missing_api_key: [401, 'A valid API key is required'],
  invalid_api_key: [401, 'A valid API key is required'],
  insufficient_credits: [402, 'The credit balance is too low for this request'],
  organization_mismatch: [403, 'The API key belongs to another organization'],
  insufficient_scope: [403, 'The API key lacks the scope that this operation needs'],
  origin_not_allowed: [403, 'This origin is not allowed'],
  contact_not_found: [404, 'No such contact'],
  audience_not_found: [404, 'No such audience'],
  company_not_found: [404, 'No such company'],
  key_not_found: [404, 'No such key'],
  stream_not_found: [404, 'No such stream'],
  route_not_found: [404, 'No such operation'],
  method_not_allowed: [405, 'This path does not support the HTTP method'],
  not_acceptable: [406, 'The operation cannot respond in an accepted media type'],
  request_timeout: [408, 'The request did not arrive in time'],
  ambiguous_company: [409, 'Several companies have this network_a id'],
  ambiguous_domain: [409, 'Several companies have this domain'],
  changed_meanwhile: [409, 'The contact or audience was changed by another request'],
  audience_exists: [409, 'The audience already exists'],
  filter_exists: [409, 'The saved filter already exists'],
  contact_exists: [409, 'The contact already exists'],
  contact_suppressed: [409, 'The person was erased'],
  outcome_unknown: [409, 'The outcome of an earlier request is unknown'],
  idempotency_in_progress: [409, 'A request with this idempotency key is still running'],
  cursor_expired: [410, 'The feed must be read from the beginning'],
  body_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'The body must be JSON in UTF-8'],
  expectation_failed: [417, 'The Expect header is not supported'],
  validation_failed: [422, 'Invalid request'],
  idempotency_key_reused: [422, 'The idempotency key was used for another request'],
  invalid_sql: [422, 'The SQL statement cannot be run'],
  records_rejected: [422, 'Records were rejected'],
  page_window_exceeded: [422, 'The page is beyond the pagination limit'],
  too_many_companies: [422, 'Too many companies match'],
  too_many_outcomes: [422, 'Too many days have outcomes'],
  too_many_points: [422, 'The time series would have too many points'],
  missing_rates: [422, 'Currency rates are missing'],
  too_many_values: [422, 'The body has too many values'],
  rate_limited: [429, 'Too many requests'],
  headers_too_large: [431, 'The headers are too large'],
  internal: [500, 'The server failed unexpectedly'],
  changes_unavailable: [501, 'The feed of changes is off'],
  mcp_unavailable: [501, 'MCP is not installed'],
  sql_unavailable: [501, 'SQL is not available here'],
  store_unavailable: [503, 'A data store cannot be reached'],
  storage_full: [503, 'The disk of a data store is full'],
  overloaded: [503, 'The service is overloaded'],
  timeout: [504, 'The request took too long'],
} as const satisfies Record<string, readonly [status: number, title: string]>;
export type ProblemCode = keyof typeof PROBLEMS;

/** Problems that may pass although the client does not change the request. Their responses have `Retry-After`, by default one second. */
export const PASSING: ReadonlySet<ProblemCode> = new Set([
  'request_timeout',
  'idempotency_in_progress',
  'rate_limited',
  'store_unavailable',
  'storage_full',
  'overloaded',
]);

/** The `type` of a problem, without its code. */
export const PROBLEM_TYPE = 'urn:reachline:problem:';
/** Page of the API reference that explains the problem and its remedy. */
export const problemPage = (code: string) => `/docs/errors#${code}`;

/** Additional members of a problem, such as `credit_balance` or `candidates`. */
export type ProblemExtras = Record<string, unknown> & { errors?: FieldError[] };

/** Thrown to respond with `application/problem+json`. `message` is the detail that the client sees. */
export class Problem extends Error {
  override readonly name = 'Problem';
  readonly code: ProblemCode;
  readonly status: number;
  readonly extras: ProblemExtras;
  readonly headers: Record<string, string>;

  constructor(
    code: ProblemCode,
    detail: string,
    extras: ProblemExtras = {},
    headers: Record<string, string> = {},
  ) {
    super(detail);
    this.code = code;
    this.status = PROBLEMS[code][0];
    this.extras = extras;
    this.headers = PASSING.has(code) ? { 'Retry-After': '1', ...headers } : headers;
  }
}

/** A 422 with all field errors of a request. A single error whose code is the code of a problem becomes that problem. */
export function invalid(...errors: FieldError[]): Problem {
  const [{ code, detail }] = errors as [FieldError];
  if (errors.length > 1) {
    return new Problem('validation_failed', `${errors.length} fields break a rule; see errors.`, { errors });
  }
  const isProblem = Object.hasOwn(PROBLEMS, code) && PROBLEMS[code as ProblemCode][0] === 422;
  return new Problem(isProblem ? (code as ProblemCode) : 'validation_failed', detail, { errors });
}

/** The JSON Pointer of a field that is named as in messages, such as `any_of[2].country`. */
export const pointerOf = (name: string): string =>
  `/${name.replaceAll(/\[(\d+)\]/g, '/$1').replaceAll('.', '/')}`;

/** Error of a filter without a letter or digit. If the filter were ignored, the search would return everything. */
export const noWordsError = (field: string): FieldError => ({
  pointer: pointerOf(field),
  code: 'no_words',
  detail: `${field} must hold at least one letter or digit.`,
});

export const noWords = (field: string): Problem => invalid(noWordsError(field));
