import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import { compressResponse } from '../http/compression.js';
import { newId } from '../shared/ids.js';
import { loggedPath } from '../shared/logger.js';
import type { ClientAddress } from './client-address.js';
import type { Cors } from './cors.js';
import type { ErrorWriter } from './error-handler.js';
import type { Metrics } from './metrics.js';
import type { RequestState } from './request-state.js';
import { sendJson, setHeaders } from './send-json.js';

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/**
 * The outermost middleware: assigns the request id, turns errors into problems, compresses, and logs and measures the request once the response
 * is sent. One function, because each middleware costs time per request.
 */
export function createRequestContext(
  logger: Logger,
  metrics: Metrics,
  addressOf: ClientAddress,
  cors: Cors,
  writeError: ErrorWriter,
) {
  return async function requestContext(ctx: Context, next: Next): Promise<void> {
    const startedAt = performance.now();
    const { headers } = ctx.req;
    const given = headers['x-request-id'] as string | undefined;
    const requestId = given !== undefined && REQUEST_ID.test(given) ? given : newId('req');
    const state: RequestState = {
      requestId,
      client: addressOf(ctx.req),
      headers: ['X-Request-Id', requestId, 'X-Content-Type-Options', 'nosniff', 'Cache-Control', 'no-store'],
    };
    ctx.state = state;
    ctx.res.once('close', () => finish(ctx, state, startedAt));
    try {
      if (headers.origin === undefined || cors(ctx, headers.origin)) await next();
      if (sendJson(ctx, state)) return;
    } catch (error) {
      state.answer = undefined;
      setHeaders(ctx, state);
      writeError(ctx, error);
    }
    if (state.answer !== undefined) {
      ctx.type = 'application/json';
      ctx.body = state.answer.json;
    }
    if (ctx.respond !== false) setHeaders(ctx, state);
    await compressResponse(ctx);
  };

  function finish(ctx: Context, state: RequestState, startedAt: number): void {
    const elapsed = performance.now() - startedAt;
    state.admitted?.closed();
    // 499, as in nginx: the client disconnected before the response was complete.
    const status = ctx.res.writableFinished ? ctx.res.statusCode : (state.cutOffStatus ?? 499);
    metrics.observeRequest(state.operation ?? 'other', status, elapsed / 1000);
    if (state.problem !== undefined) metrics.problems.inc({ code: state.problem });
    logger.info(
      {
        request_id: state.requestId,
        method: ctx.req.method,
        path: loggedPath(ctx.path),
        status,
        code: state.problem,
        duration_ms: Math.round(elapsed * 10) / 10,
        client: state.client,
        key_id: state.principal?.keyId,
        organization_id: state.principal?.organizationId,
      },
      'request',
    );
  }
}
