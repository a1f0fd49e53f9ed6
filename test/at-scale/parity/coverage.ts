import { endpoints } from '../../../services/gateway/api.js';
import type { FuzzRequest } from '../../gateway/fuzz-requests.js';
import type { Received } from '../../gateway/send.js';

interface Count {
  asked: number;
  ok: number;
  /** Answers of status 200 that hold a record, or tell of one that was removed. */
  found: number;
}

const OPERATIONS: readonly string[] = endpoints.map(({ path }) => path);
const LISTS = ['contacts', 'visits', 'website_visits', 'audiences', 'items'];
const RECORDS = ['contact', 'audience', 'company'];

/** How many requests of which operation were asked, and what came of them. */
export class Tally {
  readonly operations = new Map<string, Count>(
    OPERATIONS.map((path) => [path, { asked: 0, ok: 0, found: 0 }]),
  );
  readonly elsewhere: Count = { asked: 0, ok: 0, found: 0 };
  readonly statuses = new Map<number, number>();

  count({ path, method }: FuzzRequest, { status, text }: Received): void {
    const operation = method === 'POST' ? this.operations.get(path.split('?')[0] as string) : undefined;
    const count = operation ?? this.elsewhere;
    count.asked += 1;
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    if (status !== 200) return;
    count.ok += 1;
    if (operation && holdsRecord(JSON.parse(text) as Record<string, unknown>)) count.found += 1;
  }

  toString(): string {
    const line = (name: string, { asked, ok, found }: Count) =>
      `${name.padEnd(40)}${String(asked).padStart(7)}${String(ok).padStart(7)}${String(found).padStart(9)}`;
    return [
      `${'operation'.padEnd(40)}  asked    200  records`,
      ...[...this.operations].map(([path, count]) => line(path, count)),
      line('intake and others', this.elsewhere),
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
    body.removed === true
  );
}
