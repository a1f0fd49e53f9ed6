import { pipeline } from 'node:stream/promises';
import type { Context } from 'koa';
import { compress, compressStream } from './compression.js';
import { answerUnreadBody } from './unread-body.js';

export interface Response {
  /** Status of the response; default 200. */
  status?: number;
  headers?: Record<string, string>;
  /** Media type of the response; default JSON. */
  type?: string;
  /** Body of the response. Chunks are sent as they come. If the iteration fails, the connection is destroyed. */
  body?: string | Buffer | AsyncIterable<Buffer>;
}

/**
 * Sends a response; all code responds through this function. Resolves once a stream is sent; other responses are sent after all
 * middlewares.
 */
export async function respond(
  ctx: Context,
  { status = 200, headers = {}, type = 'application/json; charset=utf-8', body }: Response,
): Promise<void> {
  ctx.status = status;
  ctx.set(headers);
  if (body === undefined) return;
  if (status === 200 && ctx.fresh) {
    ctx.vary('Accept-Encoding');
    ctx.status = 304;
    return;
  }
  ctx.set('Content-Type', type);
  if (typeof body !== 'string' && !Buffer.isBuffer(body)) {
    const encoder = compressStream(ctx);
    ctx.respond = false;
    await (encoder ? pipeline(body, encoder, ctx.res) : pipeline(body, ctx.res));
    return;
  }
  if (status >= 400 && !ctx.req.complete) {
    ctx.respond = false;
    answerUnreadBody(ctx.req, ctx.res, body);
  } else {
    ctx.body = await compress(ctx, body);
  }
}
