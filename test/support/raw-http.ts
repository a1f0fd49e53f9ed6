/** Connections below HTTP, for clients that break its rules. */
import { connect, type Socket } from 'node:net';

export function openSocket(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  return socket.setNoDelay(true).on('error', () => undefined);
}

/** Resolves when the connection is closed, by whichever side and for whatever reason. */
export const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });

/** Sends bytes unchanged over a connection of their own; resolves with everything received once the connection has ended. */
export async function sendBytes(url: string, parts: readonly (string | Buffer)[]): Promise<string> {
  const socket = openSocket(url);
  for (const part of parts) socket.write(part);
  let text = '';
  socket.setEncoding('utf8').on('data', (piece: string) => {
    text += piece;
  });
  await closed(socket);
  return text;
}

export interface RawAnswer {
  status: number;
  /** Header names in lower case. */
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/** The single answer in a text, whose body is JSON. */
export function parseAnswer(text: string): RawAnswer {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const [status = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => line.split(': ', 2) as [string, string]);
  return {
    status: Number(status.split(' ')[1]),
    headers: Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value])),
    body: JSON.parse(body) as Record<string, unknown>,
  };
}
