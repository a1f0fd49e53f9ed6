/** Determines what a failed insert means: an outage of the server, or rows that it rejects. */
import { checkedIdentifier, EMPTY_SQL, joinSql, sql } from '../../shared/sql.js';
import { RecordRejectedError, RejectedError, StoreUnavailableError } from '../../shared/store-errors.js';
import type { ClickHouse } from './client.js';
import { codeOf, isOutageCode, isRowError } from './errors.js';
import type { Rows } from './rows.js';

export interface RefusalDeps {
  clickhouse: ClickHouse;
  /** Rejects if the server does not respond. */
  ping(): Promise<void>;
  log?: { warn(details: object, message: string): void };
}

/**
 * Inserts rows. Throws `RejectedError` if several rows are rejected and the caller must divide them, `RecordRejectedError` for a single
 * row, and otherwise the error of an outage.
 */
export async function insertRows(deps: RefusalDeps, rows: Rows, grouped: boolean): Promise<void> {
  const insert = (together: boolean) =>
    deps.clickhouse.insert(`insert_${rows.table}`, rows, { grouped: together });
  let refusal = await failureOf(insert(grouped));
  // If the rows were in a block with other rows, the other rows may have caused the rejection.
  if (grouped && mayRefuse(refusal)) refusal = await failureOf(insert(false));
  if (refusal === null) return;
  if (!mayRefuse(refusal)) throw refusal;
  const rejected = new RejectedError('ClickHouse refused rows', { cause: refusal });
  if (!isOne(rows)) {
    if (isRowError(refusal)) throw rejected;
    await throwUnless(deps.ping(), refusal);
    throw rejected;
  }
  if (!(await takesAnother(deps, rows))) throw isRowError(refusal) ? rejected : refusal;
  const again = await failureOf(insert(false));
  if (again === null) return;
  if (!mayRefuse(again)) throw again;
  deps.log?.warn({ table: rows.table, code: codeOf(again) }, 'ClickHouse refuses a row and takes others');
  throw new RecordRejectedError('not_storable', '', 'The store cannot hold this record.');
}

const isOne = ({ text }: Rows): boolean => text.indexOf('\n') === text.length - 1;

/** Whether the engine responded, with a code that does not mean an outage. */
function mayRefuse(error: unknown): boolean {
  return (
    isRowError(error) ||
    (error instanceof StoreUnavailableError && /^\d+$/.test(codeOf(error)) && !isOutageCode(error))
  );
}

const failureOf = (work: Promise<void>): Promise<unknown> =>
  work.then(
    () => null,
    (error: unknown) => error,
  );

async function throwUnless(work: Promise<unknown>, error: unknown): Promise<void> {
  await work.catch(() => {
    throw error;
  });
}

/** Deliveries are stored by views; the table itself holds nothing. */
const STORED_IN: { [table: string]: string } = { deliveries: 'creative_deliveries' };

/** Whether the table accepts a row that it has already; inserting such a row changes nothing. False if the table has no row. */
async function takesAnother({ clickhouse }: RefusalDeps, { table, columns }: Rows): Promise<boolean> {
  const source = STORED_IN[table] ?? table;
  const from = checkedIdentifier(source);
  const names = joinSql(columns.map(checkedIdentifier), ', ');
  // Excludes rows without a campaign, which are marks of deliveries.
  const condition = source === table ? EMPTY_SQL : sql`WHERE campaign_id != ''`;
  try {
    const { rows } = await clickhouse.query({
      name: 'any_row',
      sql: sql`SELECT 1 FROM ${from} ${condition} LIMIT 1`,
      params: {},
    });
    if (rows.length === 0) return false;
    const again = sql`INSERT INTO ${checkedIdentifier(table)} (${names}) SELECT ${names} FROM ${from} ${condition} LIMIT 1`;
    await clickhouse.command('insert_again', again);
    return true;
  } catch {
    return false;
  }
}
