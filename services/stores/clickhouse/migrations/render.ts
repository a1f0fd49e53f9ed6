import type { Layout } from '../client.js';

export const onCluster = (cluster: string | null) => (cluster === null ? '' : ` ON CLUSTER \`${cluster}\``);

/**
 * A migration for a layout. Files are written for one server, with `{{tables}}` and `{{views}}` for the databases, and
 * `{{on_cluster}}` in statements other than those of tables and materialized views. In a cluster every table is replicated at the
 * server's default path, so that every replica holds everything.
 */
export function render(sql: string, { cluster, tables, views }: Layout): string {
  const everywhere = onCluster(cluster);
  const text = sql
    .trim()
    .replaceAll('{{views}}', views)
    .replaceAll('{{tables}}', tables)
    .replaceAll(' {{on_cluster}}', everywhere);
  if (cluster === null) return text;
  const statement = text
    .replaceAll(/^--.*\n/gm, '')
    .replace(/^CREATE (?:TABLE|MATERIALIZED VIEW) IF NOT EXISTS \w+/, `$&${everywhere}`)
    .replace(/^ENGINE = (?=\w*MergeTree)/m, '$&Replicated');
  if (!statement.includes(everywhere)) {
    throw new Error(`a migration has no form for clusters: ${statement.slice(0, 80)}`);
  }
  return statement;
}
