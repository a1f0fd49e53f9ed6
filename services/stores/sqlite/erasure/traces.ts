/** Removes data about persons that is stored outside contacts (services/contacts/personal-data.ts). */
import type { TracePlace } from '../../../contacts/personal-data.js';
import type { ContactBody } from '../../../contacts/stored-contact.js';
import { type Identifier, identifiersOf, showsContact } from '../../../contacts/suppression.js';
import { sql } from '../../../shared/sql.js';
import type { Connection } from '../connection.js';
import { forgetDeletion } from '../contacts/writes.js';
import { deleteAnswers, deleteAnswersOf } from '../idempotency.js';
import { eraseRejections } from '../rejections.js';

/** Id and key of an organization. */
export interface Organization {
  id: string;
  key: number;
}

interface Traces {
  /** Removes data stored under the identifiers. Returns the number of rows. */
  remove(connection: Connection, organization: Organization, identifiers: readonly Identifier[]): number;
  /** Removes data about suppressed persons. Reads all data of the organization. */
  removeSuppressed(
    connection: Connection,
    organization: Organization,
    isSuppressed: (identifiers: readonly Identifier[]) => boolean,
  ): void;
}

const isSuppressedId = (isSuppressed: (identifiers: readonly Identifier[]) => boolean) => (value: string) =>
  isSuppressed([{ kind: 'id', value }]);

const idsOf = (identifiers: readonly Identifier[]): string[] =>
  identifiers.flatMap(({ kind, value }) => (kind === 'id' ? [value] : []));

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

export const TRACES: Readonly<Record<TracePlace, Traces>> = {
  deletions: {
    remove: (connection, { key }, identifiers) =>
      sum(idsOf(identifiers).map((id) => forgetDeletion(connection, key, id))),
    removeSuppressed(connection, { key }, isSuppressed) {
      const statement = sql`SELECT id FROM deleted_contacts WHERE organization = ?`;
      const ids = connection.rows<[string]>(statement, key).flat();
      for (const id of ids.filter(isSuppressedId(isSuppressed))) forgetDeletion(connection, key, id);
    },
  },
  idempotency_answers: {
    remove: (connection, { id }, identifiers) => deleteAnswersOf(connection, id, identifiers),
    removeSuppressed(connection, { id }, isSuppressed) {
      const isShown = showsContact((body: ContactBody) => isSuppressed(identifiersOf(body)));
      deleteAnswers(connection, id, isShown);
    },
  },
  rejections: {
    remove: (connection, organization, identifiers) =>
      sum(idsOf(identifiers).map((id) => eraseRejections(connection, organization.id, id))),
    removeSuppressed(connection, organization, isSuppressed) {
      const statement = sql`SELECT DISTINCT record ->> '$.record_id' FROM rejections
         WHERE organization_id = ? AND record ->> '$.record_id' IS NOT NULL`;
      const ids = connection.rows<[string]>(statement, organization.id).flat();
      for (const id of ids.filter(isSuppressedId(isSuppressed)))
        eraseRejections(connection, organization.id, id);
    },
  },
};
