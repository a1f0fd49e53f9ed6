import type { InsertRules, StoredKey } from '../../../accounts/key-store.js';
import {
  type CreateAudience,
  type DeleteAudience,
  isAudienceWritten,
  type UpdateAudience,
} from '../../../audiences/audience-store.js';
import type { AudienceRecord } from '../../../audiences/schema.js';
import {
  type CreateContact,
  type DeleteContacts,
  isReplayable,
  type Membership,
  type MembershipChange,
  type UpdateContact,
} from '../../../contacts/contact-store.js';
import type { EraseCommand } from '../../../contacts/erasure-store.js';
import type { ContactRecord } from '../../../contacts/schema.js';
import type { Rejection } from '../../../rejections/rejection-store.js';
import type { View } from '../../../saved-filters/schema.js';
import { type Json, toJson } from '../../../shared/json.js';
import type { OrderedRecord } from '../../../shared/record-order.js';
import type { VisitRecord } from '../../../visits/schema.js';
import { createAudience, deleteAudience, updateAudience, upsertAudiences } from '../audiences.js';
import { deleteOldMarks } from '../contacts/absences.js';
import {
  addMembership,
  changeMemberships,
  createContact,
  deleteContacts,
  removeMembership,
  updateContact,
  upsertContacts,
} from '../contacts/writes.js';
import { addCredits, setCredits } from '../credits.js';
import { noteCopy } from '../erasure/complete.js';
import { beginErasure } from '../erasure/erase.js';
import { runIdempotent } from '../idempotency.js';
import { stepJob } from '../jobs/job-steps.js';
import { insertKey, recordKeyUse, revokeKey } from '../keys.js';
import { deleteRejections, keepRejections } from '../rejections.js';
import { deleteFilter, saveFilter } from '../saved-filters.js';
import { deleteVisitsBefore, insertVisits } from '../visits.js';
import { done } from '../workers/rpc.js';
import { type AnswerKey, claimAnswer, keepAnswer, releaseAnswer } from './kept-answers.js';
import { oneStep, type SteppedWork } from './stepped-work.js';
import type { BatchResult, IsTimeUp } from './write-batch.js';
import type { WriteSession } from './write-session.js';

/**
 * Operations of the writer that share a transaction of the session. `now` and `keptMs` are in milliseconds since 1970. Stored
 * responses expire by `keptMs`.
 */
export function writeOperations(session: WriteSession) {
  const { connection } = session;
  return {
    createContact: (command: CreateContact, now: number, keptMs: number) =>
      toJson(
        runIdempotent(
          connection,
          { organizationId: command.contact.organization_id, idempotency: command.idempotency, now: keptMs },
          () => createContact(session, command, now),
          (outcome) => isReplayable(outcome, command.dryRun),
        ),
      ),
    updateContact: (command: UpdateContact, now: number, keptMs: number) =>
      toJson(
        runIdempotent(
          connection,
          { ...command, now: keptMs },
          () => updateContact(session, command, now),
          isReplayable,
        ),
      ),
    addMembership: (membership: Membership, now: number, keptMs: number) =>
      toJson(
        runIdempotent(
          connection,
          { ...membership, now: keptMs },
          () => addMembership(session, membership, now),
          isReplayable,
        ),
      ),
    removeMembership: (membership: Membership, now: number, keptMs: number) =>
      toJson(
        runIdempotent(
          connection,
          { ...membership, now: keptMs },
          () => removeMembership(session, membership, now),
          isReplayable,
        ),
      ),
    createAudience: (command: CreateAudience, now: number, keptMs: number) =>
      toJson(
        runIdempotent(
          connection,
          { organizationId: command.audience.organization_id, idempotency: command.idempotency, now: keptMs },
          () => createAudience(session, command, now),
          isAudienceWritten,
        ),
      ),
    updateAudience: (command: UpdateAudience, now: number, keptMs: number) =>
      toJson(
        runIdempotent(
          connection,
          { ...command, now: keptMs },
          () => updateAudience(session, command, now),
          isAudienceWritten,
        ),
      ),
    deleteAudience: (command: DeleteAudience, now: number, keptMs: number) =>
      toJson(
        runIdempotent(
          connection,
          { ...command, now: keptMs },
          () => deleteAudience(session, command, now),
          isAudienceWritten,
        ),
      ),
    claimAnswer: (request: AnswerKey, keptMs: number) => toJson(claimAnswer(connection, request, keptMs)),
    keepAnswer: (answer: Parameters<typeof keepAnswer>[1]) => done(keepAnswer(connection, answer)),
    releaseAnswer: (request: AnswerKey) => done(releaseAnswer(connection, request)),
    noteCopy: (copy: number, copies: number, start: number | null) =>
      done(noteCopy(connection, copy, copies, start)),
    beginErasure: (command: EraseCommand, now: number) => done(beginErasure(session, command, now)),
    /** Does nothing but start the thread, which completes erasures while it is idle. */
    wake: () => done(undefined),
    insertKey: (key: StoredKey, rules?: InsertRules) => toJson(insertKey(connection, key, rules)),
    revokeKey: (keyId: string, revokedAt: string, keepDescendants?: boolean) =>
      toJson(revokeKey(connection, keyId, revokedAt, keepDescendants)),
    recordKeyUse: (keyId: string, usedAt: string) => done(recordKeyUse(connection, keyId, usedAt)),
    setCredits: (organizationId: string, balance: number) =>
      done(setCredits(connection, organizationId, balance)),
    grantCredits: (organizationId: string, amount: number) =>
      toJson(addCredits(connection, organizationId, amount)),
    saveFilter: (organizationId: string, filter: Parameters<typeof saveFilter>[2], now: number) =>
      toJson(saveFilter(connection, organizationId, filter, now)),
    deleteFilter: (organizationId: string, view: View, name: string) =>
      toJson(deleteFilter(connection, organizationId, view, name)),
    deleteRejections: (ids: readonly string[]) => done(deleteRejections(connection, ids)),
  };
}

/** Operations that may write many rows: the writer ends a transaction between their steps. */
export function steppedOperations(session: WriteSession) {
  const { connection } = session;
  return {
    changeMemberships: (change: MembershipChange, now: number) => changeMemberships(session, change, now),
    deleteContacts: (command: DeleteContacts, now: number) => deleteContacts(session, command, now),
    stepJob: (id: string, now: number) => oneStep((isTimeUp) => stepJob(session, id, now, isTimeUp)),
    deleteOldMarks: (now: number, days: number) => deleteOldMarks(session, now, days),
    deleteVisitsBefore: (createdMs: number, limit: number) => deleteVisitsBefore(session, createdMs, limit),
    keepRejections: (organizationId: string, rejections: readonly Rejection[], now: number) =>
      keepRejections(connection, organizationId, rejections, now),
  };
}

type Stepped = ReturnType<typeof steppedOperations>;
type SteppedOperations = {
  [Name in keyof Stepped]: (
    ...args: Parameters<Stepped[Name]>
  ) => ReturnType<Stepped[Name]> extends SteppedWork<infer Result> ? Json<Result> : never;
};

export type WriteOperations = ReturnType<typeof writeOperations> & SteppedOperations;

type WriteRecords = (session: WriteSession, records: unknown[], isTimeUp: IsTimeUp) => BatchResult;

/** Operations that write records, one batch per transaction. */
export const recordWriters = {
  upsertContacts: (session, records, isTimeUp) =>
    upsertContacts(session, records as OrderedRecord<ContactRecord>[], isTimeUp),
  upsertAudiences: (session, records, isTimeUp) =>
    upsertAudiences(session, records as OrderedRecord<AudienceRecord>[], isTimeUp),
  insertVisits: (session, records, isTimeUp) =>
    insertVisits(session, records as OrderedRecord<VisitRecord>[], isTimeUp),
} satisfies Record<string, WriteRecords>;
export type RecordWriter = keyof typeof recordWriters;

/** Records are sent as JSON, which is cheaper than a structured clone on both sides. */
export type RecordOperations = Record<RecordWriter, (records: string) => Json<BatchResult['rejected']>>;
