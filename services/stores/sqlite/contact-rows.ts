/** A contact as its table keeps it, and as the port gives it. */
import type { Contact, ContactRecord } from '../../contacts/schema.js';
import { companyId } from '../../shared/ids.js';
import { normalizeDomain } from '../../shared/normalize.js';
import type { Connection } from './connection.js';
import { formatMoment } from './moments.js';
import type { Position } from './positions.js';

/** Everything of a contact but what changes apart from it: its audiences and its times. */
export type ContactBody = Omit<Contact, 'audience_ids' | 'created_at' | 'updated_at'>;

export interface ContactRow {
  position: Position;
  createdMs: number;
  updatedMs: number;
  /** Version of the last stream record, null while there was none. */
  recordMs: number | null;
  /** Ascending. */
  audienceIds: string[];
  body: ContactBody;
}

export function readContactRow(
  connection: Connection,
  organization: number,
  id: string,
): ContactRow | undefined {
  const row = connection.row<[bigint, bigint, bigint, bigint | null, string, string]>(
    `SELECT position, created_ms, updated_ms, record_ms, audience_ids, body
       FROM contacts WHERE organization = ? AND id = ?`,
    organization,
    id,
  );
  if (!row) return undefined;
  const [position, created, updated, record, audienceIds, body] = row;
  return {
    position,
    createdMs: Number(created),
    updatedMs: Number(updated),
    recordMs: record === null ? null : Number(record),
    audienceIds: JSON.parse(audienceIds) as string[],
    body: JSON.parse(body) as ContactBody,
  };
}

export function toContact(row: ContactRow): Contact {
  return {
    ...row.body,
    audience_ids: row.audienceIds,
    created_at: formatMoment(row.createdMs),
    updated_at: formatMoment(row.updatedMs),
  };
}

export type ContactColumns = readonly [
  body: string,
  audienceIds: string,
  createdMs: bigint,
  updatedMs: bigint,
];

/** The Contact as JSON, put together without parsing any of it. */
export function contactJson([body, audienceIds, created, updated]: ContactColumns): string {
  return `${body.slice(0, -1)},"audience_ids":${audienceIds},"created_at":"${formatMoment(created)}","updated_at":"${formatMoment(updated)}"}`;
}

export function emptyBody(organizationId: string, id: string): ContactBody {
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
export type ContactChanges = Partial<Omit<ContactRecord, 'organization_id' | 'contact_id'>>;

/** The body after the changes: given fields overwrite, absent ones stay, null and blank clear (contract 6.2). */
export function mergeBody(before: ContactBody, changes: ContactChanges): ContactBody {
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

const companyIds = new Map<string, string | null>();

function derivedCompanyId({
  organization_id: organizationId,
  company_domain: given,
}: ContactBody): string | null {
  if (given === null) return null;
  const key = `${organizationId} ${given}`;
  let id = companyIds.get(key);
  if (id === undefined) {
    if (companyIds.size > 50_000) companyIds.clear();
    const domain = normalizeDomain(given);
    id = domain === '' ? null : companyId(organizationId, domain);
    companyIds.set(key, id);
  }
  return id;
}

/** The union, ascending; the same array when nothing is new. */
export function joinAudiences(before: string[], joined: readonly string[]): string[] {
  const fresh = joined.filter((id) => !before.includes(id));
  return fresh.length === 0 ? before : [...new Set([...before, ...fresh])].sort();
}
