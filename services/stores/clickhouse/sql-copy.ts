/** The tables of contacts, audiences and visits that SQL reads. */
import { randomBytes } from 'node:crypto';
import { checkedIdentifier, sql, textLiteral } from '../../shared/sql.js';
import type { CopiedTable, CopyPosition, NewTables, SqlCopy } from '../common/sql-copy.js';
import type { ClickHouse } from './client.js';
import {
  audienceLines,
  contactLines,
  hiddenLines,
  partitionOfVisit,
  type Rows,
  splitByMonths,
  visitRows,
} from './rows.js';
import { MAX_MONTHS_PER_INSERT } from './settings.js';

/** Part of the names of tables that SQL does not read: those that are being made, and former ones until they are dropped. */
const NEXT = '_next_';

export function sqlCopy(clickhouse: ClickHouse): SqlCopy {
  const name = 'copy_records';
  const { tables, copies } = clickhouse.layout;
  const place = copies === tables ? {} : { database: copies };

  const writer = (suffix: string): Pick<NewTables, 'insertContacts' | 'insertAudiences' | 'insertVisits'> => {
    const insert = (rows: Rows) =>
      clickhouse.insert(name, suffix === '' ? rows : { ...rows, ...place, table: `${rows.table}${suffix}` });
    return {
      insertContacts: (changes, position) => insert(contactLines(changes, position)),
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
      sql: sql`SELECT name FROM system.tables WHERE database = ${textLiteral(copies)} AND position(name, ${textLiteral(NEXT)}) > 0`,
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

  const { insertContacts, insertVisits } = writer('');
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
      const suffix = `${NEXT}${randomBytes(6).toString('hex')}`;
      const names = made.map((table) => ({
        table: checkedIdentifier(table),
        name: `${table}${suffix}`,
        next: sql`${checkedIdentifier(copies)}.${checkedIdentifier(`${table}${suffix}`)}`,
      }));
      if (place.database !== undefined) {
        await clickhouse.command(name, sql`CREATE DATABASE IF NOT EXISTS ${checkedIdentifier(copies)}`);
      }
      for (const { table, next } of names) {
        await clickhouse.command(name, sql`CREATE TABLE ${next} AS ${table}`, true);
      }
      return {
        ...writer(suffix),
        async swap() {
          for (const { table, next } of names)
            await clickhouse.command(name, sql`EXCHANGE TABLES ${table} AND ${next}`, true);
        },
        async drop() {
          for (const each of names) await drop(each.name);
        },
      };
    },

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
        // The table may be gone by now.
        await clickhouse.insert(name, { ...rows, ...place, table }).catch(() => undefined);
      }
      await clickhouse.insert(name, rows);
    },
  };
}
