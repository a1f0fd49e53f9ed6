import { createServer, type Server } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { namedMappings } from '../../ingest/presets/named-mappings.js';
import type { Publisher } from '../../ingest/publisher.js';
import { STREAMS } from '../../ingest/streams/index.js';
import { registerBackgroundMetrics } from '../shared/background-metrics.js';
import type { Config } from '../shared/config.js';
import { JobRuns } from '../shared/job-runs.js';
import { startOperationalServer } from '../shared/operational-server.js';
import { type Clock, systemClock } from '../shared/time.js';
import { compileAhead } from '../shared/validation.js';
import { readVersion } from '../shared/version.js';
import type { SqlReader } from '../sql-endpoint/sql-reader.js';
import type { GatewayStores } from '../stores/open-stores.js';
import { createApp } from './app.js';
import { type ConnectionLimits, Connections, connectionLimits } from './connections.js';
import type { ServeMcp } from './mcp-route.js';
import { createMetrics, type Metrics } from './metrics.js';
import { createRateLimiter } from './rate-limit.js';
import { serveRequests } from './rejected-requests.js';

/** A gateway that listens. */
export interface Gateway {
  /** Base address, such as http://127.0.0.1:8080. */
  url: string;
  registry: Registry;
  /** Graceful shutdown: closes the port, finishes pending requests, then resolves. Leaves the stores open. */
  stop(): Promise<void>;
}

/** The port is in use or not permitted. The message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export interface GatewayOptions {
  clock?: Clock;
  publisher?: Publisher;
  sql?: SqlReader;
  /** Streams that workers of this process do not consume at the moment. */
  failingStreams?: () => readonly string[];
  /** Loads what answers assistants at `/mcp`. */
  mcp?: () => Promise<ServeMcp>;
  limits?: Partial<ConnectionLimits>;
}

/** Node's timeouts come this much later than the deadline of a request, which answers with a better problem. */
const SOCKET_MARGIN_MS = 15_000;

/**
 * How long idle connections of a proxy outlive the port. A request that is on its way on one would be lost with it, and a proxy does
 * not repeat a POST; once the port refuses a connection it sends nothing here any more.
 */
const PROXY_DRAIN_MS = 2000;

/** Starts a gateway on open stores. Throws `ListenError`, and `MappingError` for a mapping file; other listen errors are passed on. */
export async function startGateway(
  config: Config,
  stores: GatewayStores,
  logger: Logger,
  { clock = systemClock, publisher, sql, mcp, ...options }: GatewayOptions = {},
): Promise<Gateway> {
  let stopping = false;
  const limits = { ...connectionLimits(), ...options.limits };
  const metrics = createMetrics();
  const { jobs = new JobRuns(), copier = null, lastBackup = null, clocks = null } = stores;
  registerBackgroundMetrics(metrics.registry, { jobs, copier, lastBackup, clocks });
  const app = createApp({
    stores,
    publisher,
    sql,
    mcp,
    unknownFields: config.unknownFields,
    mappings: namedMappings(config),
    logger,
    metrics,
    servesMetrics: config.metricsPort === 0,
    clock,
    version: readVersion(),
    rateLimiter: createRateLimiter(config.rateLimit),
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    requestTimeoutMs: config.requestTimeoutMs,
    maxIngestBytes: config.maxIngestBytes,
    provisionalDays: config.provisionalDays,
    failingStreams: options.failingStreams,
    stopping: () => stopping,
  });
  const handle = app.callback();
  const server = createServer({
    headersTimeout: limits.headersMs,
    // Admission ends requests that stand still; a large file may arrive for hours.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    // A missing Host header is answered with a problem instead.
    requireHostHeader: false,
  });
  // Closes a connection whose client neither sends nor reads.
  server.timeout = config.requestTimeoutMs + SOCKET_MARGIN_MS;
  const connections = new Connections(server, limits.max);
  serveRequests(server, (request, response) => void handle(request, response), connections, metrics, logger);
  metrics.measure({
    queuedBytes: () => publisher?.queuedBytes ?? 0,
    connections: () => connections.size,
    recovery: () => stores.records.recovery,
  });
  await listen(server, config);
  const metricsServer = await startMetricsServer(config, metrics, logger).catch((error: unknown) => {
    server.close();
    throw error;
  });
  compileAhead(Object.values(STREAMS).map(({ schema }) => schema));
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    registry: metrics.registry,
    stop() {
      stopping = true;
      // `close` of HTTP would close idle connections at once.
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      metricsServer?.close();
      connections.stop(config.trustedProxies.length > 0 ? PROXY_DRAIN_MS : 0);
      return closed;
    },
  };
}

function listen(server: Server, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port, 'PORT')));
    server.listen(port, host, resolve);
  });
}

/** `/metrics` on a port of its own; undefined where none is configured. */
async function startMetricsServer({ host, metricsPort: port }: Config, metrics: Metrics, logger: Logger) {
  if (port === 0) return undefined;
  const { contentType } = metrics.registry;
  const routes = { '/metrics': async () => ({ status: 200, contentType, body: await metrics.render() }) };
  return startOperationalServer({ host, port }, routes, logger).catch((error: unknown) => {
    throw listenError(error, host, port, 'REACHLINE_METRICS_PORT');
  });
}

/** The error with what to do about it, where that is known. */
function listenError(error: unknown, host: string, port: number, setting: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new ListenError(
        `Port ${port} is in use. Stop what listens there, or choose another: ${setting}=${port + 1}.`,
      );
    case 'EACCES':
      return new ListenError(
        `This user may not listen on port ${port}. Choose one above 1023: ${setting}=8080.`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new ListenError(
        `HOST=${host} is not an address of this machine. Use 127.0.0.1, or 0.0.0.0 for all.`,
      );
    default:
      return error;
  }
}
