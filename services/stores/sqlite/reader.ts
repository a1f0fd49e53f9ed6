import { StoreUnavailableError } from '../../shared/store-errors.js';
import { Connection } from './connection.js';
import { withStoreErrors } from './errors.js';
import type { WorkerData } from './workers/rpc.js';

/** Reads on the calling thread, for reads that take microseconds. A hop to another thread or process would take several times as long. */
export class Reader {
  readonly #data: WorkerData;
  #connection: Connection | undefined;
  #isClosed = false;

  constructor(data: WorkerData) {
    this.#data = data;
  }

  /** Runs `work` on a connection, which the first read opens. Throws `StoreUnavailableError`. */
  read<T>(work: (connection: Connection) => T): T {
    if (this.#isClosed) throw new StoreUnavailableError('records');
    return withStoreErrors(() => {
      this.#connection ??= new Connection(this.#data.path, { cacheMb: this.#data.cacheMb, readOnly: true });
      return work(this.#connection);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#connection?.close();
    this.#connection = undefined;
  }
}
