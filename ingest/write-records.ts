import type { OrderedRecord } from '../services/shared/record-order.js';
import { Overloaded, StoreTimeout, StoreUnavailable } from '../services/stores/store-error.js';
import type { IngestStores, Stream } from './streams/stream.js';

/** A record the store will not take, by its place among those given. */
export interface Refused {
  index: number;
  reason: unknown;
}

/**
 * Writes records. Those the store will not take are looked for by halves, so that the others are written. Rejects
 * with `StoreUnavailable` or `StoreTimeout` when the store is out; some may be written then, and all may be given again.
 */
export async function writeRecords(
  stream: Stream,
  stores: IngestStores,
  records: readonly OrderedRecord<object>[],
  first = 0,
): Promise<Refused[]> {
  if (records.length === 0) return [];
  try {
    await stream.write(stores, records);
    return [];
  } catch (reason) {
    if (isOutage(reason)) throw reason;
    if (records.length === 1) return [{ index: first, reason }];
  }
  const half = Math.ceil(records.length / 2);
  const front = await writeRecords(stream, stores, records.slice(0, half), first);
  const back = await writeRecords(stream, stores, records.slice(half), first + half);
  return [...front, ...back];
}

/** The same write will do later. */
export const isOutage = (error: unknown): boolean =>
  error instanceof StoreUnavailable || error instanceof StoreTimeout || error instanceof Overloaded;
