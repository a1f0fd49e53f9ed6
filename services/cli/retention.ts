import type { Logger } from 'pino';
import { sleep } from '../shared/async.js';
import type { RetentionConfig } from '../shared/config.js';
import { firstDayOf, type Month, monthAt } from '../shared/month.js';
import { PeriodicJob } from '../shared/periodic-job.js';
import { DAY_MS } from '../shared/time.js';
import type { Stores } from '../stores/open-stores.js';
import type { RetentionLog } from '../visits/retention.js';

const FIRST_RUN_MS = 60_000;
const INTERVAL_MS = 3_600_000;
const VISITS_PER_STEP = 1000;

type RetentionStores = Pick<Stores, 'records' | 'analytics'>;

/**
 * Deletes records older than the retention of their stream, in small steps, each followed by an equally long pause. First counts and logs
 * what will be deleted. Every process may run it: a step that another process has done finds nothing. `now` is in milliseconds since the
 * epoch. Throws the errors of the stores.
 */
export async function deleteExpired(
  { visitsDays, deliveriesDays }: RetentionConfig,
  { records, analytics }: RetentionStores,
  now: number,
  { signal, log }: { signal?: AbortSignal; log?: Pick<RetentionLog, 'info'> } = {},
): Promise<{ visits: number; months: string[] }> {
  let visits = 0;
  if (visitsDays > 0 && !signal?.aborted) {
    const before = now - visitsDays * DAY_MS;
    const found = await records.countVisitsBefore(before);
    const inSql = await analytics.countVisitsBefore(before);
    if (found > 0 || inSql > 0) {
      const details = { visits: found, sql_visits: inSql, before: new Date(before).toISOString() };
      log?.info(details, 'deletes visits older than their retention');
    }
    while (!signal?.aborted) {
      const begun = performance.now();
      const deleted = await records.deleteVisitsBefore(before, VISITS_PER_STEP);
      visits += deleted;
      if (deleted === 0) break;
      await sleep(performance.now() - begun, signal, { ref: false });
    }
    if (!signal?.aborted) await analytics.deleteVisitsBefore(before);
  }
  const months: string[] = [];
  if (deliveriesDays > 0 && !signal?.aborted) {
    const before = monthAt(now - deliveriesDays * DAY_MS);
    const found = await analytics.countDeliveriesBefore(before);
    if (found.length > 0) {
      const details = {
        months: found.map(({ month }) => nameOf(month)),
        rows: found.reduce((sum, { rows }) => sum + rows, 0),
        before: firstDayOf(before),
      };
      log?.info(details, 'deletes months of deliveries older than their retention');
    }
    months.push(...(await analytics.dropDeliveriesBefore(before)).map(nameOf));
  }
  return { visits, months };
}

const nameOf = (month: Month): string => firstDayOf(month).slice(0, 7);

/** Runs `deleteExpired` once an hour, unless every record is kept. */
export function startRetention(
  config: RetentionConfig,
  stores: RetentionStores & Partial<Pick<Stores, 'jobs' | 'clocks'>>,
  log: Pick<Logger, 'info' | 'warn'>,
): Pick<PeriodicJob, 'stop'> {
  const run = async (signal: AbortSignal) => {
    const { visits, months } = await deleteExpired(config, stores, Date.now(), { signal, log });
    if (visits > 0 || months.length > 0) {
      log.info({ visits, delivery_months: months }, 'deleted records older than their retention');
    }
  };
  const job = new PeriodicJob(run, {
    name: 'retention',
    runs: stores.jobs,
    deletes: stores.clocks ?? undefined,
    intervalMs: INTERVAL_MS,
    firstRunMs: FIRST_RUN_MS,
    failure: 'the retention of records failed and is tried again',
    log,
  });
  return config.visitsDays > 0 || config.deliveriesDays > 0 ? job.start() : job;
}

/** Describes for people how long each stream is kept. */
export function describeRetention({ visitsDays, deliveriesDays }: RetentionConfig): string {
  const days = (count: number) => (count === 0 ? 'forever' : `for ${count} ${count === 1 ? 'day' : 'days'}`);
  return `Website visits are kept ${days(visitsDays)}, deliveries ${days(deliveriesDays)}`;
}
