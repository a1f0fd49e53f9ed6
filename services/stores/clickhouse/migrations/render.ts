import {
  checkedIdentifier,
  EMPTY_SQL,
  fillPlaceholders,
  insertBehind,
  type Sql,
  sql,
  textLiteral,
} from '../../../shared/sql.js';
import { COPIED_KINDS } from '../../common/record-copy.js';
import type { Layout } from '../client.js';

/** Each server is given its own. */
const COPIED: readonly string[] = COPIED_KINDS;
const TABLE = /^CREATE TABLE IF NOT EXISTS (?<name>\w+)/m;
const SYNCED = /fsync_after_insert = 1/;
const KEEPS_ROWS = /^ENGINE = (?=\w*MergeTree)/m;

/** The id of a table, which all of its replicas share. */
export type IdOfTable = (table: string) => string;

/**
 * A migration for a layout. Files are written for one server, with `{{tables}}` and `{{views}}` for the databases. (`{{on_cluster}}`
 * stands for nothing: files that were applied may not change.) With ids, tables are replicated at the server's default path, which
 * holds the id.
 */
export function render(file: Sql, { tables, views }: Layout, idOf?: IdOfTable): Sql {
  const statement = fillPlaceholders(file, {
    views: checkedIdentifier(views),
    tables: checkedIdentifier(tables),
    on_cluster: EMPTY_SQL,
  });
  const name = TABLE.exec(statement.text)?.groups?.name;
  if (!idOf || name === undefined || COPIED.includes(name) || !KEEPS_ROWS.test(statement.text))
    return statement;
  const withId = insertBehind(statement, TABLE, sql` UUID ${textLiteral(idOf(name))}`);
  const replicated = insertBehind(withId, KEEPS_ROWS, sql`Replicated`);
  return insertBehind(replicated, SYNCED, sql`, min_compressed_bytes_to_fsync_after_fetch = 1`);
}
