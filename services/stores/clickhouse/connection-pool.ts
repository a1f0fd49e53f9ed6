export interface Closable {
  close(): Promise<void>;
}

/**
 * A few connections, each used by one caller at a time, first come first served.
 *
 * A connection on which anything failed is closed and never used again: chdb prepends what a failed query had
 * already written to the output of the next one, which would hand the rows of one organization to another.
 */
export class ConnectionPool<Connection extends Closable> {
  readonly #open: () => Connection;
  readonly #idle: Connection[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #size: number;
  #busy = 0;
  #drained: (() => void) | undefined;

  constructor(size: number, open: () => Connection) {
    this.#size = size;
    this.#open = open;
  }

  /** Runs with exclusive use of a connection. Aborting the signal while waiting leaves the queue. */
  async use<T>(run: (connection: Connection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    await this.#enter(signal);
    let connection: Connection | undefined;
    let clean = false;
    try {
      connection = this.#idle.pop() ?? this.#open();
      const result = await run(connection);
      clean = true;
      return result;
    } finally {
      if (connection) {
        if (clean) this.#idle.push(connection);
        else await connection.close().catch(() => undefined);
      }
      this.#leave();
    }
  }

  /** Waits for running calls, then closes every connection. */
  async close(): Promise<void> {
    if (this.#busy > 0) {
      await new Promise<void>((resolve) => {
        this.#drained = resolve;
      });
    }
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
  }

  async #enter(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#busy < this.#size) {
      this.#busy++;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', abort);
        resolve();
      };
      const abort = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal?.reason);
      };
      this.#waiting.push(enter);
      signal?.addEventListener('abort', abort, { once: true });
    });
  }

  /** Passes the slot to the next in the queue, if any. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) {
      next();
      return;
    }
    this.#busy--;
    if (this.#busy === 0) this.#drained?.();
  }
}
