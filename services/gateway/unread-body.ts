/** Answers to requests whose body was not read to its end. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Milliseconds for which, and bytes up to which, a refused body is read on, so that its client gets to read why. */
export const LINGER_MS = 1000;
export const LINGER_BYTES = 8 * 1024 * 1024;

/**
 * Sends an answer while the body is still arriving, then ends the connection. The body is read on for a bounded time first: a
 * connection that is closed with unread bytes is reset, and a reset takes the answer from the client's buffer (RFC 9112 9.6).
 */
export function answerUnreadBody(request: IncomingMessage, response: ServerResponse, body: string): void {
  response.setHeader('Connection', 'close');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  // All of the answer goes out now, and its end, which closes the connection, only once the client has stopped sending.
  response.write(body);
  let bytes = 0;
  const end = () => {
    clearTimeout(timer);
    request.off('data', count);
    request.off('end', end);
    request.off('close', end);
    response.end();
    // Node tells readers nothing more of a request that was answered, so this also ends whoever still waits for its body.
    if (!request.complete) response.once('close', () => request.destroy());
  };
  const count = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.on('data', count);
  request.once('end', end);
  request.once('close', end);
  request.resume();
}
