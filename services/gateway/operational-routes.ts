/** Routes without a key, for operators and tools: health, version, metrics and the OpenAPI document. */
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Publisher } from '../../ingest/publisher.js';
import {
  type Json,
  parametersOf,
  plainHeaders,
  plainOperation,
  problemResponses,
  publish,
} from '../http/openapi.js';
import { invalid } from '../http/problems.js';
import { readQuery } from '../http/query-string.js';
import { respond } from '../http/respond.js';
import { EQUIVALENTS_VERSION } from '../search/equivalents.js';
import { cached } from '../shared/cache.js';
import { checkHealth, type StoreState } from '../shared/health.js';
import { optional, strictObject, stringEnum } from '../shared/schema.js';
import type { StoreName } from '../shared/store-errors.js';
import type { Clock } from '../shared/time.js';
import type { Version } from '../shared/version.js';
import type { GatewayStores } from '../stores/open-stores.js';
import type { Metrics } from './metrics.js';
import { serveText } from './serve-text.js';

export interface OperationalDeps {
  stores: GatewayStores;
  publisher?: Publisher;
  metrics: Metrics;
  clock: Clock;
  version: Version;
  /** Whether `/metrics` is served on this port; default true. */
  servesMetrics?: boolean;
  /** Streams that workers of this process do not consume at the moment; absent if the process has no workers. */
  failingStreams?: () => readonly string[];
  /** Whether graceful shutdown has begun. Then `/readyz` and `/readyz/process` respond with 503. */
  stopping(): boolean;
}

/** Milliseconds for which a response of `/readyz` is cached: the route needs no API key, so it must not load the stores. */
const READINESS_CACHE_MS = 1000;

export function addOperationalRoutes(router: Router, document: () => Json, deps: OperationalDeps): void {
  const { stores, publisher, metrics, clock, version } = deps;
  const checkStores = cached(READINESS_CACHE_MS, async () => {
    const [records, analytics, intake] = await Promise.all([
      checkHealth(stores.records),
      checkHealth(stores.analytics),
      publisher && checkHealth(publisher),
    ]);
    return { records, analytics, intake };
  });
  metrics.measure({ storeStates: checkStores });
  router.get('/livez', (ctx) => respond(ctx, { body: JSON.stringify({ status: 'ok' }) }));
  router.get('/readyz', async (ctx) => {
    const { query, errors } = readQuery(ctx.query, ReadinessQuery);
    if (errors.length > 0) throw invalid(...errors);
    const states = await checkStores();
    const stopping = deps.stopping();
    // If Kafka is unavailable or a disk is full, the gateway still serves everything except writes.
    const ready = states.records !== 'unavailable' && states.analytics !== 'unavailable' && !stopping;
    const writable = Object.values(states).every((state) => state === undefined || state === 'ok');
    const problems = [...fullDisks(states), ...(stores.clocks?.problems() ?? [])];
    const body = JSON.stringify({
      ready,
      writable,
      stores: states,
      stopping,
      // For information only, because failing workers do not affect requests.
      failing_streams: deps.failingStreams?.(),
      ...(problems.length > 0 && { problems }),
    });
    const isGood = query.writes === '1' ? ready && writable : ready;
    await respond(ctx, { status: isGood ? 200 : 503, body });
  });
  // The stores responded before this process began to listen. A later outage affects every process, so the outage must not make a load
  // balancer remove this process.
  router.get('/readyz/process', async (ctx) => {
    const stopping = deps.stopping();
    await respond(ctx, {
      status: stopping ? 503 : 200,
      body: JSON.stringify({ ready: !stopping, stopping }),
    });
  });
  if (deps.servesMetrics !== false) {
    router.get('/metrics', async (ctx) =>
      respond(ctx, { type: metrics.registry.contentType, body: await metrics.render() }),
    );
  }
  router.get('/version', (ctx) =>
    respond(ctx, { body: JSON.stringify({ ...version, equivalents: EQUIVALENTS_VERSION }) }),
  );
  router.get(
    '/openapi.json',
    serveText(clock, 'application/json', () => JSON.stringify(document()), {}, withServer),
  );
}

const fullDisks = (states: Partial<Record<StoreName, StoreState>>): string[] =>
  Object.entries(states)
    .filter(([, state]) => state === 'full')
    .map(
      ([store]) =>
        `The disk of the ${store} store is full: make room. Writes get 503 storage_full until then.`,
    );

const HOST = /^[a-z0-9.:[\]-]{1,255}$/i;

/**
 * The OpenAPI document with the address of the request as its server, so that imported collections and generated clients reach the gateway.
 */
function withServer(document: string, ctx: Context): string {
  ctx.vary('Host');
  ctx.vary('X-Forwarded-Proto');
  const host = ctx.get('Host');
  const scheme = ctx.get('X-Forwarded-Proto') === 'https' ? 'https' : ctx.protocol;
  const address = `${scheme}://${host}`;
  if (!HOST.test(host) || !URL.canParse(address)) return document;
  return document.replace('"servers":[{"url":"/"', `"servers":[{"url":"${address}"`);
}

const text = (description: string) => ({ type: 'string', description });

const storeState = {
  ...text(
    '`ok`, `unavailable`, `full` (disk full) or `read_only` (blocked by an operator). A store that is full or read-only still serves reads.',
  ),
  'x-extensible-enum': ['ok', 'full', 'read_only', 'unavailable'],
};
const readiness = {
  $id: 'Readiness',
  type: 'object',
  description: 'Whether requests can be served.',
  required: ['ready', 'writable', 'stopping', 'stores'],
  properties: {
    ready: { type: 'boolean', description: 'Whether every store responds and the process is not stopping.' },
    writable: {
      type: 'boolean',
      description:
        'Whether every store also accepts writes: false if a disk is full, or an operator blocked writes.',
    },
    stopping: { type: 'boolean', description: 'Whether the process is shutting down.' },
    problems: {
      type: 'array',
      description:
        'Problems that an operator should solve while requests are served, such as a full disk or a wrong clock; absent if there are none.',
      items: text('A sentence for people.'),
    },
    stores: {
      type: 'object',
      description: 'State by store: `records`, `analytics`, and `intake` if records go to Kafka.',
      additionalProperties: storeState,
    },
    failing_streams: {
      type: 'array',
      description:
        'Streams that the workers of this process do not consume at the moment; absent if it has no workers. Requests are served regardless.',
      items: text('Name of a stream.'),
    },
  },
};
const ReadinessQuery = strictObject({
  writes: optional(
    stringEnum('With `1`, the response is also 503 while a store refuses writes, such as with a full disk.', [
      '1',
    ]),
  ),
});
const processReadiness = {
  $id: 'ProcessReadiness',
  type: 'object',
  description: 'Whether this process accepts requests.',
  required: ['ready', 'stopping'],
  properties: {
    ready: { type: 'boolean', description: 'Whether the process is not stopping.' },
    stopping: { type: 'boolean', description: 'Whether the process is shutting down.' },
  },
};
const version = {
  $id: 'Version',
  type: 'object',
  description: 'Name and versions of the program.',
  required: ['name', 'version', 'node', 'equivalents'],
  properties: {
    name: text('Name of the program.'),
    version: text('Version of the program.'),
    equivalents: text(
      'Version of the tables of equivalents that contact searches apply: a hash of their rows.',
    ),
    node: text('Version of Node.js.'),
  },
};
const liveness = {
  $id: 'Liveness',
  type: 'object',
  description: 'The process runs.',
  required: ['status'],
  properties: { status: text('`ok`.') },
};

/** Path items of the operational routes. Adds their schemas to the components. */
export function describeOperational(schemas: Json): Json {
  const json = (schema: unknown) => ({ 'application/json': { schema: publish(schema, schemas) } });
  const ready = json(readiness);
  const processReady = json(processReadiness);
  const contents: Record<string, [summary: string, description: string, content: Json]> = {
    '/livez': ['Liveness', 'Whether the process runs. Checks no store.', json(liveness)],
    '/readyz': [
      'Readiness',
      'Checks every store, at most once per second. 503 if a store is unavailable, or during shutdown; with `?writes=1` also while a store refuses writes.',
      ready,
    ],
    '/readyz/process': [
      'Readiness of the process',
      'For load balancers. Checks no store: a process that listens reached its stores once. 503 during shutdown.',
      processReady,
    ],
    '/metrics': [
      'Metrics in the Prometheus text format',
      'Not served if `REACHLINE_METRICS_PORT` is set.',
      { 'text/plain': { schema: text('Metrics, one per line.') } },
    ],
    '/version': ['Name and version of the program', 'Versions of the program and of Node.js.', json(version)],
    '/openapi.json': [
      'This document',
      'The examples name recent days, so the document changes once a day. `ETag` and `If-None-Match` save downloading it again.',
      json({ type: 'object', description: 'An OpenAPI 3.1 document.' }),
    ],
  };
  const paths: Record<string, { get: Json }> = {};
  for (const [path, [summary, description, content]] of Object.entries(contents)) {
    const operationId = path.slice(1).replace('.json', '').replace('/process', 'Process');
    const unready = { 503: { description: 'Not ready', headers: plainHeaders(), content } };
    const isReadiness = path === '/readyz';
    const others = {
      ...(path.startsWith('/readyz') && unready),
      ...(isReadiness && problemResponses(['validation_failed'])),
    };
    const parameters = isReadiness ? parametersOf('query', ReadinessQuery) : [];
    paths[path] = { get: plainOperation({ operationId, summary, description, parameters }, content, others) };
  }
  return paths;
}
