import { readdirSync, readFileSync } from 'node:fs';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** Maximum number of open connections. Above this number, the connection with the longest idle time is closed. */
  max: number;
  /** Milliseconds within which the headers of a request must arrive. */
  headersMs: number;
  /** Keep-alive timeout in milliseconds; longer than the timeout of load balancers (contract 1.8). */
  keepAliveMs: number;
  /** Milliseconds between two checks of the timeouts. */
  checkMs: number;
}

/** Limits for half of the file descriptors that are free at the start; the other half is for stores and files. */
export function connectionLimits(openFiles = openFileLimit(), openNow = openFileCount()): ConnectionLimits {
  return {
    max: Math.max(1, Math.min(10_000, Math.floor((openFiles - openNow) / 2))),
    headersMs: 10_000,
    keepAliveMs: 75_000,
    checkMs: 2000,
  };
}

/**
 * Limits the connections of a server and tracks their responses for graceful shutdown, which waits only for responses. This replaces Node's
 * `closeIdleConnections`, which keeps a connection that never sent a request, such as a browser's spare connection, open for a minute.
 */
export class Connections {
  readonly #max: number;
  readonly #responses = new Map<Socket, Set<ServerResponse>>();
  /** Connections without a response in progress, longest idle first. Includes connections that sent only part of their headers. */
  readonly #idle = new Set<Socket>();
  #stopping = false;

  constructor(server: Server, max: number) {
    this.#max = max;
    server.on('connection', (socket: Socket) => this.#add(socket));
  }

  get size(): number {
    return this.#responses.size;
  }

  trackResponse(socket: Socket, response: ServerResponse): void {
    const responses = this.#responses.get(socket);
    if (this.#stopping) response.setHeader('Connection', 'close');
    responses?.add(response);
    this.#idle.delete(socket);
    response.once('close', () => {
      responses?.delete(response);
      if (responses?.size !== 0) return;
      if (this.#stopping) socket.end();
      else if (!socket.destroyed) this.#idle.add(socket);
    });
  }

  /** Whether the headers of a response were sent before its request had arrived completely. */
  hasAnsweredEarly(socket: Socket): boolean {
    return [...(this.#responses.get(socket) ?? [])].some(
      ({ headersSent, req }) => headersSent && !req.complete,
    );
  }

  /** Calls `then` after the responses to all requests that have arrived completely on the connection. */
  afterResponses(socket: Socket, then: () => void): void {
    const pending = [...(this.#responses.get(socket) ?? [])].filter(({ req }) => req.complete);
    let left = pending.length;
    if (left === 0) then();
    for (const response of pending) response.once('close', () => --left === 0 && then());
  }

  /**
   * Closes idle connections after `drainMs`. A request that arrives on an idle connection before that gets its response, and then the
   * connection is closed.
   */
  stop(drainMs: number): void {
    this.#stopping = true;
    for (const responses of this.#responses.values()) {
      for (const response of responses) {
        if (!response.headersSent) response.setHeader('Connection', 'close');
      }
    }
    if (drainMs === 0) this.#closeIdle();
    else setTimeout(() => this.#closeIdle(), drainMs);
  }

  #closeIdle(): void {
    for (const [socket, responses] of this.#responses) if (responses.size === 0) socket.destroy();
  }

  #add(socket: Socket): void {
    if (this.#responses.size >= this.#max) {
      const [longestIdle] = this.#idle;
      (longestIdle ?? socket).destroy();
      if (!longestIdle) return;
      this.#remove(longestIdle);
    }
    this.#responses.set(socket, new Set());
    this.#idle.add(socket);
    socket.once('close', () => this.#remove(socket));
  }

  #remove(socket: Socket): void {
    this.#responses.delete(socket);
    this.#idle.delete(socket);
  }
}

/** Maximum number of open files of this process; 1024, the common default, if the system does not say. */
function openFileLimit(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 1024);
  } catch {
    return 1024;
  }
}

/** Number of open file descriptors of this process; 0 if the system does not say. */
function openFileCount(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return 0;
  }
}
