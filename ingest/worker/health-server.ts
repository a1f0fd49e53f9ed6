import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import { type Pinged, stateOf } from '../../services/shared/health.js';

export interface HealthServer {
  url: string;
  close(): void;
}

interface Health {
  registry: Registry;
  /** What must answer for the worker to work, by name. */
  checks: Record<string, Pinged>;
  /** Streams whose consumer waits to be started again. */
  failing(): readonly string[];
  stopping(): boolean;
}

/** `/livez`, `/readyz` and `/metrics` of a worker. Resolves with its address once it listens. */
export function startHealthServer(
  { host, port }: { host: string; port: number },
  { registry, checks, failing, stopping }: Health,
): Promise<HealthServer> {
  const server = createServer(async ({ url }, response) => {
    const path = url?.split('?')[0];
    if (path === '/livez') json(response, 200, { alive: true });
    else if (path === '/readyz') {
      const states = await Promise.all(
        Object.entries(checks).map(async ([name, check]) => [name, await stateOf(check)] as const),
      );
      const failingStreams = failing();
      const ready = states.every(([, state]) => state === 'ok') && failingStreams.length === 0 && !stopping();
      json(response, ready ? 200 : 503, {
        ready,
        ...Object.fromEntries(states),
        failing_streams: failingStreams,
        stopping: stopping(),
      });
    } else if (path === '/metrics') {
      response.setHeader('Content-Type', registry.contentType);
      response.end(await registry.metrics());
    } else json(response, 404, { detail: 'A worker answers /livez, /readyz and /metrics.' });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const { port: bound } = server.address() as AddressInfo;
      const close = () => {
        server.close();
        server.closeAllConnections();
      };
      resolve({ url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`, close });
    });
  });
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}
