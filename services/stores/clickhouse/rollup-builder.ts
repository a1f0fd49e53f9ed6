/**
 * Builds sums of the months of organizations whose deliveries have not changed for a while (decision 0014). Several processes may run this
 * job.
 */

import { randomBytes } from 'node:crypto';
import { buildStatements, SOURCES, type SourceName } from '../../advertising/rollups.js';
import { sleep } from '../../shared/async.js';
import type { JobRuns } from '../../shared/job-runs.js';
import { PeriodicJob } from '../../shared/periodic-job.js';
import { EMPTY_SQL, identifier, joinSql, sql, textLiteral } from '../../shared/sql.js';
import type { ClickHouse } from './client.js';

const INTERVAL_MS = 60_000;
const LOG_INTERVAL_MS = 600_000;
const MONTHS_PER_RUN = 100;
/**
 * Seconds without inserts before a month is built; longer than any insert runs. So an insert that a build missed cannot have committed
 * before an insert that the build saw.
 */
const SETTLE_SECONDS = 300;
/** Minimum rows of a month to build sums for. With fewer rows, reading the month is as fast as reading its sums. */
const MIN_ROWS = 10_000;
/**
 * Days for which a month counts as recent. Each restatement of a recent month leaves obsolete sums, so the sums of recent months expire
 * soon.
 */
const RECENT_DAYS = 90;
const RECENT_LIFETIME_SECONDS = 2 * 86_400;
const LIFETIME_SECONDS = 30 * 86_400;

export interface RollupBuilderOptions {
  intervalMs?: number;
  settleSeconds?: number;
  minRows?: number;
  log?: { warn(details: object, message: string): void };
  jobs?: JobRuns;
}

interface DueMonth {
  organization_id: string;
  source: SourceName;
  month: string;
  read_at: number;
  recent: number | boolean;
}

/** Builds one month after another. After each month, pauses for as long as the build took, which leaves half of the time to reports. */
export class RollupBuilder {
  readonly #clickhouse: ClickHouse;
  readonly #settleSeconds: number;
  readonly #minRows: number;
  readonly #job: PeriodicJob;

  constructor(
    clickhouse: ClickHouse,
    {
      intervalMs = INTERVAL_MS,
      settleSeconds = SETTLE_SECONDS,
      minRows = MIN_ROWS,
      log,
      jobs,
    }: RollupBuilderOptions = {},
  ) {
    this.#clickhouse = clickhouse;
    this.#settleSeconds = settleSeconds;
    this.#minRows = minRows;
    const failure = 'building sums of months failed; reports read deliveries instead';
    this.#job = new PeriodicJob((signal) => this.run(signal), {
      name: 'rollups',
      runs: jobs,
      intervalMs,
      failure,
      logIntervalMs: LOG_INTERVAL_MS,
      log,
    });
  }

  start(): void {
    this.#job.start();
  }

  /** Resolves once a running build has ended. */
  stop(): Promise<void> {
    return this.#job.stop();
  }

  /** Builds the months that are due, and returns their number. Throws `StoreUnavailableError` or `StoreTimeoutError`. */
  async run(signal?: AbortSignal): Promise<number> {
    let built = 0;
    for (const found of await this.#dueMonths()) {
      if (signal?.aborted) break;
      // Another process may have built this month since it was found.
      const [month] = await this.#dueMonths(found);
      if (month === undefined) continue;
      const begun = performance.now();
      await this.#build(month);
      built++;
      await sleep(performance.now() - begun, signal);
    }
    return built;
  }

  /**
   * Finds months without recent inserts whose sums are missing, were begun before the last insert, or have reached half of their lifetime.
   * With `only`, returns that month if it is still due.
   */
  async #dueMonths(only?: DueMonth): Promise<DueMonth[]> {
    const one = only
      ? sql`WHERE organization_id = ${textLiteral(only.organization_id)} AND toStartOfMonth(date) = ${textLiteral(only.month)}`
      : EMPTY_SQL;
    const sources = (only ? [only.source] : (Object.keys(SOURCES) as SourceName[])).map(
      (
        source,
      ) => sql`SELECT organization_id, ${textLiteral(source)} AS source, toStartOfMonth(date) AS month, max(touched_at) AS touched, sum(${identifier(SOURCES[source].rows)}) AS inserted
  FROM delivery_days ${one} GROUP BY organization_id, month HAVING inserted >= {min_rows:UInt64}`,
    );
    const { rows } = await this.#clickhouse.query<DueMonth>({
      name: 'due_rollups',
      sql: sql`SELECT touched.organization_id AS organization_id, touched.source AS source, touched.month AS month,
  toUnixTimestamp(now()) AS read_at, touched.month > today() - ${RECENT_DAYS} AS recent
FROM (${joinSql(sources, ' UNION ALL ')}) AS touched
LEFT JOIN (SELECT * FROM rollups FINAL) AS rollup
  ON rollup.organization_id = touched.organization_id AND rollup.source = touched.source AND rollup.month = touched.month
WHERE touched.touched <= now() - {settle:UInt32} AND (
  rollup.built_at IS NULL OR rollup.built_at <= touched.touched OR now() - rollup.built_at > rollup.expires_at - now()
)
ORDER BY touched.touched, organization_id, month LIMIT ${MONTHS_PER_RUN}`,
      params: { min_rows: this.#minRows, settle: this.#settleSeconds },
    });
    return rows;
  }

  async #build({ organization_id, source, month, read_at, recent }: DueMonth): Promise<void> {
    const statements = buildStatements(source, {
      organizationId: organization_id,
      month,
      build: randomBytes(8).readBigUInt64BE(),
      readAt: read_at,
      lifetimeSeconds: recent ? RECENT_LIFETIME_SECONDS : LIFETIME_SECONDS,
    });
    for (const statement of statements) await this.#clickhouse.command('build_rollup', statement, true);
  }
}
