/** Name of a store in readiness and logs; `intake` is the queue of records for the workers. */
export type StoreName = 'records' | 'analytics' | 'intake';

/** A failure of one store. */
export abstract class StoreError extends Error {
  readonly store: StoreName;

  constructor(store: StoreName, message: string, options?: ErrorOptions) {
    super(message, options);
    this.store = store;
  }
}

/** The store is down, rejects everything, or lost its schema. `cause` holds the library's error, for logs only. */
export class StoreUnavailableError extends StoreError {
  override readonly name = 'StoreUnavailableError';

  constructor(store: StoreName, options?: ErrorOptions) {
    super(store, `the ${store} store is unavailable`, options);
  }
}

/** The store serves reads, but an operator has blocked writes. */
export class ReadOnlyError extends StoreUnavailableError {}

/** The store serves reads, but has no room for writes. */
export class DiskFullError extends StoreUnavailableError {
  constructor(store: StoreName, options?: ErrorOptions) {
    super(store, options);
    this.message = `the disk of the ${store} store is full`;
  }
}

/** The queue of the store is full. Nothing was written; retry later. */
export class OverloadedError extends StoreError {
  override readonly name = 'OverloadedError';

  constructor(store: StoreName) {
    super(store, `the queue of the ${store} store is full`);
  }
}

/** The store did not finish the request in time. A write may have been applied. */
export class StoreTimeoutError extends StoreError {
  override readonly name = 'StoreTimeoutError';

  constructor(store: StoreName, options?: ErrorOptions) {
    super(store, `the ${store} store timed out`, options);
  }
}

/** A record violates a rule in combination with stored data. The message is for the client that sent the record. */
export class RecordRejectedError extends Error {
  override readonly name = 'RecordRejectedError';
  readonly code: string;
  /** JSON Pointer into the record. */
  readonly pointer: string;

  constructor(code: string, pointer: string, detail: string) {
    super(detail);
    this.code = code;
    this.pointer = pointer;
  }
}

/** Some records of a write were rejected; all others are written. */
export class PartialWriteError extends Error {
  override readonly name = 'PartialWriteError';
  /** Errors of the rejected records, by their index in the write. */
  readonly rejected: ReadonlyMap<number, RecordRejectedError>;

  constructor(rejected: ReadonlyMap<number, RecordRejectedError>) {
    super(`${rejected.size} records were rejected`);
    this.rejected = rejected;
  }
}

/** The store understood the record or query but rejected it. A retry would be rejected again. */
export class RejectedError extends Error {
  override readonly name = 'RejectedError';
}
