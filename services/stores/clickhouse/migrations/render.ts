import {
  checkedIdentifier,
  fillPlaceholders,
  insertBehind,
  type Sql,
  sql,
  statementsOf,
  textLiteral,
} from '../../../shared/sql.js';
import type { Layout } from '../client.js';

/** Tables that are not replicated: each server fills its own copy. */
const COPIED: readonly string[] = ['contacts', 'audiences'];
const TABLE = /^CREATE TABLE IF NOT EXISTS (?<name>\w+)/m;
const SYNCED = /fsync_after_insert = 1/;
const KEEPS_ROWS = /^ENGINE = (?=\w*MergeTree)/m;

/** The id of a table, which all of its replicas share. */
export type IdOfTable = (table: string) => string;

/**
 * Returns the statements of a file for a layout. Files are written for one server, with `{{tables}}`, `{{views}}` and `{{copies}}` in place
 * of the databases. If ids are given, tables are replicated at the server's default path, which contains the id of the table.
 */
export function render(file: Sql, { tables, views, copies }: Layout, idOf?: IdOfTable): Sql[] {
  const databases = {
    views: checkedIdentifier(views),
    tables: checkedIdentifier(tables),
    copies: checkedIdentifier(copies),
  };
  return statementsOf(fillPlaceholders(file, databases)).map((statement) =>
    idOf ? replicated(statement, idOf) : statement,
  );
}

function replicated(statement: Sql, idOf: IdOfTable): Sql {
  const name = TABLE.exec(statement.text)?.groups?.name;
  if (name === undefined || COPIED.includes(name) || !KEEPS_ROWS.test(statement.text)) return statement;
  const withId = insertBehind(statement, TABLE, sql` UUID ${textLiteral(idOf(name))}`);
  const withEngine = insertBehind(withId, KEEPS_ROWS, sql`Replicated`);
  return insertBehind(withEngine, SYNCED, sql`, min_compressed_bytes_to_fsync_after_fetch = 1`);
}
