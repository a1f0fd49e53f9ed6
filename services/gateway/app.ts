import { Router } from '@koa/router';
import Koa, { type Context } from 'koa';
import { Admission } from '../http/admission.js';
import { Problem } from '../http/problems.js';
import { didYouMean } from '../shared/did-you-mean.js';
import { type ApiEndpoint, apiDocument, operations } from './api.js';
import { createClientAddress } from './client-address.js';
import { addConsoleRoutes } from './console.js';
import { createCors } from './cors.js';
import { addDocumentationRoutes } from './docs.js';
import { answerErrors } from './error-handler.js';
import { addOperationalRoutes, type OperationalDeps } from './operational-routes.js';
import { addOperations, type OperationDeps } from './operations.js';
import { createRequestContext } from './request-context.js';

export interface AppDeps extends OperationDeps, OperationalDeps {
  /** Addresses and CIDR blocks of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies?: readonly string[];
  requestTimeoutMs: number;
  /** Maximum bytes of records of one request; default 1 GiB. */
  maxIngestBytes?: number;
}

/** Error codes of a client that disconnects during a request or response, or that sends something other than HTTP. */
const CLIENT_ERRORS = /^(?:ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|HPE_\w+)$/;

/** Creates the gateway as a Koa application, which does not listen and opens no store. */
export function createApp(deps: AppDeps, served: readonly ApiEndpoint[] = operations): Koa {
  const { logger, metrics, clock, version } = deps;
  const router = new Router({ strict: true, sensitive: true });
  const admission = new Admission(deps.requestTimeoutMs);
  if (deps.maxIngestBytes !== undefined) admission.maxIngestBytes = deps.maxIngestBytes;
  metrics.measure({ usage: () => admission.total });
  const document = () => apiDocument(served, version.version);
  addOperations(router, served, admission, deps);
  addOperationalRoutes(router, document, deps);
  addDocumentationRoutes(router, document, clock);
  addConsoleRoutes(router);

  const app = new Koa();
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (CLIENT_ERRORS.test(error.code ?? '')) logger.debug({ err: error }, 'client disconnected');
    else logger.error({ err: error }, 'the response could not be written');
  });
  app.use(createRequestContext(logger, metrics, createClientAddress(deps.trustedProxies)));
  app.use(answerErrors(logger));
  app.use(createCors(deps.corsOrigins));
  app.use(router.routes());
  const paths = served.map(({ path }) => path);
  app.use((ctx) => rejectUnrouted(ctx, router, paths));
  return app;
}

function rejectUnrouted(ctx: Context, router: Router, paths: readonly string[]): never {
  const allowed = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods));
  if (allowed.size > 0 && !allowed.has(ctx.method)) {
    const allow = [...allowed].join(', ');
    throw new Problem('method_not_allowed', `${ctx.path} takes ${allow}.`, {}, { Allow: allow });
  }
  const hint = didYouMean(ctx.path, paths) || 'See /openapi.json.';
  throw new Problem('route_not_found', `No route for ${ctx.method} ${ctx.path.slice(0, 256)}. ${hint}`);
}
