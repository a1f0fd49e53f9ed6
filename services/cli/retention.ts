import type { Logger } from 'pino';
import { sleep } from '../shared/async.js';
import type { RetentionConfig } from '../shared/config.js';
import { PeriodicJob } from '../shared/periodic-job.js';
import { DAY_MS, utcDate } from '../shared/time.js';
import type { Stores } from '../stores/open-stores.js';

const FIRST_RUN_MS = 60_000;
const INTERVAL_MS = 3_600_000;
const VISITS_PER_STEP = 1000;

type RetentionStores = Pick<Stores, 'search' | 'analytics'>;

/**
 * Deletes records older than the retention of their stream, in small steps with as long a rest after each. Every process may run it:
 * a step that another has done finds nothing. `now` in milliseconds since the epoch. Throws the errors of the stores.
 */
export async function deleteExpired(
  { visitsDays, deliveriesDays }: RetentionConfig,
  { search, analytics }: RetentionStores,
  now: number,
  signal?: AbortSignal,
): Promise<{ visits: number; months: string[] }> {
  let visits = 0;
  while (visitsDays > 0 && !signal?.aborted) {
    const begun = performance.now();
    const deleted = await search.deleteVisitsBefore(now - visitsDays * DAY_MS, VISITS_PER_STEP);
    visits += deleted;
    if (deleted === 0) break;
    await sleep(performance.now() - begun, signal, { ref: false });
  }
  if (visitsDays > 0 && !signal?.aborted) await analytics.deleteVisitsBefore(now - visitsDays * DAY_MS);
  const months: string[] = [];
  if (deliveriesDays > 0 && !signal?.aborted) {
    const month = `${utcDate(now - deliveriesDays * DAY_MS).slice(0, 7)}-01`;
    months.push(...(await analytics.dropDeliveriesBefore(month)));
  }
  return { visits, months };
}

/** `deleteExpired` once an hour; nothing where everything is kept. */
export function startRetention(
  config: RetentionConfig,
  stores: RetentionStores & Partial<Pick<Stores, 'jobs'>>,
  log: Pick<Logger, 'info' | 'warn'>,
): Pick<PeriodicJob, 'stop'> {
  const run = async (signal: AbortSignal) => {
    const { visits, months } = await deleteExpired(config, stores, Date.now(), signal);
    if (visits > 0 || months.length > 0) {
      log.info({ visits, delivery_months: months }, 'deleted records older than their retention');
    }
  };
  const job = new PeriodicJob(run, {
    name: 'retention',
    runs: stores.jobs,
    intervalMs: INTERVAL_MS,
    firstRunMs: FIRST_RUN_MS,
    failure: 'the retention of records failed and is tried again',
    log,
  });
  return config.visitsDays > 0 || config.deliveriesDays > 0 ? job.start() : job;
}

/** For people: how long each stream is kept. */
export function describeRetention({ visitsDays, deliveriesDays }: RetentionConfig): string {
  const days = (count: number) => (count === 0 ? 'for ever' : `for ${count} ${count === 1 ? 'day' : 'days'}`);
  return `Website visits are kept ${days(visitsDays)}, deliveries ${days(deliveriesDays)}`;
}
