/** Which store failed, for readiness and logs; `intake` holds records that workers are to apply. */
export type StoreName = 'search' | 'analytics' | 'intake';

/** The store is down, refuses, or lost its schema. The cause is for the log only. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  readonly store: StoreName;

  constructor(store: StoreName, options?: ErrorOptions) {
    super(`the ${store} store cannot answer`, options);
    this.store = store;
  }
}

/** Too much waits for the store already; nothing of this was taken. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded';
  readonly store: StoreName;

  constructor(store: StoreName) {
    super(`too much waits for the ${store} store`);
    this.store = store;
  }
}

/** The store gave up on a request that took too long. */
export class StoreTimeout extends Error {
  override readonly name = 'StoreTimeout';
  readonly store: StoreName;

  constructor(store: StoreName, options?: ErrorOptions) {
    super(`the ${store} store took too long`, options);
    this.store = store;
  }
}

/** A record breaks a rule together with what is stored already. Its words are for whoever sent it. */
export class RecordRefusal extends Error {
  override readonly name = 'RecordRefusal';
  readonly code: string;
  /** JSON Pointer into the record. */
  readonly pointer: string;

  constructor(code: string, pointer: string, detail: string) {
    super(detail);
    this.code = code;
    this.pointer = pointer;
  }
}

/** Some of the records of a write were refused, by their places among those given; all others are written. */
export class RecordsRefused extends Error {
  override readonly name = 'RecordsRefused';
  readonly refused: ReadonlyMap<number, RecordRefusal>;

  constructor(refused: ReadonlyMap<number, RecordRefusal>) {
    super(`${refused.size} records were refused`);
    this.refused = refused;
  }
}

/** The store understood, and refused the record or the query itself: the same again is refused again. */
export class Rejected extends Error {
  override readonly name = 'Rejected';
}
