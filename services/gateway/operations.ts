/** Routes of the declared operations: authentication, stores and limits of each request. */
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { StoredMapping } from '../../ingest/mapping/stored-mappings.js';
import type { Publisher } from '../../ingest/publisher.js';
import type { Admission, RequestCosts } from '../http/admission.js';
import { handleRequest } from '../http/handler.js';
import type { Principal } from '../http/principal.js';
import { respond } from '../http/respond.js';
import { acceptanceClock, ONLY_SLOT } from '../shared/record-order.js';
import type { UnknownFields } from '../shared/settings.js';
import type { Clock } from '../shared/time.js';
import type { Version } from '../shared/version.js';
import type { SqlReader } from '../sql-endpoint/sql-reader.js';
import { StatusReader } from '../status/status-reader.js';
import type { GatewayStores } from '../stores/open-stores.js';
import type { ApiEndpoint, ApiServices } from './api.js';
import { createAuthenticate } from './authenticate.js';
import { instrumentStore, type StoreTiming } from './instrument-store.js';
import { type Admit, addMcpRoute, type ServeMcp } from './mcp-route.js';
import type { Metrics } from './metrics.js';
import { bodyTokens, keptTokens, type RateLimiter } from './rate-limit.js';
import type { RequestState } from './request-context.js';

export interface OperationDeps {
  stores: GatewayStores;
  /** Publishes ingested records to Kafka. If absent, records are written to their stores. */
  publisher?: Publisher;
  /** Absent if analysts use a ClickHouse server directly. */
  sql?: SqlReader;
  /** Mappings that ingest requests may name. */
  mappings?: ReadonlyMap<string, StoredMapping>;
  /** Default of ingest for unknown fields, if the request does not say; default `reject`. */
  unknownFields?: UnknownFields;
  metrics: Metrics;
  clock: Clock;
  version: Version;
  rateLimiter: RateLimiter;
  provisionalDays: number;
  /** Loads the handler of MCP. If absent, `/mcp` is not served. Throws `MissingPackageError`. */
  mcp?(): Promise<ServeMcp>;
  corsOrigins: readonly string[];
  logger: Logger;
}

export function addOperations(
  router: Router,
  served: readonly ApiEndpoint[],
  admission: Admission,
  deps: OperationDeps,
): void {
  const admit = createAdmit(admission, deps);
  const servicesOf = createServices(deps);
  for (const endpoint of served) {
    const { method = 'POST', path } = endpoint;
    router.register(path.replaceAll(/\{(\w+)\}/g, ':$1'), [method], async (ctx: Context) => {
      ctx.state.operation = path;
      const timing = { storeMs: 0 };
      const body = await admit(ctx, (principal, admitted) =>
        handleRequest(endpoint, ctx, principal, servicesOf(timing, principal), admitted),
      );
      ctx.set('Server-Timing', `store;dur=${timing.storeMs.toFixed(1)}`);
      if (body !== undefined) await respond(ctx, { body });
    });
  }
  if (!deps.mcp) return;
  addMcpRoute(router, served, {
    load: deps.mcp,
    corsOrigins: deps.corsOrigins,
    logger: deps.logger,
    metrics: deps.metrics,
    admit,
    servicesOf: (principal) => servicesOf({ storeMs: 0 }, principal),
  });
}

function createAdmit(admission: Admission, { stores, clock, rateLimiter }: OperationDeps): Admit {
  const authenticate = createAuthenticate(stores.records, clock);
  return async (ctx, work) => {
    const state = ctx.state as RequestState;
    const principal = await authenticate(ctx.req.headers['x-api-key'] as string | undefined, state.client);
    state.principal = principal;
    ctx.set(rateLimiter.take(principal));
    const costs: RequestCosts = {
      received: (bytes) => rateLimiter.charge(principal, bodyTokens(bytes)),
      kept: (bytes) => rateLimiter.charge(principal, keptTokens(bytes)),
    };
    return admission.run(ctx, principal, (admitted) => work(principal, admitted), costs);
  };
}

/** Creates the services of a request. Their store calls count into the timing of the request. */
function createServices(deps: OperationDeps): (timing: StoreTiming, principal: Principal) => ApiServices {
  const { stores, publisher, sql, metrics, clock, provisionalDays } = deps;
  const records = instrumentStore(stores.records, 'records', metrics.stores);
  const analytics = instrumentStore(stores.analytics, 'analytics', metrics.stores);
  const { mappings = new Map<string, StoredMapping>(), unknownFields = 'reject' } = deps;
  const acceptance = acceptanceClock(publisher ? ONLY_SLOT : stores.records, clock);
  const status = new StatusReader({
    records: records({ storeMs: 0 }),
    analytics: analytics({ storeMs: 0 }),
    intake: publisher,
    follower: stores.follower,
    clock,
    provisionalDays,
    version: deps.version.version,
  });
  return (timing, principal) => ({
    clock,
    provisionalDays,
    publisher,
    sql,
    mappings,
    unknownFields,
    acceptance,
    onFault: (err) => deps.logger.error({ err }, 'a record could not be decoded'),
    ingested: metrics.ingested,
    status,
    records: records(timing),
    analytics: analytics(timing),
    scopes: principal.scopes,
  });
}
