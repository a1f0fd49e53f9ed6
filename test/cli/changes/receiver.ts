import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Content } from '../../../services/cli/changes/follow-changes.js';

export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
export const OTHER_SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  id: string;
  content: Content;
}

/** An HTTP server that records what is posted to it. */
export interface Receiver {
  url: string;
  server: Server;
  received: Received[];
  /** Answers the next requests; by default with 204. */
  answer: (response: ServerResponse, message: Received) => void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const { url: path = '', headers } = request;
    const message = { path, headers, body, id: String(headers['webhook-id']), content: JSON.parse(body) };
    receiver.received.push(message);
    receiver.answer(response, message);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    received: [],
    answer: (response) => void response.writeHead(204).end(),
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return receiver;
}
