import type { Layout } from '../client.js';

export const onCluster = (cluster: string | null) => (cluster === null ? '' : ` ON CLUSTER \`${cluster}\``);

const TABLE =
  /^CREATE TABLE IF NOT EXISTS (?<name>\w+)(?<columns>\s*\(.*?\n\))\s*ENGINE = (?<engine>\w*MergeTree|Null)(?:\((?<args>[^)]*)\))?(?<rest>.*)$/s;
const MATERIALIZED_VIEW =
  /^CREATE MATERIALIZED VIEW IF NOT EXISTS (?<name>\w+) TO (?<target>\w+) AS(?<select>.*)$/s;

/**
 * The statements of a migration for a layout. Files are written for one server, with `{{tables}}` and `{{views}}` for the
 * databases, and `{{on_cluster}}` in statements other than those of tables and materialized views. In a cluster
 *
 * - a table becomes `<name>_local`, replicated where it keeps rows, on every node, and `<name>`, which spreads organizations over the
 *   shards;
 * - a materialized view reads and writes the local tables, as it runs where rows arrive.
 */
export function render(sql: string, layout: Layout): string[] {
  const { cluster, tables, views } = layout;
  const everywhere = onCluster(cluster);
  const text = sql
    .trim()
    .replaceAll('{{views}}', views)
    .replaceAll('{{tables}}', tables)
    .replaceAll(' {{on_cluster}}', everywhere);
  if (cluster === null) return [text];
  const statement = text.replaceAll(/^--.*\n/gm, '');

  const table = TABLE.exec(statement)?.groups;
  if (table) {
    const { name, columns, engine, args, rest } = table;
    const place = `'/clickhouse/tables/{shard}/${tables}/${name}', '{replica}'`;
    const local = engine === 'Null' ? 'Null' : `Replicated${engine}(${place}${args ? `, ${args}` : ''})`;
    return [
      `CREATE TABLE IF NOT EXISTS ${name}_local${everywhere}${columns}\nENGINE = ${local}${rest}`,
      `CREATE TABLE IF NOT EXISTS ${name}${everywhere} AS ${name}_local\nENGINE = Distributed('${cluster}', '${tables}', '${name}_local', cityHash64(organization_id))`,
    ];
  }
  const view = MATERIALIZED_VIEW.exec(statement)?.groups as
    | Record<'name' | 'target' | 'select', string>
    | undefined;
  if (view) {
    const { name, target, select } = view;
    const local = select.replaceAll(/^( *)FROM (\w+)$/gm, '$1FROM $2_local');
    return [`CREATE MATERIALIZED VIEW IF NOT EXISTS ${name}${everywhere} TO ${target}_local AS${local}`];
  }
  if (!statement.includes(everywhere)) {
    throw new Error(`a migration has no form for clusters: ${statement.slice(0, 80)}`);
  }
  return [statement];
}
