import { createHash } from 'node:crypto';
import type { Router } from '@koa/router';
import Koa, { type Context } from 'koa';
import type { Logger } from 'pino';
import type { StoredMapping } from '../../ingest/mapping/stored-mappings.js';
import type { Publisher } from '../../ingest/publisher.js';
import { createHandler } from '../http/handler.js';
import type { Principal } from '../http/principal.js';
import { Problem } from '../http/problems.js';
import { cached } from '../shared/cache.js';
import type { UnknownFields } from '../shared/settings.js';
import { type Clock, utcDate } from '../shared/time.js';
import type { Version } from '../shared/version.js';
import { StatusReader } from '../status/status-reader.js';
import type { Stores } from '../stores/open-stores.js';
import { Admission } from './admission.js';
import { type ApiEndpoint, type ApiServices, apiDocument, endpoints } from './api.js';
import { createAuthenticate } from './authenticate.js';
import { createClientAddress } from './client-address.js';
import { addConsoleRoutes } from './console.js';
import { createCors } from './cors.js';
import { createErrorWriter } from './error-handler.js';
import { checkReadiness } from './health.js';
import { createIngestEndpoint } from './ingest-endpoint.js';
import { instrumentStore, type StoreTiming } from './instrument-store.js';
import type { Metrics } from './metrics.js';
import { KEY_PATH } from './other-operations.js';
import type { RateLimiter } from './rate-limit.js';
import { addReferenceRoutes } from './reference.js';
import { createRequestContext } from './request-context.js';
import type { RequestState } from './request-state.js';
import { OperationRouter } from './router.js';
import { setHeaders } from './send-json.js';

export interface AppDeps {
  stores: Pick<Stores, 'search' | 'analytics'>;
  /** Publishes ingested records to Kafka; without it they are written to their stores. */
  publisher?: Publisher;
  /** Mappings that ingest requests may name. */
  mappings?: ReadonlyMap<string, StoredMapping>;
  /** Of ingest requests that do not say; default `reject`. */
  unknownFields?: UnknownFields;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
  version: Version;
  rateLimiter: RateLimiter;
  corsOrigins: readonly string[];
  /** Addresses and CIDR blocks of proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies?: readonly string[];
  requestTimeoutMs: number;
  provisionalDays: number;
  /** Serves `/metrics` on this port; default true. */
  servesMetrics?: boolean;
  /** True during graceful shutdown: `/readyz` then answers 503. */
  stopping(): boolean;
}

/** Cache of `/readyz`, in milliseconds: it needs no API key, so it must not load the stores. */
const READINESS_CACHE_MS = 1000;

/** Error codes of a client that disconnects in the middle of a request or response, or does not send HTTP. */
const CLIENT_ERRORS = /^(?:ECONNRESET|EPIPE|ERR_STREAM_PREMATURE_CLOSE|HPE_\w+)$/;

/** The gateway as a Koa application. Does not listen and opens nothing. */
export function createApp(deps: AppDeps, served: readonly ApiEndpoint[] = endpoints): Koa {
  const { stores, publisher, logger, metrics, clock, version } = deps;
  const authenticate = createAuthenticate(stores.search, clock);
  const addressOf = createClientAddress(deps.trustedProxies);
  const timedSearch = instrumentStore(stores.search, 'search', metrics.stores);
  const timedAnalytics = instrumentStore(stores.analytics, 'analytics', metrics.stores);
  const admission = new Admission(deps.requestTimeoutMs);
  metrics.measure({ usage: () => admission.total });
  const router = new OperationRouter();

  /** Authenticates and rate-limits the caller. Synchronous while the key is cached. Throws 401 and 429. */
  function admit(ctx: Context): Principal | Promise<Principal> {
    const known = authenticate(
      ctx.req.headers['x-api-key'] as string | undefined,
      ctx.state.client as string,
    );
    return known instanceof Promise ? known.then((principal) => limit(ctx, principal)) : limit(ctx, known);
  }

  function limit(ctx: Context, principal: Principal): Principal {
    ctx.state.principal = principal;
    const headers = deps.rateLimiter.take(principal.keyId);
    if (headers) {
      const { RateLimit, 'RateLimit-Policy': policy } = headers;
      (ctx.state as RequestState).headers.push('RateLimit', RateLimit, 'RateLimit-Policy', policy);
    }
    return principal;
  }

  const status = new StatusReader({
    search: timedSearch({ storeMs: 0 }),
    analytics: timedAnalytics({ storeMs: 0 }),
    intake: publisher,
    clock,
    provisionalDays: deps.provisionalDays,
    version: version.version,
  });

  function servicesOf(timing: StoreTiming): ApiServices {
    return {
      search: timedSearch(timing),
      analytics: timedAnalytics(timing),
      clock,
      provisionalDays: deps.provisionalDays,
      status,
    };
  }

  for (const endpoint of served) {
    const handle = createHandler(endpoint);
    router.post(endpoint.path, async (ctx) => {
      ctx.state.operation = endpoint.path;
      const admitted = admit(ctx);
      const principal = admitted instanceof Promise ? await admitted : admitted;
      const timing = { storeMs: 0 };
      const state = ctx.state as RequestState;
      await admission.run(ctx, principal.keyId, async (request) => {
        state.answer = await handle(ctx, principal, servicesOf(timing), request, () =>
          setHeaders(ctx, state),
        );
      });
      state.headers.push('Server-Timing', `store;dur=${timing.storeMs.toFixed(1)}`);
    });
  }

  const ingest = createIngestEndpoint(stores, publisher, metrics, clock, {
    mappings: deps.mappings ?? new Map(),
    unknownFields: deps.unknownFields ?? 'reject',
  });
  router.post('/api/ingest/:stream', async (ctx) => {
    ctx.state.operation = '/api/ingest/{stream}';
    const principal = await admit(ctx);
    await admission.run(ctx, principal.keyId, (request) => ingest(ctx, principal, request));
  });

  router.get(KEY_PATH, async (ctx) => {
    ctx.state.operation = KEY_PATH;
    const { keyId, organizationId, scopes } = await admit(ctx);
    ctx.body = { key_id: keyId, organization_id: organizationId, scopes: [...scopes] };
  });

  router.get('/livez', (ctx) => {
    ctx.body = { status: 'ok' };
  });
  const checkStores = cached(READINESS_CACHE_MS, () => checkReadiness({ ...stores, intake: publisher }));
  router.get('/readyz', async (ctx) => {
    const { ready, stores: states } = await checkStores();
    const stopping = deps.stopping();
    ctx.status = ready && !stopping ? 200 : 503;
    ctx.body = { ready: ready && !stopping, stores: states, stopping };
  });
  if (deps.servesMetrics !== false) {
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
  addReferenceRoutes(router, document, (...text) => serveText(clock, ...text));
  addConsoleRoutes(router);

  const app = new Koa();
  app.on('error', (error: NodeJS.ErrnoException) => {
    if (CLIENT_ERRORS.test(error.code ?? '')) logger.debug({ err: error }, 'client disconnected');
    else logger.error({ err: error }, 'the response could not be written');
  });
  app.use(
    createRequestContext(logger, metrics, addressOf, createCors(deps.corsOrigins), createErrorWriter(logger)),
  );
  app.use(router.routes());
  app.use((ctx) => rejectUnrouted(ctx, router));
  return app;
}

/** Serves text whose examples name recent dates: rendered once per UTC day, with an ETag for conditional requests. */
function serveText(clock: Clock, type: string, render: () => string, headers: Record<string, string> = {}) {
  let day = '';
  let body = Buffer.alloc(0);
  let etag = '';
  return (ctx: Context): void => {
    const today = utcDate(clock.now());
    if (today !== day) {
      body = Buffer.from(render());
      etag = `W/"${createHash('sha256').update(body).digest('base64url')}"`;
      day = today;
    }
    // Clients revalidate every time.
    ctx.set('Cache-Control', 'no-cache');
    ctx.set(headers);
    // Weak, as the encodings share it.
    ctx.etag = etag;
    ctx.vary('Accept-Encoding');
    ctx.type = type;
    ctx.status = 200;
    if (ctx.fresh) ctx.status = 304;
    else ctx.body = body;
  };
}

function rejectUnrouted(ctx: Context, router: Router): void {
  const allowed = new Set(router.match(ctx.path, ctx.method).path.flatMap((layer) => layer.methods));
  if (allowed.size > 0 && !allowed.has(ctx.method)) {
    const allow = [...allowed].join(', ');
    throw new Problem('method_not_allowed', `${ctx.path} takes ${allow}.`, {}, { Allow: allow });
  }
  throw new Problem(
    'route_not_found',
    `No route for ${ctx.method} ${ctx.path.slice(0, 256)}; see /openapi.json.`,
  );
}
