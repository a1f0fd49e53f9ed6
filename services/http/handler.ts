/** Runs the checks of every operation in the order of contract 3.2 (scope, body, organization, rules), then its handler. */
import type { Context } from 'koa';
import type { TSchema } from 'typebox';
import type { AdmittedRequest } from './admission.js';
import { type AnswerServices, answerOnce } from './answer-once.js';
import { readBody } from './body.js';
import type { Endpoint, ExportFormat, HandlerContext, MatchList } from './endpoint.js';
import { EXPORT_TYPES, type ExportForm, negotiateForm, sendExport } from './export.js';
import { isReplay, repetitionOf } from './idempotency.js';
import { type Principal, requireScopes } from './principal.js';
import { Problem } from './problems.js';
import { ProgressLines } from './progress.js';
import { parseRequest, propertiesOf, type SentRequest } from './request.js';
import { serialize } from './serialize.js';

/** Maximum length of the ignored fields in a header. Common clients reject more than 8 or 16 KiB of headers in total. */
const MAX_HEADER_LENGTH = 4096;

/**
 * Serves one request. Resolves with the JSON of the response, or with undefined once it has sent an export or progress lines. Throws a
 * Problem if it rejects the request.
 */
export async function handleRequest<Services extends AnswerServices>(
  endpoint: Endpoint<TSchema, TSchema, TSchema, Services>,
  ctx: Context,
  principal: Principal,
  services: Services,
  admitted: AdmittedRequest,
): Promise<Buffer | undefined> {
  const { list, hasProgress = false } = endpoint;
  requireScopes(principal, endpoint.scope);
  const form = responseForm(ctx, { list, hasProgress });
  const lines = hasProgress && form !== null ? new ProgressLines(ctx) : undefined;
  const { body, source } = await readInput(endpoint, ctx, admitted);
  const idempotencyKey = ctx.req.headers['idempotency-key'] as string | undefined;
  const sent = { body, query: ctx.query, idempotencyKey };
  const context = contextOf(endpoint, sent, principal, services, admitted, list && form ? form.format : null);
  context.source = source;
  if (lines) {
    ctx.state.lines = lines;
    context.onProgress = (progress) => lines.send(progress);
  }
  context.params = ctx.params as Record<string, string>;
  // The body of records is still arriving, so the request keeps its place among the arriving bodies.
  if (!source) admitted.startWork(endpoint.slots?.(context.body) ?? 1);
  if (form && list) {
    await sendExport(ctx, admitted, list, context, form);
    return undefined;
  }
  const json = await answerOf(endpoint, context, admitted);
  ctx.set(context.responseHeaders);
  const isRead = endpoint.scope.every((scope) => scope.endsWith(':read'));
  admitted.countResponse(json.length, { isRead });
  if (!lines) return json;
  lines.end(json);
  return undefined;
}

/** Runs an operation within the request of another route, and adds to its slots. Resolves with JSON. Throws like `handleRequest`. */
export async function runOperation<Services extends AnswerServices>(
  endpoint: Endpoint<TSchema, TSchema, TSchema, Services>,
  sent: SentRequest,
  principal: Principal,
  services: Services,
  admitted: AdmittedRequest,
): Promise<Buffer> {
  requireScopes(principal, endpoint.scope);
  const context = contextOf(endpoint, sent, principal, services, admitted);
  admitted.acquire('slots', endpoint.slots?.(context.body) ?? 1);
  return answerOf(endpoint, context, admitted);
}

async function answerOf<Services extends AnswerServices>(
  endpoint: Endpoint<TSchema, TSchema, TSchema, Services>,
  context: HandlerContext<unknown, unknown, Services>,
  { costs }: AdmittedRequest,
): Promise<Buffer> {
  const { idempotency } = context;
  const isDryRun = (context.query as { dry_run?: boolean }).dry_run === true;
  if (idempotency && !isDryRun && repetitionOf(endpoint) === 'answer') {
    return answerOnce(endpoint, { ...context, idempotency }, (bytes) => costs.kept(bytes));
  }
  const json = await serialize(await endpoint.handle(context));
  // The store keeps about this many bytes for the next request with the idempotency key.
  if (context.idempotency && !isReplay(context)) costs.kept(json.length);
  return json;
}

/** Validates the request and returns the context of its handler. */
function contextOf<Services>(
  endpoint: Endpoint<TSchema, TSchema, TSchema, Services>,
  sent: SentRequest,
  principal: Principal,
  services: Services,
  { signal }: AdmittedRequest,
  format: ExportFormat | null = null,
): HandlerContext<unknown, unknown, Services> {
  const { organizationId, keyId } = principal;
  const request = parseRequest(endpoint, sent, organizationId, format);
  if (endpoint.queryScope) requireScopes(principal, endpoint.queryScope(request.query));
  if (endpoint.bodyScope) requireScopes(principal, endpoint.bodyScope(request.body));
  const beginsToWrite = () => undefined;
  return {
    ...request,
    params: {},
    organizationId,
    keyId,
    services,
    signal,
    beginsToWrite,
    responseHeaders: {},
  };
}

async function readInput(
  { method, source, request, bodyLimit }: Pick<Endpoint, 'method' | 'source' | 'request' | 'bodyLimit'>,
  ctx: Context,
  admitted: AdmittedRequest,
) {
  if (method === 'GET') return { body: {} };
  if (source) return { body: {}, source: source.read(ctx, admitted) };
  const body = await readBody(ctx, admitted, bodyLimit);
  return { body: isLenient(ctx) ? knownFields(ctx, body, propertiesOf(request)) : body };
}

/** Whether the request has `Prefer: handling=lenient` (RFC 7240). */
function isLenient(ctx: Context): boolean {
  return ctx
    .get('Prefer')
    .split(',')
    .some((preference) => /^\s*handling\s*=\s*"?lenient"?\s*(?:;|$)/i.test(preference));
}

/** Drops unknown fields and lists them in `X-Ignored-Fields`. */
function knownFields(ctx: Context, sent: Record<string, unknown>, fields: object): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  const ignored: string[] = [];
  for (const [name, value] of Object.entries(sent)) {
    if (Object.hasOwn(fields, name)) known[name] = value;
    else if (value !== null && value !== '') ignored.push(name);
  }
  ctx.set('Preference-Applied', 'handling=lenient');
  if (ignored.length > 0) ctx.set('X-Ignored-Fields', ignoredFields(ignored));
  return known;
}

/** Percent-encoded names of ignored fields, as many as fit into 4096 characters. */
function ignoredFields(names: readonly string[]): string {
  let header = '';
  for (const name of names) {
    const next = encodeURIComponent(name.slice(0, 128).toWellFormed());
    if (header.length + next.length > MAX_HEADER_LENGTH) break;
    header += header === '' ? next : `, ${next}`;
  }
  return header;
}

/** The form of an export or of progress; null for JSON. Throws 406 if the client accepts none of the forms. */
function responseForm(
  ctx: Context,
  { list, hasProgress }: { list?: Pick<MatchList, 'profiles'>; hasProgress: boolean },
): ExportForm | null {
  const { accept } = ctx.req.headers;
  if (accept === undefined || accept === '*/*' || accept === 'application/json') return null;
  const formats = list ? EXPORT_TYPES : hasProgress ? { ndjson: EXPORT_TYPES.ndjson } : {};
  const form = negotiateForm(ctx, formats, list?.profiles);
  if (form !== undefined) return form;
  const profiles = Object.keys(list?.profiles ?? {}).map((name) => `${EXPORT_TYPES.csv}; profile=${name}`);
  const others = [...Object.values(formats), ...profiles];
  throw new Problem(
    'not_acceptable',
    `Responses are ${['application/json', ...others].join(' or ')}; the Accept header excludes them.`,
  );
}
