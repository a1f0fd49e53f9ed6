import { readFileSync } from 'node:fs';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface ConnectionLimits {
  /** Connections open at once; beyond it the one that has been idle longest is closed. */
  max: number;
  /** Milliseconds until the headers of a request have to be there, and the first byte of a connection. */
  headersMs: number;
  /** Milliseconds a connection is kept for its next request: longer than load balancers keep theirs (contract 1.8). */
  keepAliveMs: number;
  /** Milliseconds between two looks at how long requests take to arrive. */
  checkMs: number;
}

/** A half of the descriptors is left to stores and files. */
export function connectionLimits(openFiles = openFileLimit()): ConnectionLimits {
  return {
    max: Math.min(10_000, Math.floor(openFiles / 2)),
    headersMs: 10_000,
    keepAliveMs: 75_000,
    checkMs: 2000,
  };
}

/**
 * The connections of a server: how many there may be, and which of them answer. Stopping waits for answers and for nothing
 * else: `closeIdleConnections` leaves a connection that never sent a request, as browsers keep in reserve, open for a minute.
 */
export class Connections {
  readonly #max: number;
  readonly #answers = new Map<Socket, Set<ServerResponse>>();
  /** Those without an answer under way, the longest idle first. One that only sent a part of its headers is among them. */
  readonly #idle = new Set<Socket>();
  #stopping = false;

  constructor(server: Server, max: number) {
    this.#max = max;
    server.on('connection', (socket: Socket) => this.#add(socket));
  }

  get size(): number {
    return this.#answers.size;
  }

  answering(socket: Socket, response: ServerResponse): void {
    const answers = this.#answers.get(socket);
    if (this.#stopping) response.setHeader('Connection', 'close');
    answers?.add(response);
    this.#idle.delete(socket);
    response.once('close', () => {
      answers?.delete(response);
      if (answers?.size !== 0) return;
      if (this.#stopping) socket.end();
      else if (!socket.destroyed) this.#idle.add(socket);
    });
  }

  /** Whether an answer has begun to go out. */
  hasAnswered(socket: Socket): boolean {
    for (const response of this.#answers.get(socket) ?? []) if (response.headersSent) return true;
    return false;
  }

  stop(): void {
    this.#stopping = true;
    for (const [socket, answers] of this.#answers) {
      if (answers.size === 0) socket.destroy();
      for (const response of answers) {
        if (!response.headersSent) response.setHeader('Connection', 'close');
      }
    }
  }

  #add(socket: Socket): void {
    if (this.#answers.size >= this.#max) {
      const [longestIdle] = this.#idle;
      (longestIdle ?? socket).destroy();
      if (!longestIdle) return;
      this.#remove(longestIdle);
    }
    this.#answers.set(socket, new Set());
    this.#idle.add(socket);
    socket.once('close', () => this.#remove(socket));
  }

  #remove(socket: Socket): void {
    this.#answers.delete(socket);
    this.#idle.delete(socket);
  }
}

/** Descriptors this process may have; the common default where the system does not say. */
function openFileLimit(): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 1024);
  } catch {
    return 1024;
  }
}
