/** Runs the checks of every operation in the order of contract 3.2 (scope, body, organization, rules), then its handler. */
import type { Context } from 'koa';
import type { TSchema } from 'typebox';
import { compileValidator } from '../shared/validation.js';
import type { AdmissionTicket } from './admission-ticket.js';
import { normalizeStrings, readBody } from './body.js';
import type { Endpoint, ExportFormat, HandlerContext } from './endpoint.js';
import { EXPORT_TYPES, negotiateFormat, pageFieldErrors, sendExport } from './export.js';
import { fingerprint, readIdempotencyKey } from './idempotency.js';
import { type Principal, requireScope } from './principal.js';
import { invalid, Problem } from './problems.js';
import { readQuery } from './query-string.js';
import { serialize } from './serialize.js';

/** Common clients reject more than 8 or 16 KiB of headers in total. */
const MAX_HEADER_LENGTH = 4096;

const JSON_TYPES = ['application/json', 'application/problem+json'];

/** JSON text, or the bytes of it. */
export interface JsonAnswer {
  json: string | Buffer;
  bytes: number;
}

export type Handler<Services> = (
  ctx: Context,
  principal: Principal,
  services: Services,
  request: AdmissionTicket,
  /** Sets the other headers of the response; called before an export is sent. */
  setHeaders: () => void,
) => Promise<JsonAnswer | undefined>;

/**
 * Compiles the schemas of an endpoint. The returned function serves one request: it resolves with the JSON of the response, or with
 * undefined once an export is sent, and throws a Problem when it rejects the request.
 */
export function createHandler<Services>(
  endpoint: Endpoint<TSchema, TSchema, TSchema, Services>,
): Handler<Services> {
  const validateBody = compileValidator(endpoint.request);
  const validateQuery = endpoint.query && compileValidator(endpoint.query);
  const fields = (endpoint.request as { properties?: object }).properties ?? {};

  return async function handle(ctx, principal, services, request, setHeaders) {
    if (endpoint.scope) requireScope(principal, endpoint.scope);
    const format = responseFormat(ctx, endpoint.list !== undefined);
    const sent = await readBody(ctx, request, endpoint.bodyLimit);
    const { normalized: body, errors } = normalizeStrings(
      isLenient(ctx) ? knownFields(ctx, sent, fields) : sent,
    );
    requireOwnOrganization(body.organization_id, principal);
    if (!('organization_id' in fields)) delete body.organization_id;
    const { query, errors: queryErrors } = readQuery(ctx, endpoint.query, validateQuery);
    const { key, errors: keyErrors } = readIdempotencyKey(ctx, endpoint.idempotent);
    errors.push(...validateBody(body), ...queryErrors, ...keyErrors);
    if (format && endpoint.list) errors.push(...pageFieldErrors(body, endpoint.list));
    if (errors.length > 0) throw invalid(...errors);
    request.bodyArrived(endpoint.slots?.(body) ?? 1);
    const idempotency =
      key === undefined ? undefined : { route: endpoint.path, key, fingerprint: fingerprint(body, query) };
    const context = new RequestContext(ctx, request, principal, { body, query, services, idempotency });
    if (format && endpoint.list) {
      setHeaders();
      await sendExport(ctx, request, endpoint.list, context, format);
      return undefined;
    }
    const response = (await endpoint.handle(context)) as object;
    const serialized = serialize(response);
    const json = typeof serialized === 'string' ? serialized : await serialized;
    const bytes = Buffer.byteLength(json);
    request.answer(bytes);
    return { json, bytes };
  };
}

/**
 * What a handler is given. A class, because of the accessor: V8 gives each object literal with one a hidden class of its own, which
 * is allocated among old objects and keeps the whole request until the next full collection.
 */
class RequestContext<Services> implements HandlerContext<unknown, unknown, Services> {
  readonly body: unknown;
  readonly query: unknown;
  readonly organizationId: string;
  readonly keyId: string;
  readonly services: Services;
  readonly idempotency: HandlerContext<unknown, unknown>['idempotency'];
  readonly ctx: Context;
  readonly ticket: AdmissionTicket;

  constructor(
    ctx: Context,
    ticket: AdmissionTicket,
    { organizationId, keyId }: Principal,
    fields: Pick<HandlerContext<unknown, unknown, Services>, 'body' | 'query' | 'services' | 'idempotency'>,
  ) {
    this.body = fields.body;
    this.query = fields.query;
    this.organizationId = organizationId;
    this.keyId = keyId;
    this.services = fields.services;
    this.idempotency = fields.idempotency;
    this.ctx = ctx;
    this.ticket = ticket;
  }

  get signal(): AbortSignal {
    return this.ticket.signal;
  }

  setHeader(name: string, value: string): void {
    this.ctx.set(name, value);
  }
}

/** Throws the same 403 whether the other organization exists or not. */
function requireOwnOrganization(organizationId: unknown, principal: Principal): void {
  if (typeof organizationId !== 'string' || organizationId === principal.organizationId) return;
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

/** `Prefer: handling=lenient` (RFC 7240). */
function isLenient(ctx: Context): boolean {
  const { prefer } = ctx.req.headers;
  return prefer !== undefined && /\bhandling\s*=\s*"?lenient/i.test(String(prefer));
}

/** Drops unknown fields and lists them in `X-Ignored-Fields`. */
function knownFields(ctx: Context, sent: Record<string, unknown>, fields: object): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  const ignored: string[] = [];
  for (const name in sent) {
    const value = sent[name];
    if (Object.hasOwn(fields, name) || name === 'organization_id') known[name] = value;
    else if (value !== null && value !== '') ignored.push(name);
  }
  ctx.set('Preference-Applied', 'handling=lenient');
  if (ignored.length > 0) ctx.set('X-Ignored-Fields', ignoredFields(ignored));
  return known;
}

/** Percent-encoded names, as many as fit into 4096 characters. */
function ignoredFields(names: readonly string[]): string {
  let header = '';
  for (const name of names) {
    const next = encodeURIComponent(name.slice(0, 128).toWellFormed());
    if (header.length + next.length > MAX_HEADER_LENGTH) break;
    header += header === '' ? next : `, ${next}`;
  }
  return header;
}

/** Null for JSON. Throws 406. */
function responseFormat(ctx: Context, isList: boolean): ExportFormat | null {
  const { accept } = ctx.req.headers;
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return null;
  const format = isList ? negotiateFormat(ctx) : ctx.accepts(JSON_TYPES) ? null : undefined;
  if (format !== undefined) return format;
  const others = isList ? `, ${Object.values(EXPORT_TYPES).join(' or ')}` : '';
  throw new Problem(
    'not_acceptable',
    `Answers are application/json${others}; the Accept header excludes it.`,
  );
}
