import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';

/** A server for probes and Prometheus, on a port that clients need not reach. */
export interface OperationalServer {
  /** Base address, such as http://127.0.0.1:9090. */
  url: string;
  /** Closes the port and all connections at once. */
  close(): void;
}

export interface OperationalResponse {
  status: number;
  contentType: string;
  body: string;
}

export type OperationalRoutes = Record<string, () => OperationalResponse | Promise<OperationalResponse>>;

const MAX_CONNECTIONS = 32;
const REQUEST_TIMEOUT_MS = 10_000;

export const jsonResponse = (status: number, body: object): OperationalResponse => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

/**
 * Serves one response per path, 404 for other paths, and 500 if a route fails. Resolves once the server listens. Rejects with the listen
 * error.
 */
export function startOperationalServer(
  { host, port }: { host: string; port: number },
  routes: OperationalRoutes,
  logger: Pick<Logger, 'error'>,
): Promise<OperationalServer> {
  const notFound = jsonResponse(404, { detail: `This port serves ${Object.keys(routes).join(', ')}.` });
  const handlers = new Map(Object.entries(routes));
  const respond = async (path: string) => {
    try {
      return (await handlers.get(path)?.()) ?? notFound;
    } catch (err) {
      logger.error({ err, path }, 'operational request failed');
      return jsonResponse(500, { detail: 'The request failed; see the log.' });
    }
  };
  const server = createServer(
    { headersTimeout: REQUEST_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS },
    async (request, response) => {
      const { status, contentType, body } = await respond(request.url?.split('?')[0] ?? '');
      response.writeHead(status, { 'Content-Type': contentType, 'Cache-Control': 'no-store' }).end(body);
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
