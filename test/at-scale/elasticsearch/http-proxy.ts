import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ElasticsearchConfig } from '../../../services/shared/config.js';
import { afterFile } from '../../support/opened.js';

/** Fate of a request to the cluster. */
export type Fate =
  | 'pass'
  /** Never reaches the cluster. */
  | 'cut'
  /** Reaches the cluster; the response is lost. */
  | 'cut response'
  /** Answered by the proxy. With `forwarded`, it also reaches the cluster. */
  | { response: object; forwarded?: boolean }
  /** Reaches the server with another path and query. */
  | { path: string };

export interface ProxiedRequest {
  method: string;
  path: string;
  body: string;
  /** Resolves when the connection of the response is closed. */
  closed: Promise<void>;
}

/** The cluster behind a network with injected faults, until the end of the test file. */
export interface HttpProxy<Config = ElasticsearchConfig> {
  config: Config;
  /** Called for every request. A promise delays it. */
  decide: (request: ProxiedRequest) => Fate | Promise<Fate>;
  /** Called with every response to a request that passes. */
  observe?: (request: ProxiedRequest, response: string) => void;
}

export async function startHttpProxy<Config extends { nodes: readonly string[] }>(
  config: Config,
): Promise<HttpProxy<Config>> {
  const [upstream = ''] = config.nodes;
  const server: Server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { method = '', url: path = '', headers } = incoming;
    const closed = new Promise<void>((resolve) => outgoing.once('close', resolve));
    const proxied = { method, path, body: body.toString(), closed };
    const fate = await proxy.decide(proxied);
    if (fate === 'cut') {
      outgoing.destroy();
      return;
    }
    const forge = (response: object) => {
      outgoing.writeHead(200, {
        'Content-Type': 'application/vnd.elasticsearch+json;compatible-with=9',
        'X-Elastic-Product': 'Elasticsearch',
      });
      outgoing.end(JSON.stringify(response));
    };
    const forged = typeof fate === 'object' && 'response' in fate ? fate : null;
    if (forged && !forged.forwarded) {
      forge(forged.response);
      return;
    }
    const { hostname, port } = new URL(upstream);
    const onward = request({
      hostname,
      port,
      method,
      path: typeof fate === 'object' && 'path' in fate ? fate.path : path,
      // Observed responses are read here, so they must not be compressed.
      headers: proxy.observe ? { ...headers, 'accept-encoding': 'identity' } : headers,
    });
    onward.on('error', () => outgoing.destroy());
    onward.on('response', (response) => {
      if (fate === 'cut response') {
        response.resume().on('end', () => outgoing.destroy());
        return;
      }
      if (forged) {
        response.resume().on('end', () => forge(forged.response));
        return;
      }
      outgoing.writeHead(response.statusCode ?? 500, response.headers);
      response.pipe(outgoing);
      const { observe } = proxy;
      if (!observe) return;
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      response.once('end', () => observe(proxied, text));
    });
    // Aborting the response aborts the request.
    outgoing.on('close', () => onward.destroy());
    onward.end(body);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: HttpProxy<Config> = {
    config: { ...config, nodes: [`http://127.0.0.1:${(server.address() as AddressInfo).port}`] },
    decide: () => 'pass',
  };
  afterFile(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return proxy;
}

/** Blocks a request until the gate is opened. */
export function gate(): { reached: Promise<void>; wait(): Promise<void>; open(): void } {
  let reach = () => {};
  let open = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return {
    reached,
    wait() {
      reach();
      return opened;
    },
    open,
  };
}
