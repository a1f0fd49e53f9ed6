import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { Publisher } from '../../ingest/publisher.js';
import { type Clock, systemClock } from '../shared/clock.js';
import type { Config } from '../shared/config.js';
import type { Stores } from '../stores/open-stores.js';
import { createApp } from './app.js';
import { createMetrics } from './metrics.js';
import type { Peers } from './peers.js';
import { createRateLimiter } from './rate-limit.js';
import { readVersion } from './version.js';

/** A listening gateway. */
export interface Gateway {
  /** Base address, such as http://127.0.0.1:8080. */
  url: string;
  registry: Registry;
  /** Takes nothing new, lets requests under way finish, and resolves when the last has. Leaves the stores open. */
  stop(): Promise<void>;
}

/** The port is taken or may not be used. The message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export interface GatewayOptions {
  clock?: Clock;
  peers?: Peers;
  publisher?: Publisher;
}

export async function startGateway(
  config: Config,
  stores: Pick<Stores, 'search' | 'analytics'>,
  logger: Logger,
  { clock = systemClock, peers, publisher }: GatewayOptions = {},
): Promise<Gateway> {
  let stopping = false;
  const metrics = createMetrics(() => publisher?.queuedBytes ?? 0);
  const rateLimiter = createRateLimiter(config.rateLimit);
  const app = createApp({
    stores,
    publisher,
    logger,
    metrics: peers ? peers.shareMetrics(metrics) : metrics,
    clock,
    version: readVersion(),
    rateLimiter: peers ? peers.shareRateLimit(rateLimiter) : rateLimiter,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    requestTimeoutMs: config.requestTimeoutMs,
    provisionalDays: config.provisionalDays,
    stopping: () => stopping,
  });
  const handle = app.callback();
  const connections = new Connections();
  const server = createServer((request, response) => {
    connections.answering(request.socket, response);
    void handle(request, response);
  });
  server.on('connection', (socket) => connections.add(socket));
  await listen(server, config);
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    registry: metrics.registry,
    stop() {
      stopping = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      connections.stop();
      return closed;
    },
  };
}

/**
 * What is open, so that stopping waits for answers and for nothing else: `closeIdleConnections` leaves a connection that
 * never sent a request, as browsers keep in reserve, open for a minute.
 */
class Connections {
  readonly #answers = new Map<Socket, Set<ServerResponse>>();
  #stopping = false;

  add(socket: Socket): void {
    this.#answers.set(socket, new Set());
    socket.once('close', () => this.#answers.delete(socket));
  }

  answering(socket: Socket, response: ServerResponse): void {
    const answers = this.#answers.get(socket);
    if (this.#stopping) response.setHeader('Connection', 'close');
    answers?.add(response);
    response.once('close', () => {
      answers?.delete(response);
      if (this.#stopping && answers?.size === 0) socket.end();
    });
  }

  stop(): void {
    this.#stopping = true;
    for (const [socket, answers] of this.#answers) {
      if (answers.size === 0) socket.destroy();
      for (const response of answers) {
        if (!response.headersSent) response.setHeader('Connection', 'close');
      }
    }
  }
}

function listen(server: Server, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') {
        reject(
          new ListenError(
            `Port ${port} is in use. Stop what listens there, or choose another: PORT=${port + 1}.`,
          ),
        );
      } else if (error.code === 'EACCES') {
        reject(
          new ListenError(`This user may not listen on port ${port}. Choose one above 1023: PORT=8080.`),
        );
      } else if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
        reject(
          new ListenError(`HOST=${host} is no address of this machine. Use 127.0.0.1, or 0.0.0.0 for all.`),
        );
      } else reject(error);
    });
    server.listen(port, host, resolve);
  });
}
