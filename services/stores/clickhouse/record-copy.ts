/** The copies of contacts, audiences and visits that SQL reads on a server: mappings/clickhouse/server. */
import { setTimeout as pause } from 'node:timers/promises';
import type {
  ChangedRecords,
  CopiedKind,
  CopiedPart,
  CopiedShard,
  RecordCopy,
  RecordKey,
} from '../common/record-copy.js';
import { literal } from './bind.js';
import type { ClickHouse } from './client.js';
import { onCluster } from './migrations/render.js';
import { columnValues, parsedFields, RECORD_VIEWS, type RecordView } from './record-columns.js';

const KEYS_PER_PAGE = 10_000;
const PURGE_POLL_MS = 1000;

interface Table {
  name: string;
  view: RecordView;
  /** Columns that identify a row within its organization. */
  key: string[];
}

const tableOf = (name: string, key: string[]): Table => ({
  name,
  view: RECORD_VIEWS.find((view) => view.name === name) as RecordView,
  key,
});

const TABLES: Record<CopiedKind, Table> = {
  contacts: tableOf('contacts', ['contact_id']),
  audiences: tableOf('audiences', ['audience_id']),
  visits: tableOf('website_visits', ['created_at', 'visit_id']),
};

/** As the engine writes it. */
const dateTime = (milliseconds: number) =>
  new Date(milliseconds).toISOString().slice(0, 23).replace('T', ' ');

export class ClickHouseRecordCopy implements RecordCopy {
  readonly #clickhouse: ClickHouse;
  /** By kind, the replaced parts that the purge before this one left behind. */
  readonly #replaced = new Map<CopiedKind, ReadonlySet<string>>();

  constructor(clickhouse: ClickHouse) {
    this.#clickhouse = clickhouse;
  }

  async shards(): Promise<CopiedShard[]> {
    const { rows } = await this.#clickhouse.query<CopiedShard>({
      name: 'read_copied_shards',
      sql: `SELECT source, shard, uuid, seq_no AS seqNo, compared_seq_no AS comparedSeqNo, version
FROM copied_shards FINAL WHERE organization_id = ''`,
      params: {},
    });
    return rows;
  }

  async saveShards(shards: readonly CopiedShard[]): Promise<void> {
    if (shards.length === 0) return;
    const rows = shards.map(({ source, shard, uuid, seqNo, comparedSeqNo, version }) =>
      ['', source, shard, uuid, seqNo, comparedSeqNo, version].join('\t'),
    );
    await this.#clickhouse.insert('save_copied_shards', {
      table: 'copied_shards',
      columns: ['organization_id', 'source', 'shard', 'uuid', 'seq_no', 'compared_seq_no', 'version'],
      text: `${rows.join('\n')}\n`,
    });
  }

  async insert({ kind, month }: CopiedPart, version: number, lines: readonly string[]): Promise<void> {
    if (lines.length === 0) return;
    const { name, view } = TABLES[kind];
    const monthColumn: [string, number][] = kind === 'visits' ? [['month', month]] : [];
    const own: [string, number][] = [...monthColumn, ['version', version]];
    const columns = [...view.columns.map((column) => column.name), ...own.map(([column]) => column)];
    const values = [...columnValues(view), ...own.map(([, value]) => value)];
    await this.#clickhouse.insertLines(
      `copy_${name}`,
      `INSERT INTO ${name} (${columns.join(', ')}) SELECT ${values.join(', ')} FROM input(${literal(parsedFields(view))}) FORMAT JSONEachRow`,
      `${lines.join('\n')}\n`,
    );
  }

  async delete({ kind, month }: CopiedPart, version: number, keys: ChangedRecords['deleted']): Promise<void> {
    if (keys.length === 0) return;
    const { name, key } = TABLES[kind];
    const isVisits = kind === 'visits';
    const rows = keys.map(({ organizationId, id, createdMs = 0 }) =>
      [organizationId, ...(isVisits ? [dateTime(createdMs), id, month] : [id]), version, 1].join('\t'),
    );
    await this.#clickhouse.insert(`delete_${name}`, {
      table: name,
      columns: ['organization_id', ...key, ...(isVisits ? ['month'] : []), 'version', 'is_deleted'],
      text: `${rows.join('\n')}\n`,
    });
  }

  async counts({ kind, month }: CopiedPart): Promise<Map<string, number>> {
    const { rows } = await this.#clickhouse.query<{ organization_id: string; records: number }>({
      name: 'count_copied',
      sql: `SELECT organization_id, count() AS records FROM ${TABLES[kind].name} FINAL
${kind === 'visits' ? 'WHERE month = {month:UInt32}' : ''} GROUP BY organization_id`,
      params: kind === 'visits' ? { month } : {},
    });
    return new Map(rows.map(({ organization_id, records }) => [organization_id, Number(records)]));
  }

  async *keys({ kind, month }: CopiedPart, organizationId: string): AsyncGenerator<RecordKey[]> {
    const { name, key } = TABLES[kind];
    const isVisits = kind === 'visits';
    const columns = isVisits
      ? 'visit_id AS id, toUnixTimestamp64Milli(created_at) AS createdMs'
      : `${key[0]} AS id`;
    const params: Record<string, string | number> = { organization: organizationId };
    if (isVisits) params.month = month;
    let after = '';
    for (;;) {
      const { rows } = await this.#clickhouse.query<RecordKey>({
        name: 'copied_keys',
        sql: `SELECT ${columns} FROM ${name} FINAL
WHERE organization_id = {organization:String} ${isVisits ? 'AND month = {month:UInt32}' : ''} ${after}
ORDER BY ${key.join(', ')} LIMIT ${KEYS_PER_PAGE}`,
        params,
      });
      if (rows.length > 0) yield rows;
      if (rows.length < KEYS_PER_PAGE) return;
      const { id, createdMs } = rows.at(-1) as RecordKey;
      params.after = id;
      if (createdMs === undefined) after = `AND ${key[0]} > {after:String}`;
      else {
        params.moment = dateTime(createdMs);
        after = "AND (created_at, visit_id) > ({moment:DateTime64(3, 'UTC')}, {after:String})";
      }
    }
  }

  async dropMonth(month: number): Promise<void> {
    const everywhere = onCluster(this.#clickhouse.layout.cluster);
    await this.#clickhouse.command(
      'drop_copied_month',
      `ALTER TABLE website_visits${everywhere} DROP PARTITION ${month}`,
    );
  }

  async organizationsToPurge(kind: CopiedKind): Promise<string[]> {
    const { rows } = await this.#clickhouse.query<{ organization_id: string }>({
      name: 'organizations_to_purge',
      sql: `SELECT DISTINCT organization_id FROM ${TABLES[kind].name} WHERE is_deleted`,
      params: {},
    });
    return rows.map(({ organization_id }) => organization_id);
  }

  async purge(kind: CopiedKind, organizationIds: readonly string[], timeoutMs: number): Promise<boolean> {
    if (organizationIds.length === 0) return true;
    const everywhere = onCluster(this.#clickhouse.layout.cluster);
    const { tables } = this.#clickhouse.layout;
    const { name } = TABLES[kind];
    const organizations = organizationIds.map(literal).join(', ');
    const expiresAt = performance.now() + timeoutMs;
    for (;;) {
      if (!(await this.#mutationsDone(kind, expiresAt))) return false;
      if ((await this.#count(hiddenRows(kind, name, organizations))) === 0) break;
      this.#replaced.delete(kind);
      const hidden = hiddenRows(kind, `${tables}.${name}`, organizations);
      await this.#clickhouse.command(
        'purge_copied',
        `ALTER TABLE ${name}${everywhere} DELETE WHERE organization_id IN (${organizations}) AND (${rowKey(kind)}, version) IN (${hidden})`,
      );
    }
    return this.#replacedPartsGone(kind, expiresAt);
  }

  async #count(rows: string): Promise<number> {
    const result = await this.#clickhouse.query<{ hidden: number }>({
      name: 'count_hidden_rows',
      sql: `SELECT count() AS hidden FROM (${rows})`,
      params: {},
    });
    return Number(result.rows[0]?.hidden ?? 0);
  }

  async #mutationsDone(kind: CopiedKind, expiresAt: number): Promise<boolean> {
    for (;;) {
      const running = await this.#inSystem<{ mutation_id: string }>(
        kind,
        'mutations',
        'mutation_id',
        'NOT is_done',
      );
      if (running.length === 0) return true;
      if (performance.now() >= expiresAt) return false;
      await pause(PURGE_POLL_MS);
    }
  }

  /** Parts replaced before the end of the purge still hold the removed rows, until the server deletes their files. */
  async #replacedPartsGone(kind: CopiedKind, expiresAt: number): Promise<boolean> {
    for (;;) {
      const rows = await this.#inSystem<{ part: string }>(
        kind,
        'parts',
        'concat(hostName(), name) AS part',
        'NOT active',
      );
      const left = new Set(rows.map(({ part }) => part));
      const before = this.#replaced.get(kind) ?? left;
      if (![...before].some((part) => left.has(part))) {
        this.#replaced.delete(kind);
        return true;
      }
      this.#replaced.set(kind, before);
      await this.#deleteReplacedParts(kind);
      if (performance.now() >= expiresAt) return false;
      await pause(PURGE_POLL_MS);
    }
  }

  /** A drop, of a partition that there is not, does so at once; a replicated table only in the background. */
  async #deleteReplacedParts(kind: CopiedKind): Promise<void> {
    if (this.#clickhouse.layout.cluster !== null) return;
    await this.#clickhouse.command(
      'delete_replaced_parts',
      `ALTER TABLE ${TABLES[kind].name} DROP PARTITION ID 'none'`,
    );
  }

  async #inSystem<Row>(kind: CopiedKind, table: string, columns: string, condition: string): Promise<Row[]> {
    const { cluster, tables } = this.#clickhouse.layout;
    const from =
      cluster === null ? `system.${table}` : `clusterAllReplicas(${literal(cluster)}, system.${table})`;
    const { rows } = await this.#clickhouse.query<Row>({
      name: `copied_${table}`,
      sql: `SELECT ${columns} FROM ${from}
WHERE database = {database:String} AND table = {table:String} AND ${condition}`,
      params: { database: tables, table: TABLES[kind].name },
    });
    return rows;
  }
}

const rowKey = (kind: CopiedKind) => ['organization_id', ...TABLES[kind].key].join(', ');

/**
 * Key and version of rows that are not read: those with a newer one, and those of a deleted record once they are all that is left of it.
 * A mutation asks anew for each part, so the row that hides others must outlast them.
 */
function hiddenRows(kind: CopiedKind, table: string, organizations: string): string {
  const key = rowKey(kind);
  return `SELECT ${key}, arrayJoin(arrayFilter(v -> v < newest OR gone = 1, versions)) AS version FROM
(SELECT ${key}, groupArray(version) AS versions, max(version) AS newest, min(is_deleted) AS gone
FROM ${table} WHERE organization_id IN (${organizations}) GROUP BY ${key} HAVING count() > 1 OR gone = 1)`;
}
