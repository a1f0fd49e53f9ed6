/** A contact in the form that every store keeps, and how records and requests change the contact (contract 3.1 to 3.3, 6.2). */

import { isDeepStrictEqual } from 'node:util';
import { domainOf, normalizeDomain, normalizeEmail } from '../search/normalize.js';
import { titleClasses } from '../search/titles.js';
import { memoize } from '../shared/cache.js';
import { companyId, newId } from '../shared/ids.js';
import {
  type Deletion,
  isDeletion,
  isStale,
  nextVersion,
  type OrderedRecord,
  orderOfRequest,
  type RecordVersion,
} from '../shared/record-order.js';
import { RecordRejectedError } from '../shared/store-errors.js';
import { formatTimestamp, parseTimestamp } from '../shared/time.js';
import {
  CONTACT_FIELD_NAMES,
  type ContactField,
  FIELD_TYPES,
  isArrayField,
  MAX_AUDIENCES_PER_CONTACT,
} from './field-types.js';
import type { DerivedField } from './fields.js';
import type { Contact, ContactRecord, CreateContactRequest } from './schema.js';

/** All fields of a contact except derived fields, and except its audiences and times, which change separately. */
export type ContactBody = Omit<Contact, DerivedField | 'audience_ids' | 'created_at' | 'updated_at'>;

export interface StoredContact extends RecordVersion {
  /** Milliseconds since the epoch. */
  updatedMs: number;
  /** Ids of the contact's audiences, ascending. */
  audienceIds: string[];
  body: ContactBody;
  /** Present if a record with an `import_id` created the contact. */
  imported?: ImportMark | undefined;
}

interface ImportMark {
  /** When the creating record was accepted, in milliseconds since the epoch. */
  acceptedMs: number;
  /** Whether anything but records of the same import changed the contact afterwards. */
  isChanged: boolean;
}

/**
 * The import that a contact names, as stores index it; null if the contact names none. A contact without a mark may come from a record that
 * copied `data_import_id`, so it counts as changed.
 */
export function importOf({ body, createdMs, imported }: StoredContact): (ImportMark & { id: string }) | null {
  if (body.data_import_id === null) return null;
  return { id: body.data_import_id, acceptedMs: createdMs, isChanged: true, ...imported };
}

/** Whether an import created the contact, and nothing else has changed the contact since. */
export function isAsImported(contact: StoredContact, importId: string): boolean {
  const found = importOf(contact);
  return found !== null && found.id === importId && !found.isChanged;
}

const changedByOthers = ({ imported }: StoredContact): ImportMark | undefined =>
  imported && { ...imported, isChanged: true };

export const TOO_MANY_AUDIENCES = `A contact may be in at most ${MAX_AUDIENCES_PER_CONTACT} audiences; this contact would be in more.`;

export function toContact(stored: StoredContact): Contact {
  return {
    ...stored.body,
    ...titleClasses(stored.body.job_title),
    audience_ids: stored.audienceIds,
    created_at: formatTimestamp(stored.createdMs),
    updated_at: formatTimestamp(stored.updatedMs),
  };
}

/**
 * The contact after a stream record. Compares orders like `nextVersion`. Throws `RecordRejectedError`; also throws it if the contact would
 * be in too many audiences.
 */
export function applyRecord(
  stored: StoredContact | Deletion | undefined,
  ordered: OrderedRecord<ContactRecord>,
): StoredContact | Deletion | null {
  const before = stored && !isDeletion(stored) ? stored : undefined;
  const { record, acceptedAt } = ordered;
  const { import_id: importId } = record;
  const isOfImport = before !== undefined && isAsImported(before, importId ?? '');
  let version: ReturnType<typeof nextVersion>;
  try {
    version = nextVersion(stored, ordered);
  } catch (error) {
    // The record is older than the contact, but its sender relies on the contact, so the import may no longer delete the contact.
    if (isStale(error) && before?.imported?.isChanged === false && !isOfImport)
      return { ...before, imported: changedByOthers(before) };
    throw error;
  }
  if (version === null || isDeletion(version)) return version;
  const after = {
    ...version,
    updatedMs: record.updated_at ? parseTimestamp(record.updated_at) : acceptedAt,
    audienceIds: joinAudiences(before?.audienceIds ?? [], record.audience_ids ?? []),
    body: mergeBody(before?.body ?? emptyBody(record.organization_id, record.contact_id), record),
    imported: isOfImport ? before.imported : before && changedByOthers(before),
  };
  if (importId) {
    after.body.data_import_id = before ? before.body.data_import_id : importId;
    if (!before) after.imported = { acceptedMs: acceptedAt, isChanged: false };
  }
  return before && after.updatedMs < before.updatedMs
    ? { ...after, updatedMs: laterThan(before, after) }
    : after;
}

/**
 * Time of a change by a record that is older than an earlier request: the time is later than the time before, because each state has its
 * own time.
 */
const laterThan = (before: StoredContact, { body, audienceIds }: StoredContact): number =>
  before.updatedMs + (isDeepStrictEqual([body, audienceIds], [before.body, before.audienceIds]) ? 0 : 1);

/** The contact that a create request describes. `now` is in milliseconds. */
export function newContact(
  organizationId: string,
  { organization_id: _, audience_id, ...fields }: CreateContactRequest,
  now: number,
): Contact {
  const empty = emptyBody(organizationId, newId('con', now));
  return toContact({
    createdMs: now,
    updatedMs: now,
    recordOrder: null,
    audienceIds: [audience_id],
    body: mergeBody(empty, fields),
  });
}

/** A contact created through the API, as member of one audience. */
export function createdContact(contact: Contact, audienceId: string): StoredContact {
  const { audience_ids: _, created_at, updated_at, ...given } = contact;
  const createdMs = parseTimestamp(created_at);
  return {
    createdMs,
    updatedMs: Math.max(createdMs, parseTimestamp(updated_at)),
    recordOrder: null,
    audienceIds: [audienceId],
    body: mergeBody(emptyBody(contact.organization_id, contact.contact_id), given),
  };
}

/**
 * The contact after a request has changed its fields. The time of change is always later than the time before, so that it identifies each
 * state. `now` is in milliseconds since the epoch.
 */
export const updatedContact = <T extends StoredContact>(
  stored: T,
  changes: ContactChanges,
  now: number,
): T => ({
  ...stored,
  recordOrder: orderOfRequest(now, stored),
  updatedMs: Math.max(now, stored.updatedMs + 1),
  body: mergeBody(stored.body, changes),
  imported: changedByOthers(stored),
});

/** The contact after joining an audience: the same object if it is a member already, null if it is in too many audiences. */
export function joinedAudience<T extends StoredContact>(
  stored: T,
  audienceId: string,
  now: number,
): T | null {
  if (stored.audienceIds.includes(audienceId)) return stored;
  if (stored.audienceIds.length >= MAX_AUDIENCES_PER_CONTACT) return null;
  const audienceIds = joinAudiences(stored.audienceIds, [audienceId]);
  return {
    ...stored,
    audienceIds,
    updatedMs: Math.max(stored.updatedMs, now),
    imported: changedByOthers(stored),
  };
}

/** The contact after leaving an audience: the same object if it was not a member. */
export function withoutAudience<T extends StoredContact>(stored: T, audienceId: string, now: number): T {
  if (!stored.audienceIds.includes(audienceId)) return stored;
  const audienceIds = stored.audienceIds.filter((id) => id !== audienceId);
  return {
    ...stored,
    audienceIds,
    updatedMs: Math.max(stored.updatedMs, now),
    imported: changedByOthers(stored),
  };
}

/** The contact after it joined or left an audience, like `joinedAudience` and `withoutAudience`. */
export const withMembership = <T extends StoredContact>(
  stored: T,
  { audienceId, change }: { audienceId: string; change: 'join' | 'leave' },
  now: number,
): T | null =>
  change === 'join' ? joinedAudience(stored, audienceId, now) : withoutAudience(stored, audienceId, now);

/** Fields of an empty contact. Frozen, because all empty contacts share the arrays. */
const EMPTY_FIELDS = Object.fromEntries(
  CONTACT_FIELD_NAMES.map((name): [string, unknown] => [name, isArrayField(name) ? Object.freeze([]) : null]),
) as Pick<ContactBody, ContactField>;

const EMPTY_BODY: ContactBody = {
  id: '',
  organization_id: '',
  data_import_id: null,
  contact_id: '',
  company_id: null,
  ...EMPTY_FIELDS,
};

/** Copies the empty contact as a whole, which V8 does at once; a spread would add the fields one by one. */
function emptyBody(organizationId: string, id: string): ContactBody {
  return { ...EMPTY_BODY, id, organization_id: organizationId, contact_id: id };
}

type FieldsOf<Value> = {
  [Name in ContactField]: Contact[Name] extends Value ? Name : never;
}[ContactField];

const fieldsOf = <Value>(...types: string[]) =>
  CONTACT_FIELD_NAMES.filter((name) => types.includes(FIELD_TYPES[name])) as FieldsOf<Value>[];

const TEXTS = ['data_import_id', 'company_id', ...fieldsOf<string | null>('string')] as const;
const NUMBERS = fieldsOf<number | null>('integer');
const LISTS = fieldsOf<string[]>('emails', 'strings').map((field) => ({
  field,
  isEmail: FIELD_TYPES[field] === 'emails',
}));

/** The fields of a contact that a record or a request may set. */
export type ContactChanges = Partial<
  Omit<
    ContactRecord,
    'organization_id' | 'contact_id' | 'audience_ids' | 'created_at' | 'updated_at' | 'deleted'
  >
>;

/** Fields that the creating request set. Null and an empty list count as not set. */
export const givenFields = (body: ContactBody): ContactChanges =>
  Object.fromEntries(
    CONTACT_FIELD_NAMES.map((name) => [name, body[name]] as const).filter(
      ([, value]) => value !== null && !(Array.isArray(value) && value.length === 0),
    ),
  );

/**
 * The body after the changes: given fields overwrite, absent fields and invalid domains change nothing, null and blank text clear a field
 * (contract 6.2).
 */
function mergeBody(before: ContactBody, changes: ContactChanges): ContactBody {
  const body = { ...before };
  for (const field of TEXTS) {
    const value = changes[field];
    if (value !== undefined) body[field] = value === null || value.trim() === '' ? null : value;
  }
  if (changes.company_domain && body.company_domain !== null) {
    body.company_domain = domainOf(body.company_domain) ?? before.company_domain;
  }
  for (const field of NUMBERS) {
    const value = changes[field];
    if (value !== undefined) body[field] = value;
  }
  for (const { field, isEmail } of LISTS) {
    const value = changes[field];
    if (value === undefined) continue;
    const values = withoutBlanks(value);
    body[field] = isEmail ? differentEmails(values) : values;
  }
  const wasDerived = before.company_id === derivedCompanyId(before);
  if (body.company_id === null || (wasDerived && (changes.company_id ?? null) === null)) {
    body.company_id = derivedCompanyId(body);
  }
  return body;
}

function withoutBlanks(values: readonly string[] | null): string[] {
  return (values ?? []).filter((value) => value.trim() !== '');
}

/** The addresses in lower case, without duplicates. */
function differentEmails(emails: readonly string[]): string[] {
  if (emails.length < 2) return emails.map((email) => email.toLowerCase());
  const different = new Map<string, string>();
  for (const email of emails) {
    const normal = normalizeEmail(email);
    if (!different.has(normal)) different.set(normal, email.toLowerCase());
  }
  return [...different.values()];
}

function derivedCompanyId({
  organization_id: organizationId,
  company_domain: domain,
}: ContactBody): string | null {
  return domain === null ? null : companyIdOf(`${organizationId} ${domain}`);
}

/** Cached companies of all organizations, about 200 bytes each. */
const MAX_CACHED_COMPANIES = 100_000;

const companyIdOf = memoize((ofBoth) => {
  const [organizationId = ''] = ofBoth.split(' ', 1);
  const domain = normalizeDomain(ofBoth.slice(organizationId.length + 1));
  return domain === '' ? null : companyId(organizationId, domain);
}, MAX_CACHED_COMPANIES);

/** The union of both lists, ascending; the same array if the union adds nothing. Throws `RecordRejectedError` for too many audiences. */
function joinAudiences(before: string[], joined: readonly string[]): string[] {
  if (joined.length === 0) return before;
  const held = new Set(before);
  const fresh = joined.filter((id) => !held.has(id));
  if (fresh.length === 0) return before;
  const all = [...new Set([...before, ...fresh])];
  if (all.length > MAX_AUDIENCES_PER_CONTACT) {
    throw new RecordRejectedError('too_many_audiences', '/audience_ids', TOO_MANY_AUDIENCES);
  }
  return all.sort();
}
