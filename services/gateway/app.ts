import { createHash } from 'node:crypto';
import { Router } from '@koa/router';
import Koa, { type Context } from 'koa';
import type { Logger } from 'pino';
import type { Publisher } from '../../ingest/publisher.js';
import { createHandler } from '../http/handler.js';
import type { Principal } from '../http/principal.js';
import { Problem } from '../http/problems.js';
import { cached } from '../shared/cache.js';
import { type Clock, utcDate } from '../shared/time.js';
import type { Version } from '../shared/version.js';
import type { Stores } from '../stores/open-stores.js';
import { Admission } from './admission.js';
import { type ApiEndpoint, type ApiServices, apiDocument, endpoints } from './api.js';
import { createAuthenticate } from './authenticate.js';
import { createClientAddress } from './client-address.js';
import { createCors } from './cors.js';
import { DOCS_CSP, renderDocs } from './docs-page.js';
import { createErrorWriter } from './error-handler.js';
import { checkReadiness } from './health.js';
import { createIntake } from './ingest-endpoint.js';
import { instrumentStore, type StoreTiming } from './instrument-store.js';
import type { Metrics } from './metrics.js';
import type { RateLimiter } from './rate-limit.js';
import { createRequestContext } from './request-context.js';

export interface AppDependencies {
  stores: Pick<Stores, 'search' | 'analytics'>;
  /** Where records are taken into; their stores when absent. */
  publisher?: Publisher;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
  version: Version;
  rateLimiter: RateLimiter;
  corsOrigins: readonly string[];
  /** Proxies whose `X-Forwarded-For` is believed. */
  trustedProxies?: readonly string[];
  requestTimeoutMs: number;
  provisionalDays: number;
  /** Whether `/metrics` is among the routes; true when absent. */
  servesMetrics?: boolean;
  /** True once the process has begun to stop. */
  stopping(): boolean;
}

/** Milliseconds for which readiness is not asked for again: nobody needs a key to ask. */
const CACHE_MS = 1000;

/** Codes of a client that leaves in the middle of a request or answer, or sends what is not HTTP: no failure of ours. */
const LEAVING = /^(?:ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|HPE_\w+)$/;

/** The gateway as a Koa application. It listens on nothing and opens nothing by itself. */
export function createApp(dependencies: AppDependencies, served: readonly ApiEndpoint[] = endpoints): Koa {
  const { stores, publisher, logger, metrics, clock, version } = dependencies;
  const authenticate = createAuthenticate(stores.search, clock);
  const addressOf = createClientAddress(dependencies.trustedProxies);
  const timedSearch = instrumentStore(stores.search, 'search', metrics.stores);
  const timedAnalytics = instrumentStore(stores.analytics, 'analytics', metrics.stores);
  const admission = new Admission(dependencies.requestTimeoutMs);
  metrics.measure({ usage: () => admission.total });
  const router = new Router();

  /** The caller, after key and rate limit. Answers without a promise while the key is fresh in memory. */
  function admit(ctx: Context): Principal | Promise<Principal> {
    const known = authenticate(
      ctx.req.headers['x-api-key'] as string | undefined,
      ctx.state.client as string,
    );
    return known instanceof Promise ? known.then((principal) => limit(ctx, principal)) : limit(ctx, known);
  }

  function limit(ctx: Context, principal: Principal): Principal {
    ctx.state.principal = principal;
    const headers = dependencies.rateLimiter.take(principal.keyId);
    if (headers) ctx.set(headers);
    return principal;
  }

  function servicesOf(timing: StoreTiming): ApiServices {
    return {
      search: timedSearch(timing),
      analytics: timedAnalytics(timing),
      clock,
      provisionalDays: dependencies.provisionalDays,
    };
  }

  for (const endpoint of served) {
    const handle = createHandler(endpoint);
    router.post(endpoint.path, async (ctx) => {
      ctx.state.operation = endpoint.path;
      const admitted = admit(ctx);
      const principal = admitted instanceof Promise ? await admitted : admitted;
      const timing = { storeMs: 0 };
      await admission.run(ctx, principal.keyId, (request) =>
        handle(ctx, principal, servicesOf(timing), request),
      );
      ctx.set('Server-Timing', `store;dur=${timing.storeMs.toFixed(1)}`);
    });
  }

  const intake = createIntake(stores, publisher, metrics, clock);
  router.post('/api/ingest/:stream', async (ctx) => {
    ctx.state.operation = '/api/ingest/{stream}';
    const principal = await admit(ctx);
    await admission.run(ctx, principal.keyId, (request) => intake(ctx, principal, request));
  });

  router.get('/livez', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  const checkStores = cached(CACHE_MS, () => checkReadiness({ ...stores, intake: publisher }));
  router.get('/readyz', async (ctx) => {
    const { ready, stores: states } = await checkStores();
    const stopping = dependencies.stopping();
    ctx.status = ready && !stopping ? 200 : 503;
    ctx.body = { ready: ready && !stopping, stores: states, stopping };
  });
  if (dependencies.servesMetrics !== false) {
    router.get('/metrics', async (ctx) => {
      ctx.type = metrics.registry.contentType;
      ctx.body = await metrics.render();
    });
  }
  router.get('/version', (ctx) => {
    ctx.body = version;
  });
  const document = () => apiDocument(served, version.version);
  router.get(
    '/openapi.json',
    serveText(clock, 'application/json', () => JSON.stringify(document())),
  );
  const docsHeaders = { 'Content-Security-Policy': DOCS_CSP };
  router.get(
    '/docs',
    serveText(clock, 'html', () => renderDocs(document()), docsHeaders),
  );

  const app = new Koa();
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (LEAVING.test(error.code ?? '')) logger.debug({ err: error }, 'the connection of a request ended');
    else logger.error({ err: error }, 'answer could not be written');
  });
  app.use(
    createRequestContext(
      logger,
      metrics,
      addressOf,
      createCors(dependencies.corsOrigins),
      createErrorWriter(logger),
    ),
  );
  app.use(router.routes());
  app.use((ctx) => refuseUnrouted(ctx, router));
  return app;
}

/** Text that changes from day to day only, as its examples name recent ones: made once a day, and not sent to whoever has it. */
function serveText(clock: Clock, type: string, make: () => string, headers: Record<string, string> = {}) {
  let day = '';
  let body = Buffer.alloc(0);
  let etag = '';
  return (ctx: Context): void => {
    const today = utcDate(clock.now());
    if (today !== day) {
      body = Buffer.from(make());
      etag = createHash('sha256').update(body).digest('base64url');
      day = today;
    }
    // Asked for again each time, and sent only where it has changed.
    ctx.set('Cache-Control', 'no-cache');
    ctx.set(headers);
    ctx.etag = etag;
    ctx.type = type;
    ctx.status = 200;
    if (ctx.fresh) ctx.status = 304;
    else ctx.body = body;
  };
}

function refuseUnrouted(ctx: Context, router: Router): void {
  const allowed = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods));
  if (allowed.size > 0 && !allowed.has(ctx.method)) {
    const allow = [...allowed].join(', ');
    throw new Problem('method_not_allowed', `${ctx.path} takes ${allow}.`, {}, { Allow: allow });
  }
  throw new Problem(
    'route_not_found',
    `There is nothing at ${ctx.method} ${ctx.path.slice(0, 256)}; see /openapi.json for what there is.`,
  );
}
