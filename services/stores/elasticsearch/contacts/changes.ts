/** Changes stored contacts by compare-and-set. */
import { applyRecords, type SuppressionCheck } from '../apply-records.js';
import { documentId } from '../documents.js';
import type { ContactDocuments } from './documents.js';
import {
  type ContactSource,
  contactDocument,
  type IndexedContact,
  parseSource,
  type Tombstone,
} from './indexed-contact.js';

type State = IndexedContact | Tombstone;

/** Applies changes to contacts like `applyRecords`. `organizationOf` and `idOf` identify the contact of a change. */
export const changeContacts = <Change>(
  contacts: ContactDocuments,
  changes: readonly Change[],
  organizationOf: (change: Change) => string,
  idOf: (change: Change) => string,
  apply: (before: State | undefined, change: Change) => State | null,
  suppression?: SuppressionCheck<State, Change>,
): Promise<void> =>
  applyRecords<ContactSource | Tombstone, State, Change>(contacts, changes, {
    idOf: (change) => documentId(organizationOf(change), idOf(change)),
    routingOf: organizationOf,
    fromSource: parseSource,
    apply,
    toDocument: contactDocument,
    suppression,
  });
