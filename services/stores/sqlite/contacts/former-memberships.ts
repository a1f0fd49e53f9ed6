/** Removes memberships under the retired key of a deleted audience, step by step. */
import { sql } from '../../../shared/sql.js';
import type { Job, JobStepResult } from '../jobs/job-table.js';
import type { RowId } from '../row-ids.js';
import type { IsTimeUp } from '../writes/write-batch.js';
import type { WriteSession } from '../writes/write-session.js';
import { readContactRow } from './rows.js';
import { writeContactBody } from './writes.js';

const MEMBERSHIPS_PER_STEP = 250;

/** Contacts that named the audience count as changed at `now`, in milliseconds since the epoch. */
export function removeFormerMemberships(
  session: WriteSession,
  { organization, state }: Job<'remove-memberships'>,
  now: number,
  isTimeUp: IsTimeUp,
): JobStepResult<'remove-memberships'> {
  const { connection } = session;
  const members = connection.rows<[RowId, string | null]>(
    sql`SELECT m.position, c.id FROM memberships m
       LEFT JOIN contacts c ON c.organization = ? AND c.position = m.position
      WHERE m.audience = ? LIMIT ?`,
    organization,
    state.key,
    MEMBERSHIPS_PER_STEP,
  );
  let removed = 0;
  for (const [position, contactId] of members) {
    if (removed > 0 && isTimeUp()) return { left: state, progress: null };
    if (contactId !== null) rewrite(session, organization, contactId, now);
    connection.run(sql`DELETE FROM memberships WHERE audience = ? AND position = ?`, state.key, position);
    removed++;
  }
  return { left: members.length < MEMBERSHIPS_PER_STEP ? null : state, progress: null };
}

/** Writes a contact without the audiences of which it is not a member. */
function rewrite(session: WriteSession, organization: number, contactId: string, now: number): void {
  const row = readContactRow(session.connection, organization, contactId);
  if (!row?.namesFormerAudience) return;
  writeContactBody(session, organization, { ...row, updatedMs: Math.max(row.updatedMs, now) });
}
