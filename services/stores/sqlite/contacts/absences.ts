/** Marks of deleted and erased contacts, which the feed of changes needs. */
import { sql } from '../../../shared/sql.js';
import { DAY_MS } from '../../../shared/time.js';
import { lastChange } from '../change-counter.js';
import type { Connection } from '../connection.js';
import { type SteppedWork, steppedFrom } from '../writes/stepped-work.js';
import type { WriteSession } from '../writes/write-session.js';

const MARKS_PER_STATEMENT = 1000;

/** Without marks, notes the number of the change: positions before it expire once a server keeps marks. */
export function noteAbsence(session: WriteSession, organization: number, id: string): void {
  const { connection, keepsMarks } = session;
  if (!keepsMarks) {
    connection.run(
      sql`INSERT OR REPLACE INTO counters (name, value) VALUES ('unmarked_change', ?)`,
      session.nextChange(),
    );
    return;
  }
  connection.run(
    sql`INSERT OR REPLACE INTO absent_contacts (organization, id, change) VALUES (?, ?, ?)`,
    organization,
    id,
    session.nextChange(),
  );
}

/** Called when a server begins to keep marks: positions before the last change without a mark expire. */
export function expireUnmarked(connection: Connection): void {
  const isExpired = sql`marks_from < (SELECT value FROM counters WHERE name = 'unmarked_change')`;
  // Without this check, each start of a process would wait for the writes of the others.
  if (!connection.row(sql`SELECT 1 FROM change_feed WHERE ${isExpired}`)) return;
  connection.run(
    sql`UPDATE change_feed SET marks_from = (SELECT value FROM counters WHERE name = 'unmarked_change')
      WHERE ${isExpired}`,
  );
}

export function forgetAbsence(connection: Connection, organization: number, id: string): void {
  connection.run(sql`DELETE FROM absent_contacts WHERE organization = ? AND id = ?`, organization, id);
}

/**
 * Deletes marks that are older than `days`, or every mark with 0. A mark is older than a noted time if its number is not after the number
 * that was noted then. `now` is in milliseconds since the epoch.
 */
export function deleteOldMarks(session: WriteSession, now: number, days: number): SteppedWork<void> {
  const { connection } = session;
  const begin = (): number => {
    const last = lastChange(connection);
    connection.run(sql`INSERT OR REPLACE INTO change_times (noted_ms, change) VALUES (?, ?)`, now, last);
    const [noted, change] = connection.row<[bigint, bigint]>(
      sql`SELECT noted_ms, change FROM change_times WHERE noted_ms <= ? ORDER BY noted_ms DESC LIMIT 1`,
      now - days * DAY_MS,
    ) ?? [0n, 0n];
    connection.run(sql`DELETE FROM change_times WHERE noted_ms < ?`, noted);
    connection.run(sql`UPDATE change_feed SET marks_from = max(marks_from, ?)`, change);
    return Number(change);
  };
  const deleteSome = (upTo: number): number =>
    connection.run(
      sql`DELETE FROM absent_contacts WHERE (organization, id) IN
         (SELECT organization, id FROM absent_contacts WHERE change <= ? LIMIT ?)`,
      upTo,
      MARKS_PER_STATEMENT,
    );
  return steppedFrom<{ upTo?: number; isDone: boolean }, void>(
    { isDone: false },
    ({ upTo = begin() }) => {
      const deleted = deleteSome(upTo);
      if (deleted > 0) session.deletedMarks.isInLog = true;
      return { upTo, isDone: deleted < MARKS_PER_STATEMENT };
    },
    ({ isDone }) => (isDone ? null : undefined) as undefined,
  );
}
