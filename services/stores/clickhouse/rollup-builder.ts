/** Sums the months of organizations whose deliveries have come to rest (decision 0014). Every process of a server may run it. */
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { buildStatements, SOURCES, type SourceName } from '../../advertising/rollups.js';
import { literal } from './bind.js';
import type { ClickHouse } from './client.js';

const INTERVAL_MS = 60_000;
const LOG_INTERVAL_MS = 600_000;
const MONTHS_PER_RUN = 100;
/** Longer than any insert runs, so that none of those that a build has not seen commits before one that it has. */
const SETTLE_SECONDS = 300;
/** Below, a month is read as fast as its sums. */
const MIN_ROWS = 10_000;
/** A month that is still restated leaves sums behind with each restatement: they expire soon. */
const RECENT_DAYS = 90;
const RECENT_LIFETIME_SECONDS = 2 * 86_400;
const LIFETIME_SECONDS = 30 * 86_400;

export interface RollupBuilderOptions {
  intervalMs?: number;
  settleSeconds?: number;
  minRows?: number;
  log?: { warn(details: object, message: string): void };
}

interface DueMonth {
  organization_id: string;
  source: SourceName;
  month: string;
  read_at: number;
  recent: number | boolean;
}

/** Builds one month after another and pauses after each for as long as it took, which leaves half of the time to reports. */
export class RollupBuilder {
  readonly #clickhouse: ClickHouse;
  readonly #options: Required<Omit<RollupBuilderOptions, 'log'>> & Pick<RollupBuilderOptions, 'log'>;
  readonly #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #logAgainAt = 0;

  constructor(
    clickhouse: ClickHouse,
    { intervalMs, settleSeconds, minRows, log }: RollupBuilderOptions = {},
  ) {
    this.#clickhouse = clickhouse;
    this.#options = {
      intervalMs: intervalMs ?? INTERVAL_MS,
      settleSeconds: settleSeconds ?? SETTLE_SECONDS,
      minRows: minRows ?? MIN_ROWS,
      log,
    };
  }

  /** Runs about once a minute until stopped. */
  start(): void {
    this.#running = this.#loop();
  }

  /** Resolves once a running build has ended. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Builds the months that are due, and returns how many. Throws `StoreUnavailableError` or `StoreTimeoutError`. */
  async run(): Promise<number> {
    const due = await this.#dueMonths();
    let built = 0;
    for (const month of due) {
      if (this.#stop.signal.aborted) break;
      const begun = performance.now();
      await this.#build(month);
      built++;
      await this.#rest(performance.now() - begun);
    }
    return built;
  }

  async #loop(): Promise<void> {
    const { intervalMs, log } = this.#options;
    for (;;) {
      await this.#rest(intervalMs * (0.75 + Math.random() / 2));
      if (this.#stop.signal.aborted) return;
      try {
        await this.run();
      } catch (error) {
        if (Date.now() < this.#logAgainAt) continue;
        this.#logAgainAt = Date.now() + LOG_INTERVAL_MS;
        log?.warn({ err: error }, 'building sums of months failed; reports read deliveries instead');
      }
    }
  }

  async #rest(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }

  /** Months at rest whose sums are missing, were begun before their last insert, or have lived half of their time. */
  async #dueMonths(): Promise<DueMonth[]> {
    const { settleSeconds, minRows } = this.#options;
    const sources = Object.keys(SOURCES).map(
      (
        source,
      ) => `SELECT organization_id, '${source}' AS source, toStartOfMonth(date) AS month, max(touched_at) AS touched, sum(${source}_rows) AS inserted
  FROM delivery_days GROUP BY organization_id, month HAVING inserted >= {min_rows:UInt64}`,
    );
    const { rows } = await this.#clickhouse.query<DueMonth>({
      name: 'due_rollups',
      sql: `SELECT touched.organization_id AS organization_id, touched.source AS source, touched.month AS month,
  toUnixTimestamp(now()) AS read_at, touched.month > today() - ${RECENT_DAYS} AS recent
FROM (${sources.join(' UNION ALL ')}) AS touched
LEFT JOIN (SELECT * FROM rollups FINAL) AS rollup
  ON rollup.organization_id = touched.organization_id AND rollup.source = touched.source AND rollup.month = touched.month
WHERE touched.touched <= now() - {settle:UInt32} AND (
  rollup.built_at IS NULL OR rollup.built_at <= touched.touched OR now() - rollup.built_at > rollup.expires_at - now()
)
ORDER BY touched.touched, organization_id, month LIMIT ${MONTHS_PER_RUN}`,
      params: { min_rows: minRows, settle: settleSeconds },
    });
    return rows;
  }

  async #build({ organization_id, source, month, read_at, recent }: DueMonth): Promise<void> {
    const statements = buildStatements(source, {
      organization: literal(organization_id),
      month: literal(month),
      build: randomBytes(8).readBigUInt64BE().toString(),
      readAt: read_at,
      lifetimeSeconds: recent ? RECENT_LIFETIME_SECONDS : LIFETIME_SECONDS,
    });
    for (const statement of statements) await this.#clickhouse.command('build_rollup', statement, true);
  }
}
