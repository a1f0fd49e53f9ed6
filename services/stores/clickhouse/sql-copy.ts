/** The tables of contacts, audiences and visits that SQL reads. */
import { randomBytes } from 'node:crypto';
import { checkedIdentifier, sql, textLiteral } from '../../shared/sql.js';
import {
  type CopiedTable,
  type CopyPosition,
  type NewTables,
  nextOf,
  type SqlCopy,
} from '../common/sql-copy.js';
import type { ClickHouse } from './client.js';
import {
  audienceLines,
  contactLines,
  HIDDEN,
  hiddenLines,
  partitionOfVisit,
  type Rows,
  splitByMonths,
  visitRows,
} from './rows.js';
import { MAX_MONTHS_PER_INSERT } from './settings.js';

export function sqlCopy(clickhouse: ClickHouse): SqlCopy {
  const name = 'copy_records';
  const { tables, copies } = clickhouse.layout;
  // In the embedded engine one process writes, and the filters of analysts name the tables of `nextOf` too, because a swap does not wait
  // for statements. On servers, a process that no longer follows must not swap in the table of another one; a policy covers the database.
  const isEmbedded = copies === tables;
  const place = isEmbedded ? {} : { database: copies };

  /**
   * Deletes what else tables have of hidden contacts, because analysts may read the tables of a server too, in which former versions are
   * left. The embedded engine shows its views only.
   */
  async function deleteHidden({ database = tables, table }: Pick<Rows, 'database' | 'table'>): Promise<void> {
    if (isEmbedded) return;
    const from = sql`${checkedIdentifier(database)}.${checkedIdentifier(table)}`;
    const hidden = sql`SELECT organization_id, contact_id FROM ${from} WHERE version = ${textLiteral(HIDDEN)}`;
    const { rows } = await clickhouse.query({ name, sql: sql`${hidden} LIMIT 1`, params: {} });
    if (rows.length === 0) return;
    const others = sql`is_deleted = 0 AND (organization_id, contact_id) IN (${hidden})`;
    await clickhouse.command(name, sql`DELETE FROM ${from} WHERE ${others}`, true);
  }

  const writer = (
    targetOf: (rows: Rows) => Rows,
  ): Pick<NewTables, 'insertContacts' | 'insertAudiences' | 'insertVisits'> => {
    const insert = (rows: Rows) => clickhouse.insert(name, targetOf(rows));
    return {
      async insertContacts(changes, position) {
        const rows = targetOf(contactLines(changes, position));
        await clickhouse.insert(name, rows);
        // A batch that was read before an erasure has rows of the person again.
        if (changes.length > 0) await deleteHidden(rows);
      },
      insertAudiences: (lines) => insert(audienceLines(lines)),
      async insertVisits(visits) {
        for (const part of splitByMonths(visits, partitionOfVisit, MAX_MONTHS_PER_INSERT)) {
          const rows = visitRows(part);
          if (rows.text !== '') await insert(rows);
        }
      },
    };
  };

  async function nextTables(): Promise<string[]> {
    const { rows } = await clickhouse.query<{ name: string }>({
      name,
      sql: sql`SELECT name FROM system.tables WHERE database = ${textLiteral(copies)}${isEmbedded ? sql` AND position(name, '_next') > 0` : sql``}`,
      params: {},
    });
    return rows.map((row) => row.name);
  }

  const drop = (table: string) =>
    clickhouse.command(
      name,
      sql`DROP TABLE IF EXISTS ${checkedIdentifier(copies)}.${checkedIdentifier(table)} SYNC SETTINGS max_table_size_to_drop = 0`,
      true,
    );

  const { insertContacts, insertVisits } = writer((rows) => rows);
  return {
    insertContacts,
    insertVisits,

    async readPosition() {
      const { rows } = await clickhouse.query<{ position: string }>({
        name,
        sql: sql`SELECT position FROM ${checkedIdentifier(tables)}.contacts WHERE organization_id = '' ORDER BY version DESC LIMIT 1`,
        params: {},
      });
      return rows[0] ? (JSON.parse(rows[0].position) as CopyPosition) : null;
    },

    async begin(made: readonly CopiedTable[]) {
      const suffix = isEmbedded ? '' : `_${randomBytes(6).toString('hex')}`;
      const nameOf = (table: CopiedTable) => `${nextOf(table)}${suffix}`;
      const names = made.map((table) => ({
        table: checkedIdentifier(table),
        name: nameOf(table),
        next: sql`${checkedIdentifier(copies)}.${checkedIdentifier(nameOf(table))}`,
      }));
      if (!isEmbedded) {
        await clickhouse.command(name, sql`CREATE DATABASE IF NOT EXISTS ${checkedIdentifier(copies)}`);
      }
      for (const { table, next } of names) {
        await clickhouse.command(name, sql`CREATE TABLE ${next} AS ${table}`, true);
      }
      return {
        ...writer((rows) => ({ ...rows, ...place, table: nameOf(rows.table as CopiedTable) })),
        async swap() {
          for (const { table, next } of names)
            await clickhouse.command(name, sql`EXCHANGE TABLES ${table} AND ${next}`, true);
        },
        async drop() {
          for (const each of names) await drop(each.name);
        },
      };
    },

    clearContacts: () =>
      clickhouse.command(name, sql`TRUNCATE TABLE contacts SETTINGS max_table_size_to_drop = 0`, true),

    hasOtherTables: async () => (await nextTables()).length > 0,

    async dropAbandoned() {
      for (const table of await nextTables()) await drop(table);
    },

    async hide(organizationId, contactIds) {
      if (contactIds.length === 0) return;
      const rows = hiddenLines(organizationId, contactIds);
      const made = (await nextTables()).filter((table) => table.startsWith('contacts'));
      // The tables that are being made come first: if a swap happens in between, the rows are in both tables.
      for (const table of made) {
        const target = { ...rows, ...place, table };
        // The table may be gone by now.
        await clickhouse.insert(name, target).catch(() => undefined);
        await deleteHidden(target).catch(() => undefined);
      }
      await clickhouse.insert(name, rows);
      await deleteHidden(rows);
    },
  };
}
