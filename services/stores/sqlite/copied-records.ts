/** What the follower of the SQL copy reads (decision 0022), except the feed of changes. */
import type { ChangePosition } from '../../contacts/change-feed.js';
import { fromJson, type Json } from '../../shared/json.js';
import { sql } from '../../shared/sql.js';
import type { Visit } from '../../visits/schema.js';
import { parseVisitOrder } from '../../visits/stored-visit.js';
import type { CopiedRecords, VisitPage } from '../common/sql-copy.js';
import { audienceJson } from './audiences.js';
import type { Connection } from './connection.js';
import type { Reader } from './reader.js';
import type { Writer } from './writes/record-messages.js';

const AUDIENCES_PER_PAGE = 1000;

export const copiedRecords = (reader: Reader, writer: Writer, keepsMarks: boolean): CopiedRecords => ({
  keepsMarks,
  hasRecords: async () =>
    reader.read((connection) => connection.row(sql`SELECT 1 FROM organizations LIMIT 1`)) !== undefined,
  readAudienceVersion: async () =>
    String(
      reader.read((connection) =>
        connection.number(sql`SELECT value FROM counters WHERE name = 'audience_change'`),
      ),
    ),
  async *readAudiences() {
    for (let after = 0n; ; ) {
      const rows = reader.read((connection) => audiencesAfter(connection, after));
      const last = rows.at(-1);
      if (!last) return;
      yield rows.map(([, ...columns]) => audienceJson(columns));
      [after] = last;
    }
  },
  readVisits: async (after, limit) => reader.read((connection) => visitsAfter(connection, after, limit)),
  hasErasedSince: async (position) =>
    reader.read(
      (connection) =>
        connection.row(
          sql`SELECT 1 FROM erasures WHERE completed_at IS NULL AND change > ? LIMIT 1`,
          startOf(position),
        ) !== undefined,
    ),
  async noteCopy(copy, copies, position) {
    await writer.call('noteCopy', copy, copies, position && startOf(position));
  },
});

const startOf = ({ start }: ChangePosition): number => start[0] ?? 0;

type AudienceRow = [key: bigint, body: string, createdMs: bigint, updatedMs: bigint];

const audiencesAfter = (connection: Connection, after: bigint) =>
  connection.rows<AudienceRow>(
    sql`SELECT key, body, created_ms, updated_ms FROM audiences WHERE key > ? AND body IS NOT NULL ORDER BY key LIMIT ?`,
    after,
    AUDIENCES_PER_PAGE,
  );

function visitsAfter(connection: Connection, after: number, limit: number): VisitPage {
  const rows = connection.rows<[bigint, Json<Visit>, string]>(
    sql`SELECT key, body, record_order FROM visits WHERE key > ? ORDER BY key LIMIT ?`,
    after,
    limit,
  );
  return {
    visits: rows.map(([, body, order]) => ({ record: fromJson(body), ...parseVisitOrder(order) })),
    last: Number(rows.at(-1)?.[0] ?? after),
  };
}
