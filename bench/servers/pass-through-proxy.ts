/** Forwards requests and responses, and does nothing else: the cost of a second process between client and server. */
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

const target = process.argv[2] as string;
const agent = new Agent({ keepAlive: true });

const server = createServer((incoming, answer) => {
  const { method, url, headers } = incoming;
  const passedOn = request(target, { path: url, method, agent, headers }, (received) => {
    const parts: Buffer[] = [];
    received.on('data', (part: Buffer) => parts.push(part));
    received.on('end', () => {
      const body = Buffer.concat(parts);
      answer.writeHead(received.statusCode as number, {
        'Content-Type': received.headers['content-type'],
        'Content-Length': body.length,
      });
      answer.end(body);
    });
  });
  incoming.pipe(passedOn);
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
