import { endpoints } from '../../../services/gateway/api.js';
import type { Tag } from '../../../services/http/endpoint.js';
import type { FuzzRequest } from '../../gateway/generated.js';
import type { Received } from '../../gateway/send.js';
import { wordsOf } from '../../support/words.js';

interface Count {
  sent: number;
  ok: number;
  /** Responses of status 200 that contain or removed a record. */
  found: number;
}

/**
 * Excludes SQL, because analysts query a ClickHouse server directly; keys and rejections, whose ids are random; and the feed of changes,
 * whose order and cursors are those of each store. test/contract/record-store-changes.ts judges the feed of both.
 */
export const SERVED_ALIKE = endpoints.filter(
  ({ path, tag }) =>
    !['/api/sql', '/api/rejections/list', '/api/contacts/changes'].includes(path) &&
    tag !== ('Keys and credits' satisfies Tag),
);
/** Operations whose responses depend only on the records. */
export const COMPARED = SERVED_ALIKE.filter(({ path }) => path !== '/api/status');
const OPERATIONS: readonly string[] = COMPARED.map(({ path }) => path);
const LISTS = wordsOf('contacts visits website_visits audiences items contact_ids erased erasures imports');
const RECORDS = ['contact', 'audience', 'company'];

/** Counts requests by operation and response. */
export class Coverage {
  readonly operations = new Map<string, Count>(
    OPERATIONS.map((path) => [path, { sent: 0, ok: 0, found: 0 }]),
  );
  readonly others: Count = { sent: 0, ok: 0, found: 0 };
  readonly statuses = new Map<number, number>();

  count({ path, method }: FuzzRequest, { status, headers, text }: Received): void {
    const operation = method === 'POST' ? this.operations.get(path.split('?')[0] as string) : undefined;
    const count = operation ?? this.others;
    count.sent += 1;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status !== 200) return;
    count.ok += 1;
    // Exports are not JSON.
    if (!headers['content-type']?.startsWith('application/json')) return;
    if (operation && holdsRecord(JSON.parse(text) as Record<string, unknown>)) count.found += 1;
  }

  toString(): string {
    const line = (name: string, { sent, ok, found }: Count) =>
      `${name.padEnd(40)}${String(sent).padStart(7)}${String(ok).padStart(7)}${String(found).padStart(9)}`;
    return [
      `${'operation'.padEnd(40)}   sent    200  records`,
      ...[...this.operations].map(([path, count]) => line(path, count)),
      line('ingest and others', this.others),
      [...this.statuses]
        .sort()
        .map(([status, count]) => `${count} × ${status}`)
        .join(', '),
    ].join('\n');
  }
}

function holdsRecord(body: Record<string, unknown>): boolean {
  return (
    LISTS.some((name) => Array.isArray(body[name]) && body[name].length > 0) ||
    RECORDS.some((name) => typeof body[name] === 'object' && body[name] !== null) ||
    body.removed === true ||
    body.deleted === true ||
    Number(body.changed) > 0 ||
    // Contacts that the undo of an import left or deleted.
    Number(body.left_count) + Number(body.deleted_count) > 0
  );
}
