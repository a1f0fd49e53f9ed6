import type { ResponseJSON } from '@clickhouse/client';
import type { AnalyticsQuery, AnalyticsResult } from '../../advertising/analytics-store.js';
import { TimeSlice } from '../../shared/async.js';
import { placeholders } from './bind.js';
import { storeError } from './errors.js';

/** Throws if a placeholder has no value, so that no query runs with a value that another query bound. */
export function checkBound({ name, sql, params }: AnalyticsQuery): void {
  for (const placeholder of placeholders(sql)) {
    if (!(placeholder in params)) throw new Error(`query ${name} binds no ${placeholder}`);
  }
}

/** Rejects as soon as the signal aborts, whatever the engine does. Engine errors become store errors. */
export async function settle<T>(running: Promise<T>, signal?: AbortSignal): Promise<T> {
  const guarded = running.catch((cause: unknown) => {
    if (signal?.aborted) throw signal.reason;
    throw storeError(cause);
  });
  if (!signal) return guarded;
  return new Promise<T>((resolvePromise, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    guarded.then(resolvePromise, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** Yields to the event loop between rows. */
export async function toResult<Row>(
  answer: ResponseJSON<unknown[]>,
  signal?: AbortSignal,
): Promise<AnalyticsResult<Row>> {
  const names = answer.meta?.map(({ name }) => name) ?? [];
  const slice = new TimeSlice();
  const rows: Row[] = [];
  for (const values of answer.data) {
    const row: Record<string, unknown> = {};
    for (let index = 0; index < names.length; index++) row[names[index] as string] = values[index];
    rows.push(row as Row);
    if (slice.shouldYield()) await slice.yieldToEventLoop(signal);
  }
  return { rows, total: answer.rows_before_limit_at_least ?? rows.length };
}
