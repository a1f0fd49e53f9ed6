import { createServer } from 'node:http';
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
  /** Loads the handler of MCP for `/mcp`. */
  mcp?: () => Promise<ServeMcp>;
  limits?: Partial<ConnectionLimits>;
}

/** Milliseconds by which Node's timeouts come later than the deadline of a request, because the problem of the deadline is more helpful. */
const SOCKET_MARGIN_MS = 15_000;

/**
 * Milliseconds that idle connections of a proxy stay open after the port is closed. Otherwise, a request already on its way would be lost,
 * because a proxy does not repeat a POST. Once the port refuses connections, a proxy sends no further requests.
 */
const PROXY_DRAIN_MS = 2000;

/** Starts a gateway on open stores. Throws `ListenError`, `MappingError` for a mapping file, and other errors of listening unchanged. */
export async function startGateway(
  config: Config,
  stores: GatewayStores,
  logger: Logger,
  { clock = systemClock, publisher, sql, mcp, ...options }: GatewayOptions = {},
): Promise<Gateway> {
  let stopping = false;
  const limits = { ...connectionLimits(), ...options.limits };
  const metrics = createMetrics();
  const { jobs = new JobRuns(), follower = null, lastBackup = null, clocks = null } = stores;
  registerBackgroundMetrics(metrics.registry, { jobs, follower, lastBackup, clocks });
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
    // No timeout here: admission ends requests that stall, and a large file may take hours to arrive.
    requestTimeout: 0,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    // Disabled, because a missing Host header gets a problem as its response instead.
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
      // Calls `close` of the network server, because `close` of an HTTP server would close idle connections at once.
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      metricsServer?.close();
      connections.stop(config.trustedProxies.length > 0 ? PROXY_DRAIN_MS : 0);
      return closed;
    },
  };
}

function listen(server: NetServer, { host, port }: Pick<Config, 'host' | 'port'>): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port, 'PORT')));
    server.listen(port, host, resolve);
  });
}

/** Listens for a moment. Throws what `startGateway` would throw for the address. */
export async function checkAddress(address: Pick<Config, 'host' | 'port'>): Promise<void> {
  const server = new NetServer();
  await listen(server, address);
  await new Promise((resolve) => server.close(resolve));
}

/** Serves `/metrics` on a separate port; undefined if no such port is configured. */
async function startMetricsServer({ host, metricsPort: port }: Config, metrics: Metrics, logger: Logger) {
  if (port === 0) return undefined;
  const { contentType } = metrics.registry;
  const routes = { '/metrics': async () => ({ status: 200, contentType, body: await metrics.render() }) };
  return startOperationalServer({ host, port }, routes, logger).catch((error: unknown) => {
    throw listenError(error, host, port, 'REACHLINE_METRICS_PORT');
  });
}

/** The error with a remedy, if one is known. */
function listenError(error: unknown, host: string, port: number, setting: string): unknown {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return new ListenError(
        `Port ${port} is in use. Stop the program that listens there, or choose another port: ${setting}=${port + 1}.`,
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
