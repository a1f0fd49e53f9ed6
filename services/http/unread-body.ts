/** Responds to requests whose body was not read to its end. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Milliseconds for which a rejected body is still read, so that the client can read the response. */
export const LINGER_MS = 1000;
export const LINGER_BYTES = 8 * 1024 * 1024;

/**
 * Responds while the body is still arriving, then closes the connection. First reads on for a bounded time: closing a connection with
 * unread bytes resets the connection, and a reset discards the response in the client's buffer (RFC 9112 9.6).
 */
export function answerUnreadBody(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Buffer,
): void {
  response.setHeader('Connection', 'close');
  response.setHeader('Content-Length', Buffer.byteLength(body));
  // Sends the whole response now. `end`, which closes the connection, follows once the client has stopped sending.
  response.write(body);
  endUnreadBody(request, response);
}

/** Ends a response whose request body is still arriving: once the client has stopped sending, or after a bounded time. */
export function endUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  let bytes = 0;
  const end = () => {
    clearTimeout(timer);
    request.off('data', count);
    request.off('end', end);
    request.off('close', end);
    response.end();
    // After its response, a request emits no more events in Node.js. Destroying it also ends readers that wait for its body.
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
