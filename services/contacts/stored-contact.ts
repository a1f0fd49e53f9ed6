/** A contact as every store keeps it, and what records and requests make of it (contract 3.1 to 3.3, 6.2). */

import { normalizeDomain } from '../search/normalize.js';
import { memoize } from '../shared/cache.js';
import { companyId } from '../shared/ids.js';
import { nextVersion, type OrderedRecord, type RecordVersion } from '../shared/record-order.js';
import { RecordRejectedError } from '../shared/store-errors.js';
import { formatTimestamp, parseTimestamp } from '../shared/time.js';
import { type Contact, type ContactRecord, MAX_AUDIENCES_PER_CONTACT } from './schema.js';

/** Everything of a contact but what changes apart from it: its audiences and its times. */
export type ContactBody = Omit<Contact, 'audience_ids' | 'created_at' | 'updated_at'>;

export interface StoredContact extends RecordVersion {
  /** Milliseconds since the epoch. */
  updatedMs: number;
  /** Ascending. */
  audienceIds: string[];
  body: ContactBody;
}

export const TOO_MANY_AUDIENCES = `A contact is in at most ${MAX_AUDIENCES_PER_CONTACT} audiences; this one would be in more.`;

export function toContact(stored: StoredContact): Contact {
  return {
    ...stored.body,
    audience_ids: stored.audienceIds,
    created_at: formatTimestamp(stored.createdMs),
    updated_at: formatTimestamp(stored.updatedMs),
  };
}

/** As `toContact`, but reuses the body, which nobody else may hold: copying its fields costs more than parsing them. */
export function toContactInPlace({ body, audienceIds, createdMs, updatedMs }: StoredContact): Contact {
  const contact = body as Contact;
  contact.audience_ids = audienceIds;
  contact.created_at = formatTimestamp(createdMs);
  contact.updated_at = formatTimestamp(updatedMs);
  return contact;
}

/**
 * The contact after a stream record; null when the record is not newer than the last one. Throws `RecordRejectedError` when the
 * contact would be in too many audiences.
 */
export function applyRecord(
  before: StoredContact | undefined,
  ordered: OrderedRecord<ContactRecord>,
): StoredContact | null {
  const version = nextVersion(before, ordered);
  if (version === null) return null;
  const { record, acceptedAt } = ordered;
  const updatedMs = record.updated_at ? parseTimestamp(record.updated_at) : acceptedAt;
  return {
    ...version,
    updatedMs: Math.max(updatedMs, before?.updatedMs ?? updatedMs),
    audienceIds: joinAudiences(before?.audienceIds ?? [], record.audience_ids ?? []),
    body: mergeBody(before?.body ?? emptyBody(record.organization_id, record.contact_id), record),
  };
}

/** A contact made through the API, member of one audience. */
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

/** The member after joining an audience: the same object when it is one already, null when it has too many. */
export function joinedAudience<T extends StoredContact>(
  stored: T,
  audienceId: string,
  now: number,
): T | null {
  if (stored.audienceIds.includes(audienceId)) return stored;
  if (stored.audienceIds.length >= MAX_AUDIENCES_PER_CONTACT) return null;
  const audienceIds = joinAudiences(stored.audienceIds, [audienceId]);
  return { ...stored, audienceIds, updatedMs: Math.max(stored.updatedMs, now) };
}

/** The contact after leaving an audience; the same object when it was no member. */
export function withoutAudience<T extends StoredContact>(stored: T, audienceId: string, now: number): T {
  if (!stored.audienceIds.includes(audienceId)) return stored;
  const audienceIds = stored.audienceIds.filter((id) => id !== audienceId);
  return { ...stored, audienceIds, updatedMs: Math.max(stored.updatedMs, now) };
}

function emptyBody(organizationId: string, id: string): ContactBody {
  return {
    id,
    organization_id: organizationId,
    data_import_id: null,
    contact_id: id,
    company_id: null,
    first_name: null,
    last_name: null,
    work_emails: [],
    personal_emails: [],
    phones: [],
    network_a_url: null,
    job_title: null,
    functional_area: null,
    company_name: null,
    company_network_a_url: null,
    company_domain: null,
    company_country: null,
    company_industry: null,
    city: null,
    state_region: null,
    country: null,
    postal_code: null,
    age: null,
    dob: null,
    year_of_birth: null,
    gender: null,
    person_image_url: null,
    company_image_url: null,
  };
}

const TEXTS = [
  'data_import_id',
  'company_id',
  'first_name',
  'last_name',
  'network_a_url',
  'job_title',
  'functional_area',
  'company_name',
  'company_network_a_url',
  'company_domain',
  'company_country',
  'company_industry',
  'city',
  'state_region',
  'country',
  'postal_code',
  'dob',
  'gender',
  'person_image_url',
  'company_image_url',
] as const;
const NUMBERS = ['age', 'year_of_birth'] as const;
const EMAILS = ['work_emails', 'personal_emails'] as const;

/** The fields of a contact that a record or a request may set. */
type ContactChanges = Partial<Omit<ContactRecord, 'organization_id' | 'contact_id'>>;

/** The body after the changes: given fields overwrite, absent ones stay, null and blank clear (contract 6.2). */
function mergeBody(before: ContactBody, changes: ContactChanges): ContactBody {
  const body = { ...before };
  for (const field of TEXTS) {
    const value = changes[field];
    if (value !== undefined) body[field] = value === null || value.trim() === '' ? null : value;
  }
  for (const field of NUMBERS) {
    const value = changes[field];
    if (value !== undefined) body[field] = value;
  }
  for (const field of EMAILS) {
    const value = changes[field];
    if (value !== undefined) body[field] = given(value).map((email) => email.toLowerCase());
  }
  if (changes.phones !== undefined) body.phones = given(changes.phones);
  const wasDerived = before.company_id === derivedCompanyId(before);
  if (body.company_id === null || (wasDerived && (changes.company_id ?? null) === null)) {
    body.company_id = derivedCompanyId(body);
  }
  return body;
}

function given(values: readonly string[] | null): string[] {
  return (values ?? []).filter((value) => value.trim() !== '');
}

function derivedCompanyId({
  organization_id: organizationId,
  company_domain: domain,
}: ContactBody): string | null {
  return domain === null ? null : companyIdOf(`${organizationId} ${domain}`);
}

const companyIdOf = memoize((ofBoth) => {
  const [organizationId = ''] = ofBoth.split(' ', 1);
  const domain = normalizeDomain(ofBoth.slice(organizationId.length + 1));
  return domain === '' ? null : companyId(organizationId, domain);
});

/** The union, ascending; the same array when nothing is new. Throws `RecordRejectedError` when it has too many. */
function joinAudiences(before: string[], joined: readonly string[]): string[] {
  const held = new Set(before);
  const fresh = joined.filter((id) => !held.has(id));
  if (fresh.length === 0) return before;
  const all = [...new Set([...before, ...fresh])];
  if (all.length > MAX_AUDIENCES_PER_CONTACT) {
    throw new RecordRejectedError('too_many_audiences', '/audience_ids', TOO_MANY_AUDIENCES);
  }
  return all.sort();
}
