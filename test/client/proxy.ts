import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Fate of a request: passed on, cut before or after the gateway handled it, answered like an overloaded proxy, or never answered. */
export type Fault =
  | 'none'
  | 'cut before'
  | 'cut after'
  | 'unavailable'
  | 'bad gateway'
  | 'timeout'
  | 'silence';

/** A proxy in front of a gateway. It treats requests with the faults in the list, and passes on later requests. */
export async function startProxy(target: string, faults: Fault[]) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    seen.push(request);
    const fault = faults.shift() ?? 'none';
    if (fault === 'silence') return;
    if (fault === 'cut before') request.socket.destroy();
    else if (fault === 'unavailable') response.writeHead(503, { 'Retry-After': '1' }).end('busy');
    else if (fault === 'timeout') response.writeHead(504, { 'Retry-After': '1' }).end('late');
    else if (fault === 'bad gateway') response.writeHead(502).end('<html>');
    else pass(target, request, response, fault === 'cut after');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Every request so far. */
    seen,
    close() {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function pass(target: string, request: IncomingMessage, response: ServerResponse, cut: boolean): void {
  const { method, headers } = request;
  const passed = forward(`${target}${request.url}`, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    if (!cut) {
      answer.pipe(response);
      return;
    }
    // Sends half a response, once the gateway has handled the request.
    answer.resume().on('end', () => {
      response.write('{"');
      setTimeout(() => request.socket.destroy(), 20);
    });
  });
  request.pipe(passed);
}
