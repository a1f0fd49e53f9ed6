import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { type Clock, systemClock } from '../shared/clock.js';
import type { Config } from '../shared/config.js';
import type { Stores } from '../stores/open-stores.js';
import { createApp } from './app.js';
import { createMetrics } from './metrics.js';
import { readVersion } from './version.js';

/** A listening gateway. */
export interface Gateway {
  /** Base address, such as http://127.0.0.1:8080. */
  url: string;
  /** Takes nothing new, lets requests under way finish, and resolves when the last has. Leaves the stores open. */
  stop(): Promise<void>;
}

/** The port is taken or may not be used. The message says what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

export async function startGateway(
  config: Config,
  stores: Pick<Stores, 'search' | 'analytics'>,
  logger: Logger,
  clock: Clock = systemClock,
): Promise<Gateway> {
  let stopping = false;
  const app = createApp({
    stores,
    logger,
    metrics: createMetrics(),
    clock,
    version: readVersion(),
    rateLimit: config.rateLimit,
    corsOrigins: config.corsOrigins,
    requestTimeoutMs: config.requestTimeoutMs,
    provisionalDays: config.provisionalDays,
    stopping: () => stopping,
  });
  const handle = app.callback();
  const server = createServer((request, response) => {
    // A connection kept alive would bring further requests to a gateway that is leaving.
    if (stopping) response.setHeader('Connection', 'close');
    void handle(request, response);
  });
  await listen(server, config);
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    stop() {
      stopping = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      return closed;
    },
  };
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
