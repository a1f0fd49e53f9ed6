import { COPIED_KINDS } from '../../common/record-copy.js';
import type { Layout } from '../client.js';

/** Each server is given its own. */
const COPIED: readonly string[] = COPIED_KINDS;
const TABLE = /^CREATE TABLE IF NOT EXISTS (?<name>\w+)/m;
const KEEPS_ROWS = /^ENGINE = (?=\w*MergeTree)/m;

/** The id of a table, which all of its replicas share. */
export type IdOfTable = (table: string) => string;

/**
 * A migration for a layout. Files are written for one server, with `{{tables}}` and `{{views}}` for the databases. (`{{on_cluster}}`
 * stands for nothing: files that were applied may not change.) With ids, tables are replicated at the server's default path, which
 * holds the id.
 */
export function render(sql: string, { tables, views }: Layout, idOf?: IdOfTable): string {
  const text = sql
    .trim()
    .replaceAll('{{views}}', views)
    .replaceAll('{{tables}}', tables)
    .replaceAll(' {{on_cluster}}', '');
  const name = TABLE.exec(text)?.groups?.name;
  if (!idOf || name === undefined || COPIED.includes(name) || !KEEPS_ROWS.test(text)) return text;
  return text
    .replace(TABLE, `$& UUID '${idOf(name)}'`)
    .replace(KEEPS_ROWS, '$&Replicated')
    .replace('fsync_after_insert = 1', '$&, min_compressed_bytes_to_fsync_after_fetch = 1');
}
