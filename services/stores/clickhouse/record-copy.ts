/** The copy of contacts and audiences that SQL reads on a server (mappings/clickhouse/server). */
import { randomBytes } from 'node:crypto';
import { checkedIdentifier, identifier, joinSql, type Sql, sql, textLiteral } from '../../shared/sql.js';
import { StoreUnavailableError } from '../../shared/store-errors.js';
import {
  COPIED_KINDS,
  COPY_LEASE_MS,
  type ContactKey,
  type CopiedKind,
  type NewCopy,
  type RecordCopy,
} from '../common/record-copy.js';
import type { ClickHouse, ClickHouseServer } from './client.js';
import { columnValues, parsedFields, viewOf } from './record-columns.js';

const KEYS_PER_STATEMENT = 1000;
/** Clock of the server, which all processes share. */
const NOW_MS = sql`toUnixTimestamp64Milli(now64(3))`;
/** Milliseconds after which tables without a lease are dropped. No copy takes this long. */
const ABANDONED_MS = 86_400_000;

/** The comment of a table: when the reading of its records began, and until when the process that created the table has the lease. */
interface TableComment {
  beganAt: number | null;
  leaseUntil: number | null;
}

function readComment(text: string): TableComment {
  const [beganAt, leaseUntil] = text.split(' ').map(Number);
  return { beganAt: beganAt || null, leaseUntil: leaseUntil ?? null };
}

/** Whether no process is making the copy whose tables carry this time in their names. */
function isAbandoned(beganAt: number, comment: TableComment, now: number): boolean {
  if (comment.leaseUntil !== null) return comment.leaseUntil < now;
  // A comment with another time belongs to tables of the former copy, which were swapped out.
  if (comment.beganAt !== null && comment.beganAt !== beganAt) return true;
  return beganAt < now - ABANDONED_MS;
}

/**
 * Each server has its own copy, because tables are swapped on one server at a time. A server that is down gets its next copy after it is
 * back.
 */
export function copyOnServers(servers: readonly ClickHouseServer[]): RecordCopy {
  const [only, ...others] = servers.map((server) => ({ server, copy: recordCopy(server) }));
  if (only && others.length === 0) return only.copy;
  const all = only ? [only, ...others] : [];
  const answering = async (): Promise<RecordCopy[]> => {
    const answers = await Promise.all(all.map(({ server }) => server.answers()));
    const copies = all.flatMap(({ copy }, index) => (answers[index] ? [copy] : []));
    if (copies.length === 0) throw new StoreUnavailableError('analytics');
    return copies;
  };
  const onAnswering = async <T>(work: (copy: RecordCopy) => Promise<T>) => allOf(await answering(), work);

  return {
    async beganAt() {
      const moments = await onAnswering((copy) => copy.beganAt());
      return moments.includes(null) ? null : Math.min(...(moments as number[]));
    },
    unfinished: async () => (await onAnswering((copy) => copy.unfinished())).flat(),
    async begin(now) {
      const made = await onAnswering((copy) => copy.begin(now));
      const onEach = async (work: (copy: NewCopy) => Promise<void>) => {
        await allOf(made, work);
      };
      return {
        insert: (kind, lines) => onEach((copy) => copy.insert(kind, lines)),
        hide: (contacts) => onEach((copy) => copy.hide(contacts)),
        renew: () => onEach((copy) => copy.renew()),
        swap: () => onEach((copy) => copy.swap()),
        drop: () => onEach((copy) => copy.drop()),
      };
    },
    async dropAbandoned() {
      await onAnswering((copy) => copy.dropAbandoned());
    },
    async hide(contacts) {
      const hidden = await onAnswering((copy) => copy.hide(contacts));
      if (hidden.length < all.length) throw new StoreUnavailableError('analytics');
    },
    async isFreeOf(contacts) {
      const free = await onAnswering((copy) => copy.isFreeOf(contacts));
      return free.length === all.length && !free.includes(false);
    },
  };
}

/** Waits for all servers, then throws the first failure. */
async function allOf<Item, T>(items: readonly Item[], work: (item: Item) => Promise<T>): Promise<T[]> {
  const running = items.map(work);
  await Promise.allSettled(running);
  return Promise.all(running);
}

export function recordCopy(clickhouse: ClickHouse): RecordCopy {
  const { tables } = clickhouse.layout;
  const copies = checkedIdentifier(clickhouse.layout.copies);
  const command = (statement: Sql) => clickhouse.command('copy_records', statement);
  const query = async <Row>(statement: Sql) =>
    (await clickhouse.query<Row>({ name: 'copy_records', sql: statement, params: {} })).rows;

  /** Tables of unfinished and former copies: `contacts_<began>_<suffix>`. */
  async function otherTables(): Promise<{ name: string; beganAt: number; isAbandoned: boolean }[]> {
    const rows = await query<{ name: string; comment: string; now_ms: number }>(
      sql`SELECT name, comment, ${NOW_MS} AS now_ms FROM system.tables WHERE database = ${textLiteral(copies.text)}`,
    );
    return rows.map(({ name, comment, now_ms }) => {
      const beganAt = Number(name.split('_')[1]);
      return { name, beganAt, isAbandoned: isAbandoned(beganAt, readComment(comment), Number(now_ms)) };
    });
  }

  /** A mask hides the rows, without a mutation of data. */
  async function hide(table: Sql, contacts: readonly ContactKey[]): Promise<void> {
    for (const keys of chunks(contacts)) {
      await command(sql`DELETE FROM ${table} WHERE ${isOneOf(keys)}`);
    }
  }

  const drop = (table: string) =>
    command(
      sql`DROP TABLE IF EXISTS ${copies}.${checkedIdentifier(table)} SYNC SETTINGS max_table_size_to_drop = 0`,
    );

  return {
    async beganAt() {
      const [table] = await query<{ comment: string }>(
        sql`SELECT comment FROM system.tables WHERE database = ${textLiteral(tables)} AND name = 'contacts'`,
      );
      return table ? readComment(table.comment).beganAt : null;
    },

    unfinished: async () =>
      (await otherTables()).filter((table) => !table.isAbandoned).map(({ beganAt }) => beganAt),

    async begin(now): Promise<NewCopy> {
      const suffix = `${now}_${randomBytes(4).toString('hex')}`;
      const made = (kind: CopiedKind) => sql`${copies}.${checkedIdentifier(`${kind}_${suffix}`)}`;
      const dropMade = async () => {
        for (const kind of COPIED_KINDS) await drop(`${kind}_${suffix}`);
      };
      const comment = async (text: string) => {
        for (const kind of COPIED_KINDS)
          await command(sql`ALTER TABLE ${made(kind)} MODIFY COMMENT ${textLiteral(text)}`);
      };
      const lease = async () => {
        const [row] = await query<{ until_ms: number }>(sql`SELECT ${NOW_MS} + ${COPY_LEASE_MS} AS until_ms`);
        return `${now} ${Number(row?.until_ms)}`;
      };
      const create = async (kind: CopiedKind) => {
        await command(sql`CREATE TABLE ${made(kind)} AS ${identifier(kind)}`);
        // If another version makes a copy during this migration, that copy lacks the new columns, and so does a table created like it.
        const columns = viewOf(kind).columns.map(
          ({ name, type }) => sql`ADD COLUMN IF NOT EXISTS ${checkedIdentifier(name)} ${type}`,
        );
        await command(sql`ALTER TABLE ${made(kind)} ${joinSql(columns, ', ')}`);
      };
      await command(sql`CREATE DATABASE IF NOT EXISTS ${copies}`);
      try {
        for (const kind of COPIED_KINDS) await create(kind);
        await comment(await lease());
      } catch (error) {
        // A remaining table would delay every proof of erasure until it counts as abandoned.
        await dropMade().catch(() => undefined);
        throw error;
      }
      return {
        async insert(kind, lines) {
          const view = viewOf(kind);
          const columns = joinSql(
            view.columns.map(({ name }) => checkedIdentifier(name)),
            ', ',
          );
          await clickhouse.insertLines(
            `copy_${kind}`,
            sql`INSERT INTO ${made(kind)} (${columns}) SELECT ${joinSql(columnValues(view), ', ')} FROM input(${textLiteral(parsedFields(view).text)}) FORMAT JSONEachRow`,
            `${lines.join('\n')}\n`,
          );
        },
        hide: (contacts) => hide(made('contacts'), contacts),
        renew: async () => comment(await lease()),
        async swap() {
          // The current copy has no lease: other versions read the comment as one number.
          await comment(String(now));
          for (const kind of COPIED_KINDS)
            await command(sql`EXCHANGE TABLES ${identifier(kind)} AND ${made(kind)}`);
        },
        drop: dropMade,
      };
    },

    async dropAbandoned() {
      for (const { name, isAbandoned } of await otherTables()) if (isAbandoned) await drop(name);
    },

    hide: (contacts) => hide(sql`contacts`, contacts),

    async isFreeOf(contacts) {
      for (const keys of chunks(contacts)) {
        // This count includes hidden rows.
        const found = await query(
          sql`SELECT 1 FROM contacts WHERE ${isOneOf(keys)} LIMIT 1 SETTINGS apply_deleted_mask = 0`,
        );
        if (found.length > 0) return false;
      }
      // A table that is being filled may contain these contacts. The table is checked once it has become the copy.
      return (await otherTables()).length === 0;
    },
  };
}

function* chunks(contacts: readonly ContactKey[]): Generator<readonly ContactKey[]> {
  for (let start = 0; start < contacts.length; start += KEYS_PER_STATEMENT)
    yield contacts.slice(start, start + KEYS_PER_STATEMENT);
}

/** Condition that a row is one of the contacts: compares the primary key first, then `contactKey` in SQL. */
function isOneOf(keys: readonly ContactKey[]): Sql {
  const organizations = [...new Set(keys.map(({ organizationId }) => organizationId))].map(textLiteral);
  const hashes = keys.map(({ hash }) => sql`unhex(${textLiteral(hash)})`);
  return sql`organization_id IN (${joinSql(organizations, ', ')})
    AND SHA256(concat(organization_id, '/', contact_id)) IN (${joinSql(hashes, ', ')})`;
}
