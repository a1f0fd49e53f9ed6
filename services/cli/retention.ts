import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RetentionConfig } from '../shared/config.js';
import { DAY_MS, utcDate } from '../shared/time.js';
import type { Stores } from '../stores/open-stores.js';

const FIRST_RUN_MS = 60_000;
const INTERVAL_MS = 3_600_000;
const VISITS_PER_STEP = 1000;

type RetentionStores = Pick<Stores, 'search' | 'analytics'>;

/**
 * Deletes records older than the retention of their stream, once an hour, in small steps with as long a rest after each. Every process
 * may run it: a step that another has done finds nothing.
 */
export class RetentionJob {
  readonly #config: RetentionConfig;
  readonly #stores: RetentionStores;
  readonly #log: Pick<Logger, 'info' | 'warn'>;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();

  constructor(config: RetentionConfig, stores: RetentionStores, log: Pick<Logger, 'info' | 'warn'>) {
    this.#config = config;
    this.#stores = stores;
    this.#log = log;
  }

  /** Does nothing where everything is kept. */
  start(firstRunMs = FIRST_RUN_MS): this {
    const { visitsDays, deliveriesDays } = this.#config;
    if (visitsDays > 0 || deliveriesDays > 0) this.#running = this.#loop(firstRunMs);
    return this;
  }

  /** Resolves once a running step has ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** `now` in milliseconds since the epoch. Throws the errors of the stores. */
  async run(now: number): Promise<{ visits: number; months: string[] }> {
    const { visitsDays, deliveriesDays } = this.#config;
    let visits = 0;
    while (visitsDays > 0 && !this.#stop.signal.aborted) {
      const begun = performance.now();
      const deleted = await this.#stores.search.deleteVisitsBefore(
        now - visitsDays * DAY_MS,
        VISITS_PER_STEP,
      );
      visits += deleted;
      if (deleted === 0) break;
      await this.#rest(performance.now() - begun);
    }
    const months: string[] = [];
    if (deliveriesDays > 0 && !this.#stop.signal.aborted) {
      const month = `${utcDate(now - deliveriesDays * DAY_MS).slice(0, 7)}-01`;
      months.push(...(await this.#stores.analytics.dropDeliveriesBefore(month)));
    }
    return { visits, months };
  }

  async #loop(firstRunMs: number): Promise<void> {
    await this.#rest(firstRunMs);
    while (!this.#stop.signal.aborted) {
      try {
        const { visits, months } = await this.run(Date.now());
        if (visits > 0 || months.length > 0) {
          this.#log.info({ visits, delivery_months: months }, 'deleted records older than their retention');
        }
      } catch (error) {
        this.#log.warn({ err: error }, 'the retention of records failed and is tried again');
      }
      await this.#rest(INTERVAL_MS * (0.75 + Math.random() / 2));
    }
  }

  async #rest(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#stop.signal, ref: false }).catch(() => undefined);
  }
}

/** For people: how long each stream is kept. */
export function describeRetention({ visitsDays, deliveriesDays }: RetentionConfig): string {
  const days = (count: number) => (count === 0 ? 'for ever' : `for ${count} ${count === 1 ? 'day' : 'days'}`);
  return `Website visits are kept ${days(visitsDays)}, deliveries ${days(deliveriesDays)}`;
}
