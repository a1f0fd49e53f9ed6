import { connect } from 'node:net';

/** Sends bytes as they are over a connection of their own; resolves with all that came back once the connection has ended. */
export function sendBytes(url: string, parts: readonly (string | Buffer)[]): Promise<string> {
  const { port, hostname } = new URL(url);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname);
    for (const part of parts) socket.write(part);
    socket.setEncoding('utf8');
    socket.on('data', (piece: string) => {
      text += piece;
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
  });
}

export interface RawAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: Record<string, unknown>;
}

/** The one answer in a text, its body JSON. */
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
