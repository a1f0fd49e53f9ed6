import { expect } from 'chai';
import { groupWrites } from '../../ingest/group-writes.js';
import type { Write } from '../../ingest/write-records.js';
import { inOrder, type OrderedRecord } from '../../services/shared/record-order.js';
import { RejectedError, StoreUnavailableError } from '../../services/shared/store-errors.js';

const LIMITS = { maxSize: 10, maxWrites: 3 };

/** A store whose writes end when the test says so. */
class Store {
  readonly writes: string[][] = [];
  readonly #pending: ((error?: Error) => void)[] = [];
  readonly #write = groupWrites((records: Parameters<Write>[0]) => this.#begin(records), LIMITS);

  write(...names: string[]): Promise<void> {
    return this.#write(
      inOrder(
        names.map((name) => ({ name })),
        0,
      ),
    );
  }

  /** Ends the write under way. */
  async end(error?: Error): Promise<void> {
    this.#pending.shift()?.(error);
    await new Promise(setImmediate);
  }

  #begin(records: Parameters<Write>[0]): Promise<void> {
    this.writes.push((records as OrderedRecord<{ name: string }>[]).map(({ record }) => record.name));
    return new Promise((resolve, reject) => {
      this.#pending.push((error) => (error ? reject(error) : resolve()));
    });
  }
}

const outcome = (write: Promise<void>) =>
  write.then(
    () => 'written',
    (error: Error) => error.message,
  );
const names = (prefix: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${prefix}${index}`);

describe('Grouped writes', () => {
  let store: Store;
  beforeEach(() => {
    store = new Store();
  });

  it('join those that wait for the write under way into one, which ends them all', async () => {
    const writes = [store.write('a'), store.write('b', 'c'), store.write('d')].map(outcome);
    await store.end();
    await store.end();
    expect(await Promise.all(writes)).to.deep.equal(['written', 'written', 'written']);
    expect(store.writes).to.deep.equal([['a'], ['b', 'c', 'd']]);
  });

  it('have a bounded number of records, unless one alone has more', async () => {
    const writes = [store.write('a'), store.write(...names('b', 6)), store.write(...names('c', 6))];
    writes.push(store.write(...names('d', 20)));
    for (let count = 0; count < 4; count++) await store.end();
    await Promise.all(writes);
    expect(store.writes.map(({ length }) => length)).to.deep.equal([1, 6, 6, 20]);
  });

  it('are of a bounded number of writes', async () => {
    const writes = names('a', 8).map((name) => store.write(name));
    for (let count = 0; count < 4; count++) await store.end();
    await Promise.all(writes);
    expect(store.writes.map(({ length }) => length)).to.deep.equal([1, 3, 3, 1]);
  });

  it('are repeated one by one when the store rejects their records, so that only the one at fault is rejected', async () => {
    const writes = [store.write('a'), store.write('b'), store.write('bad'), store.write('c')].map(outcome);
    await store.end();
    await store.end(new RejectedError('of a group'));
    await store.end();
    await store.end(new RejectedError('of its own'));
    await store.end();
    expect(await Promise.all(writes)).to.deep.equal(['written', 'written', 'of its own', 'written']);
    expect(store.writes).to.deep.equal([['a'], ['b', 'bad', 'c'], ['b'], ['bad'], ['c']]);
  });

  it('all fail while the store is unavailable, and later ones are written', async () => {
    const writes = [store.write('a'), store.write('b'), store.write('c')].map(outcome);
    await store.end();
    await store.end(new StoreUnavailableError('analytics'));
    const message = new StoreUnavailableError('analytics').message;
    expect(await Promise.all(writes)).to.deep.equal(['written', message, message]);
    const later = outcome(store.write('d'));
    await store.end();
    expect(await later).to.equal('written');
  });
});
