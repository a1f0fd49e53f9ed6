import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import type { Principal } from '../http/principal.js';
import type { ProgressLines } from '../http/progress.js';
import { newId } from '../shared/ids.js';
import { loggedPath } from '../shared/logger.js';
import type { ClientAddress } from './client-address.js';
import type { Metrics } from './metrics.js';

/** `ctx.state`: what the middlewares share about one request. */
export interface RequestState {
  requestId: string;
  /** IP address of the client. */
  client: string;
  principal?: Principal;
  /** Path pattern of the route: the label of the metrics. */
  operation?: string;
  /** Code of the problem in the response. */
  problem?: string;
  /** Status of the problem that ended a response after its headers. */
  cutOffStatus?: number;
  /** The lines of a response with progress. A problem becomes the last line. */
  lines?: ProgressLines;
}

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** The outermost middleware: assigns the request id, and once the response is sent, logs and measures the request. */
export function createRequestContext(logger: Logger, metrics: Metrics, addressOf: ClientAddress) {
  return async function requestContext(ctx: Context, next: Next): Promise<void> {
    const startedAt = performance.now();
    const sentId = ctx.get('X-Request-Id');
    const requestId = REQUEST_ID.test(sentId) ? sentId : newId('req');
    const state: RequestState = { requestId, client: addressOf(ctx.req) };
    ctx.state = state;
    ctx.set({ 'X-Request-Id': requestId, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' });
    ctx.res.once('close', () => finish(ctx, state, startedAt));
    await next();
  };

  function finish(ctx: Context, state: RequestState, startedAt: number): void {
    const elapsed = performance.now() - startedAt;
    // Status 499, as in nginx: the client disconnected before the response was complete.
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
