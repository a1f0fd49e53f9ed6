import { isUtf8 } from 'node:buffer';
import type { Context, Middleware } from 'koa';
import koaBodyparser from 'koa-bodyparser';
import { escapePointer, type FieldError, fieldName, MAX_ERRORS } from '../shared/validation.js';
import type { AdmissionTicket } from './admission-ticket.js';
import { Problem } from './problems.js';

/** Default maximum of a body, in bytes. */
export const BODY_LIMIT = 1024 * 1024;

/** Maximum in bytes of bodies that hold little more than identifiers. */
export const SMALL_BODY_LIMIT = 64 * 1024;

export type BodyLimit = typeof BODY_LIMIT | typeof SMALL_BODY_LIMIT;

const parserOf = (limit: number) =>
  koaBodyparser({
    enableTypes: ['json'],
    // The media type is checked before.
    detectJSON: () => true,
    strict: false,
    // The types lack that a number needs no parsing; validation rejects `__proto__` as an unknown field.
    ...({ jsonLimit: limit, onProtoPoisoning: 'ignore' } as object),
    onerror: (error) => {
      throw toProblem(error, limit);
    },
  });
const parsers = new Map([BODY_LIMIT, SMALL_BODY_LIMIT].map((limit) => [limit, parserOf(limit)]));
const parsed = async () => {};

/** The JSON object of a request. Throws 400, 413, 415, and 503 where admission rejects its bytes. */
export async function readBody(
  ctx: Context,
  request: AdmissionTicket,
  limit: BodyLimit = BODY_LIMIT,
): Promise<Record<string, unknown>> {
  requireMediaType(ctx, ['application/json']);
  const encoding = ctx.req.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new Problem('unsupported_media_type', 'Send the body as it is, without a content encoding.');
  }
  const { 'content-length': length } = ctx.req.headers;
  // Without a Content-Length, the maximum is reserved.
  request.receive(length === undefined ? limit : Math.min(Number(length), limit));
  sendContinue(ctx);
  const chunks: Buffer[] = [];
  // The parser replaces invalid UTF-8; keep the raw chunks to detect it. A listener attached in the same tick misses none.
  ctx.req.on('data', (chunk: Buffer) => chunks.push(chunk));
  await (parsers.get(limit) as Middleware)(ctx, parsed);
  const raw = ctx.request.rawBody as string | undefined;
  if (raw?.includes('\ufffd') && !isUtf8(Buffer.concat(chunks))) {
    throw new Problem('invalid_json', 'The body is not valid UTF-8.');
  }
  const body: unknown = ctx.request.body;
  if (raw === undefined || raw.trim() === '')
    throw new Problem('invalid_json', 'The body is empty; send a JSON object.');
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new Problem('invalid_body', 'The body must be a JSON object.');
  }
  return body as Record<string, unknown>;
}

/** Answers `Expect: 100-continue`, once the request may be accepted. */
export function sendContinue({ req, res }: Context): void {
  if (req.headers.expect !== undefined && req.httpVersion === '1.1') res.writeContinue();
}

/** The media type of the body. Throws 415 unless it is one of `types`, in UTF-8. */
export function requireMediaType(ctx: Context, types: readonly string[]): string {
  const header = ctx.req.headers['content-type'] ?? '';
  if (types.includes(header)) return header;
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  if (!types.includes(type)) {
    const sent = header === '' ? 'no Content-Type' : `Content-Type ${JSON.stringify(header.slice(0, 128))}`;
    throw new Problem('unsupported_media_type', `Send ${types.join(' or ')}; the request has ${sent}.`);
  }
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw new Problem(
      'unsupported_media_type',
      `The body must be in UTF-8, not ${JSON.stringify(charset.slice(0, 64))}.`,
    );
  }
  return type;
}

function toProblem(error: Error & { type?: string }, limit: number): Problem {
  if (error.type === 'entity.too.large') {
    return new Problem('body_too_large', `The body may have at most ${limit} bytes.`);
  }
  if (error.type === 'request.aborted') return new Problem('invalid_json', 'The body ended early.');
  const position = /position (\d+)/.exec(error.message)?.[1];
  return new Problem(
    'invalid_json',
    `The body is not valid JSON${position === undefined ? '' : ` (near character ${position})`}.`,
  );
}

/**
 * Trims every string, and drops null and blank values, which count as absent (contract 1.4). `errors` point to text that no store
 * can hold: NUL characters and lone surrogates.
 */
export function normalizeStrings(body: Record<string, unknown>): {
  normalized: Record<string, unknown>;
  errors: FieldError[];
} {
  const errors: FieldError[] = [];
  // Without a prototype, so that `__proto__` is an ordinary field.
  const normalized: Record<string, unknown> = Object.hasOwn(body, '__proto__') ? Object.create(null) : {};
  for (const name in body) {
    // One level deep, as every request is: recursion could overflow the stack.
    let value = body[name];
    if (typeof value === 'string') value = normalizeString(value, errors, name);
    else if (Array.isArray(value)) {
      value = value.map((item, index) =>
        typeof item === 'string' ? normalizeString(item, errors, name, index) : item,
      );
    }
    if (value !== null && value !== '') normalized[name] = value;
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
