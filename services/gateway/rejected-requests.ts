/** Responds with problems to requests that never reach the application, such as those that Node's HTTP parser rejects (contract 1.8). */
import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { Problem } from '../http/problems.js';
import { answerUnreadBody, LINGER_BYTES, LINGER_MS } from '../http/unread-body.js';
import { newId } from '../shared/ids.js';
import type { Connections } from './connections.js';
import { problemText } from './error-handler.js';
import type { Metrics } from './metrics.js';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

/** Passes requests to `handle`, and responds to those that are not valid HTTP. */
export function serveRequests(
  server: Server,
  handle: Handle,
  connections: Connections,
  metrics: Metrics,
  logger: Logger,
): void {
  /** Connections that got a response from this module, with the number of bytes that they had sent by then. */
  const answered = new WeakMap<Socket, number>();

  function receive(request: IncomingMessage, response: ServerResponse): void {
    connections.trackResponse(request.socket, response);
    const reason = malformation(request);
    if (reason === null) handle(request, response);
    else reject(request, response, new Problem('malformed_request', reason));
  }

  function reject(request: IncomingMessage, response: ServerResponse, problem: Problem): void {
    const requestId = logRejection(problem, request.socket);
    response.statusCode = problem.status;
    for (const [name, value] of Object.entries(headersOf(requestId))) response.setHeader(name, value);
    answerUnreadBody(request, response, problemText(problem, requestId, '/'));
  }

  function logRejection(problem: Problem, socket: Socket): string {
    const requestId = newId('req');
    metrics.problems.inc({ code: problem.code });
    logger.info(
      { request_id: requestId, status: problem.status, code: problem.code, client: socket.remoteAddress },
      'request rejected',
    );
    return requestId;
  }

  server.on('request', receive);
  // 100 Continue is sent where the body is read, so that a client does not send a body that will be rejected.
  server.on('checkContinue', receive);
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    connections.trackResponse(request.socket, response);
    reject(request, response, new Problem('expectation_failed', 'Expect may only be 100-continue.'));
  });

  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    const before = answered.get(socket);
    if (before !== undefined) {
      if (socket.bytesRead - before > LINGER_BYTES) socket.destroy();
      return;
    }
    if (!socket.writable || socket.bytesRead === 0) {
      socket.destroy();
      return;
    }
    if (connections.hasAnsweredEarly(socket)) {
      // The response may still be in memory: the parser fails in the same tick in which the request was rejected.
      socket.destroySoon();
      return;
    }
    const problem = toProblem(error.code);
    if (!problem) {
      socket.destroy();
      return;
    }
    answered.set(socket, socket.bytesRead);
    // Earlier requests on the connection were carried out, so their responses come first.
    connections.afterResponses(socket, () => socket.writable && answerAndEnd(socket, problem));
  });

  function answerAndEnd(socket: Socket, problem: Problem): void {
    const requestId = logRejection(problem, socket);
    const body = problemText(problem, requestId, '/');
    const headers = {
      ...headersOf(requestId),
      Connection: 'close',
      'Content-Length': Buffer.byteLength(body),
    };
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${head.join('')}\r\n${body}`);
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  }
}

/**
 * The reason to reject a request that Node's parser accepts, but that a proxy in front may understand differently; null for other requests.
 */
function malformation({ httpVersion, headersDistinct }: IncomingMessage): string | null {
  const { host = [], 'transfer-encoding': encodings } = headersDistinct;
  if (host.length > 1) return 'The request has more than one Host header.';
  if (host.length === 0 && httpVersion === '1.1') return 'The request has no Host header.';
  const isChunked = encodings?.length === 1 && encodings[0]?.toLowerCase() === 'chunked';
  return encodings && !isChunked ? 'Transfer-Encoding may only be chunked.' : null;
}

const headersOf = (requestId: string) => ({
  'Content-Type': 'application/problem+json; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
  'X-Request-Id': requestId,
});

/** The problem for an error code of the parser; null if no response can be sent. */
function toProblem(code = ''): Problem | null {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Problem('request_timeout', 'The request did not arrive in time.');
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new Problem('headers_too_large', 'The headers may have at most 16 KiB in all.');
  }
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') {
    return new Problem('body_too_large', 'The chunk extensions of the body are too large.');
  }
  return code.startsWith('HPE_')
    ? new Problem('malformed_request', 'The request is not valid HTTP/1.1.')
    : null;
}
