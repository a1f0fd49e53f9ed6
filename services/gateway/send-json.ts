import type { Context } from 'koa';
import { MIN_COMPRESSED_BYTES } from '../http/compression.js';
import type { RequestState } from './request-state.js';

/** Sets the headers that were put off, unless the response has them already. */
export function setHeaders({ res }: Context, { headers }: RequestState): void {
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string;
    if (!res.hasHeader(name)) res.setHeader(name, headers[index + 1] as string);
  }
  headers.length = 0;
}

/**
 * Sends `state.answer` with one call for all headers, which costs a fraction of Koa's setters; false where the response has headers
 * of its own or may be compressed.
 */
export function sendJson(ctx: Context, { answer, headers }: RequestState): boolean {
  const { req, res } = ctx;
  if (answer === undefined || req.headers['accept-encoding'] !== undefined) return false;
  if (res.headersSent || res.destroyed || res.getHeaderNames().length > 0) return false;
  const { json, bytes } = answer;
  if (bytes >= MIN_COMPRESSED_BYTES) headers.push('Vary', 'Accept-Encoding');
  headers.push('Content-Type', 'application/json; charset=utf-8', 'Content-Length', String(bytes));
  ctx.respond = false;
  res.writeHead(200, headers);
  // Text of ASCII alone is copied, not encoded.
  if (typeof json === 'string' && bytes === json.length) res.end(json, 'latin1');
  else res.end(json);
  return true;
}
