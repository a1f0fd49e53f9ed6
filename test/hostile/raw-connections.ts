/** Requests below HTTP, one or many at once. */
import type { Socket } from 'node:net';
import { closed, openSocket } from '../support/raw-http.js';

export function requestText(
  path: string,
  headers: Record<string, string | number>,
  body = '',
  method = 'POST',
): string {
  const lines = Object.entries({ Host: 'reachline.example', ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

/** A request with a JSON body. */
export const jsonText = (path: string, key: string, body: string, length = body.length): string =>
  requestText(path, { 'X-Api-Key': key, 'Content-Type': 'application/json', 'Content-Length': length }, body);

/** Sends the same text over each of `count` connections and leaves them open; resolves with the connections. */
export async function openStalled(url: string, count: number, text: string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let opened = 0; opened < count; opened++) {
    const socket = openSocket(url);
    socket.on('data', () => undefined);
    socket.write(text);
    sockets.push(socket);
    if (opened % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
  }
  return sockets;
}

const STATUS_LINE = /HTTP\/1\.1 (\d{3})/g;

/** Sends pipelined requests over a few connections; resolves with the number of responses per status. */
export async function flood(
  url: string,
  texts: Iterable<string>,
  { connections = 8, pipelined = 8 } = {},
): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const source = texts[Symbol.iterator]();
  const run = async () => {
    for (;;) {
      const socket = openSocket(url);
      let waiting = 0;
      let isDone = false;
      const fill = () => {
        while (waiting < pipelined && !isDone) {
          const { value, done } = source.next();
          if (done) {
            isDone = true;
            break;
          }
          waiting++;
          socket.write(value as string);
        }
        if (waiting === 0) socket.end();
      };
      socket.setEncoding('latin1').on('data', (chunk: string) => {
        for (const [, status] of chunk.matchAll(STATUS_LINE)) {
          statuses.set(Number(status), (statuses.get(Number(status)) ?? 0) + 1);
          waiting--;
        }
        fill();
      });
      fill();
      await closed(socket);
      if (isDone) return;
    }
  };
  await Promise.all(Array.from({ length: connections }, run));
  return statuses;
}
