import { FairSemaphore } from '../../shared/fair-semaphore.js';

export interface Closable {
  /** Whether the connection can no longer be used. */
  readonly isLost?: boolean;
  close(): Promise<void>;
}

/**
 * A few connections, each used by one caller at a time, first come, first served. After any failure on a connection, the pool closes the
 * connection and never uses it again: chdb puts what a failed query had already written before the output of the next query, which would
 * hand rows of one organization to another organization.
 */
export class ConnectionPool<Connection extends Closable> {
  readonly #open: () => Connection;
  readonly #idle: Connection[] = [];
  readonly #places: FairSemaphore;
  readonly #running = new Set<Promise<unknown>>();

  constructor(size: number, open: () => Connection) {
    this.#places = new FairSemaphore(size);
    this.#open = open;
  }

  /** Runs with exclusive use of a connection. A caller whose signal aborts leaves the queue. */
  async use<T>(run: (connection: Connection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const running = this.#places.run('', () => this.#connected(run), signal);
    this.#running.add(running);
    return running.finally(() => this.#running.delete(running));
  }

  /** Waits for running calls, then closes every connection. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#running);
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
  }

  async #connected<T>(run: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = this.#takeIdle() ?? this.#open();
    try {
      const result = await run(connection);
      this.#idle.push(connection);
      return result;
    } catch (error) {
      await connection.close().catch(() => undefined);
      throw error;
    }
  }

  #takeIdle(): Connection | undefined {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) if (!idle.isLost) return idle;
    return undefined;
  }
}
