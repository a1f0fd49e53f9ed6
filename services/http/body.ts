import type { Context, Middleware } from 'koa';
import koaBodyparser from 'koa-bodyparser';
import { isObject } from '../shared/json.js';
import { hasTooManyValues, MAX_VALUES } from '../shared/json-values.js';
import type { AdmittedRequest } from './admission.js';
import { Problem } from './problems.js';

/** Default maximum of a JSON body, in bytes. */
export const BODY_LIMIT = 1024 * 1024;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

const parsed = async () => {};
const parsers = new Map<number, Middleware>();

/** A parser that leaves the body as bytes, so that its values can be counted before it is parsed. */
function parserOf(limit: number): Middleware {
  let parser = parsers.get(limit);
  if (!parser) {
    parser = koaBodyparser({
      enableTypes: ['text'],
      extendTypes: { text: ['application/json'] },
      // The cast is needed because the types do not know that the limit may be a number and that null returns bytes.
      ...({ textLimit: limit, encoding: null } as object),
      onerror: (error: Error & { type?: string }) => {
        if (error.type === 'entity.too.large') throw tooLarge(limit);
        throw new Problem('invalid_json', 'The body ended early.');
      },
    });
    parsers.set(limit, parser);
  }
  return parser;
}

/** Reads the JSON object of a request. Throws 400, 413, 415, 422 `too_many_values`, and 503 if admission rejects its bytes. */
export async function readBody(
  ctx: Context,
  admitted: AdmittedRequest,
  limit = BODY_LIMIT,
): Promise<Record<string, unknown>> {
  // The parser rejects malformed parameters of the media type, so the parameters are removed.
  ctx.req.headers['content-type'] = requireMediaType(ctx, ['application/json']);
  const { 'content-encoding': encoding, 'content-length': length } = ctx.req.headers;
  if (encoding !== undefined && encoding !== 'identity') {
    throw new Problem('unsupported_media_type', 'Send the body as it is, without a content encoding.');
  }
  if (Number(length) > limit) throw tooLarge(limit);
  // Without Content-Length, reserves the maximum.
  admitted.acquire('bodyBytes', length === undefined ? limit : Number(length));
  sendContinue(ctx);
  await parserOf(limit)(ctx, parsed);
  const sent = ctx.request.body;
  const bytes = Buffer.isBuffer(sent) ? sent : Buffer.alloc(0);
  admitted.costs.received(bytes.length);
  const body = parseJson(bytes);
  if (!isObject(body)) throw new Problem('invalid_body', 'The body must be a JSON object.');
  return body;
}

function parseJson(bytes: Buffer): unknown {
  if (hasTooManyValues(bytes)) {
    throw new Problem('too_many_values', `The body may have at most ${MAX_VALUES} values.`);
  }
  let text: string;
  try {
    text = UTF8.decode(bytes);
  } catch {
    throw new Problem('invalid_json', 'The body is not valid UTF-8.');
  }
  if (text.trim() === '') throw new Problem('invalid_json', 'The body is empty; send a JSON object.');
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position (\d+)/.exec((error as Error).message)?.[1];
    const place = position === undefined ? '' : ` (near character ${position})`;
    throw new Problem('invalid_json', `The body is not valid JSON${place}.`);
  }
}

const tooLarge = (limit: number) =>
  new Problem('body_too_large', `The body may have at most ${limit} bytes.`);

/** Responds to `Expect: 100-continue` once the request may be accepted. */
export function sendContinue({ req, res }: Context): void {
  if (req.headers.expect !== undefined && req.httpVersion === '1.1') res.writeContinue();
}

/** Returns the media type of the body. Throws 415 unless it is one of `types`, in UTF-8. */
export function requireMediaType(ctx: Context, types: readonly string[]): string {
  const { type, charset } = mediaTypeOf(ctx, types);
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    throw new Problem(
      'unsupported_media_type',
      `The body must be in UTF-8, not ${JSON.stringify(charset.slice(0, 64))}.`,
    );
  }
  return type;
}

/** Returns the media type of the body, and its charset as written. Throws 415 unless the type is one of `types`. */
export function mediaTypeOf(
  ctx: Context,
  types: readonly string[],
): { type: string; charset: string | undefined } {
  const header = ctx.req.headers['content-type'] ?? '';
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  if (!types.includes(type)) {
    const sent = header === '' ? 'no Content-Type' : `Content-Type ${JSON.stringify(header.slice(0, 128))}`;
    throw new Problem('unsupported_media_type', `Send ${types.join(' or ')}; the request has ${sent}.`);
  }
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice(8)
    .replaceAll('"', '');
  return { type, charset };
}
