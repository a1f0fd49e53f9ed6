import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Metrics } from './metrics.js';

export interface MetricsServer {
  url: string;
  close(): void;
}

/** Connections that Prometheus and a few others need at once. */
const MAX_CONNECTIONS = 32;

/** `/metrics` on a port of its own, which only those who watch need to reach. */
export function startMetricsServer(
  { host, port }: { host: string; port: number },
  { registry, render }: Pick<Metrics, 'registry' | 'render'>,
): Promise<MetricsServer> {
  const server = createServer(
    { headersTimeout: 10_000, requestTimeout: 10_000 },
    async (request, response) => {
      if (request.url?.split('?')[0] !== '/metrics') {
        response.writeHead(404).end();
        return;
      }
      const text = await render();
      response
        .writeHead(200, { 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' })
        .end(text);
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
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
