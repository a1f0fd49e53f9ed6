import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import { newId } from '../shared/ids.js';
import { loggedPath } from '../shared/logger.js';
import type { ClientAddress } from './client-address.js';
import type { Cors } from './cors.js';
import type { ErrorWriter } from './error-handler.js';
import type { Metrics } from './metrics.js';
import type { RequestState } from './request-state.js';

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/**
 * The outermost middleware: gives every request its id, turns errors into answers, and writes the request's line to the log
 * and its time to the metrics once the answer has gone out. It is one function, since each layer costs every request.
 */
export function createRequestContext(
  logger: Logger,
  metrics: Metrics,
  addressOf: ClientAddress,
  cors: Cors,
  writeError: ErrorWriter,
) {
  return async function requestContext(ctx: Context, next: Next): Promise<void> {
    const begun = performance.now();
    const { headers } = ctx.req;
    const given = headers['x-request-id'] as string | undefined;
    const requestId = given !== undefined && REQUEST_ID.test(given) ? given : newId('req');
    const state: RequestState = { requestId, client: addressOf(ctx.req) };
    ctx.state = state;
    ctx.res.setHeader('X-Request-Id', requestId);
    ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
    ctx.res.setHeader('Cache-Control', 'no-store');
    ctx.res.once('close', () => finish(ctx, state, begun));
    try {
      if (headers.origin === undefined || cors(ctx, headers.origin)) await next();
    } catch (error) {
      writeError(ctx, error);
    }
  };

  function finish(ctx: Context, state: RequestState, begun: number): void {
    const elapsed = performance.now() - begun;
    // 499, after nginx: the client left before the answer was complete.
    state.admitted?.closed();
    const status = ctx.res.writableFinished ? ctx.res.statusCode : 499;
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
