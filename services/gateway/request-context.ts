import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import { newId } from '../shared/ids.js';
import type { Principal } from './authenticate.js';
import type { Metrics } from './metrics.js';

const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Gives every request its id, and writes its line to the log and its time to the metrics once the answer has gone out. */
export function createRequestContext(logger: Logger, metrics: Metrics) {
  return function requestContext(ctx: Context, next: Next): Promise<void> {
    const begun = performance.now();
    const given = ctx.get('X-Request-Id');
    const requestId = REQUEST_ID.test(given) ? given : newId('req');
    ctx.state.requestId = requestId;
    ctx.set('X-Request-Id', requestId);
    ctx.set('X-Content-Type-Options', 'nosniff');
    ctx.set('Cache-Control', 'no-store');

    ctx.res.once('close', () => {
      const elapsed = performance.now() - begun;
      const { problem, principal, operation } = ctx.state as {
        problem?: string;
        principal?: Principal;
        operation?: string;
      };
      const status = ctx.res.writableFinished ? ctx.status : 499;
      metrics.requests.observe({ operation: operation ?? 'other', status }, elapsed / 1000);
      if (problem !== undefined) metrics.problems.inc({ code: problem });
      logger.info(
        {
          request_id: requestId,
          method: ctx.method,
          path: ctx.path,
          status,
          code: problem,
          duration_ms: Math.round(elapsed * 10) / 10,
          key_id: principal?.keyId,
          organization_id: principal?.organizationId,
        },
        'request',
      );
    });
    return next();
  };
}
