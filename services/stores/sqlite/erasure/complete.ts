/**
 * The last part of erasures. Data that the erasure steps removed remains in three places: the copy for SQL, which a follower makes again;
 * older segments of the text index; and the write-ahead log, which keeps earlier versions of pages. In the tables, SQLite overwrote the data when it was removed.
 */

import { sql } from '../../../shared/sql.js';
import { formatTimestamp } from '../../../shared/time.js';
import type { Connection } from '../connection.js';
import { hasRemovals, SegmentRewrite } from '../text/text-index.js';

/**
 * The pause after a rewrite of the index lasts this many times as long as the rewrite, so that rewrites take at most a fifth of the
 * writer's time.
 */
const PAUSE_PER_REWRITE = 4;

const INDEX = 'contact_terms';

/**
 * `more`: a step is due. `waiting`: a reader needs the log, or the pause after a rewrite is running. `nothing`: all erasures are complete.
 */
export type CompletionState = 'more' | 'waiting' | 'nothing';

/** Completes erasures whose contacts are removed, in steps of a few milliseconds. */
export class ErasureCompletion {
  readonly #connection: Connection;
  /** The running rewrite, and the erasures that began before it. */
  #rewrite: { work: SegmentRewrite; erasures: string[]; beganMs: number } | undefined;
  /** Erasures whose data may remain only in the log. */
  #inLog: string[] = [];
  #nextRewriteMs = 0;
  /** Whether ids of erased contacts, whose marks were deleted by age, may remain in the log. */
  readonly #marks: { isInLog: boolean };

  constructor(connection: Connection, marks: { isInLog: boolean } = { isInLog: false }) {
    this.#connection = connection;
    this.#marks = marks;
  }

  /** Does one step, outside a transaction. `now` is in milliseconds since the epoch; `monotonicMs` is from a clock that never jumps. */
  step(now: number, monotonicMs: number): CompletionState {
    if ((this.#inLog.length > 0 || this.#marks.isInLog) && this.#connection.truncateLog()) {
      this.#marks.isInLog = false;
      if (this.#inLog.length > 0) writeCompleted(this.#connection, this.#inLog, formatTimestamp(now));
      this.#inLog = [];
    }
    if (this.#rewrite) {
      const { work, erasures, beganMs } = this.#rewrite;
      if (work.step()) {
        this.#inLog.push(...erasures);
        this.#rewrite = undefined;
        this.#nextRewriteMs = monotonicMs + PAUSE_PER_REWRITE * (monotonicMs - beganMs);
      }
      return 'more';
    }
    const removed = this.#removed();
    if (removed.length > 0) {
      if (!hasRemovals(this.#connection, INDEX)) {
        this.#inLog.push(...removed);
        return 'more';
      }
      if (monotonicMs >= this.#nextRewriteMs) {
        const work = new SegmentRewrite(this.#connection, INDEX);
        this.#rewrite = { work, erasures: removed, beganMs: monotonicMs };
        return 'more';
      }
    }
    return removed.length + this.#inLog.length > 0 || this.#marks.isInLog ? 'waiting' : 'nothing';
  }

  /** Erasures without remaining contacts that wait neither for a new copy for SQL, nor for a rewrite, nor for the log. */
  #removed(): string[] {
    return this.#connection
      .rows<[string]>(
        sql`SELECT id FROM erasures WHERE completed_at IS NULL AND id NOT IN (SELECT id FROM jobs)
            AND NOT EXISTS (SELECT 1 FROM sql_copies WHERE start < change) AND id NOT IN (SELECT value FROM json_each(?))`,
        JSON.stringify(this.#inLog),
      )
      .map(([id]) => id);
  }
}

/**
 * Completes the erasures of a database that no one else has open. The data of erasures that wait for a new copy for SQL leaves the files
 * of the database too.
 */
export function completeErasures(connection: Connection, now: number): void {
  const completion = new ErasureCompletion(connection);
  while (completion.step(now, 0) === 'more') {}
  if (hasRemovals(connection, INDEX)) {
    const rewrite = new SegmentRewrite(connection, INDEX);
    while (!rewrite.step()) {}
  }
  connection.truncateLog();
}

function writeCompleted(connection: Connection, erasures: readonly string[], completedAt: string): void {
  connection.writeTransaction(() => {
    for (const id of erasures) {
      connection.run(
        sql`UPDATE erasures SET proof = json_set(proof, '$.completed_at', ?1), completed_at = ?1 WHERE id = ?2`,
        completedAt,
        id,
      );
    }
  });
}

/**
 * Keeps where the run of the copy began, which lets earlier erasures complete; null before the first contact is copied. Of `copies`, erasures
 * wait for no more.
 */
export function noteCopy(connection: Connection, copy: number, copies: number, start: number | null): void {
  connection.run(sql`DELETE FROM sql_copies WHERE copy >= ?`, copies);
  connection.run(
    sql`INSERT INTO sql_copies (copy, start) VALUES (?, ?) ON CONFLICT DO UPDATE SET start = excluded.start`,
    copy,
    start ?? 0,
  );
}
