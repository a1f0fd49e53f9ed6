/**
 * The suppression list: erased persons are recognized by salted hashes of their identifiers, and their records are rejected (contract
 * 3.12).
 */
import { createHmac } from 'node:crypto';
import { normalizeEmail, normalizeProfileUrl } from '../search/normalize.js';
import { RecordRejectedError } from '../shared/store-errors.js';
import type { PersonRequest } from './person.js';
import type { ContactBody } from './stored-contact.js';

/** An identifier of a person; `value` is in normal form. */
export interface Identifier {
  kind: 'id' | 'email' | 'profile';
  value: string;
}

/** Bytes of the secret for the hashes. */
export const SECRET_BYTES = 32;

const emailIdentifier = (email: string): Identifier => ({ kind: 'email', value: normalizeEmail(email) });

/** The identifier of a profile address; empty for text that is not an address. */
function profileIdentifiers(url: string | null): Identifier[] {
  const value = url === null ? '' : normalizeProfileUrl(url);
  return value === '' ? [] : [{ kind: 'profile', value }];
}

export const idIdentifiers = (ids: readonly string[]): Identifier[] =>
  ids.map((value) => ({ kind: 'id', value }));

/** Every identifier of a contact. */
export function identifiersOf(body: ContactBody): Identifier[] {
  const { contact_id, work_emails, personal_emails, network_a_url } = body;
  return [
    { kind: 'id', value: contact_id },
    ...[...new Set([...work_emails, ...personal_emails])].map(emailIdentifier),
    ...profileIdentifiers(network_a_url),
  ];
}

/** The contact without some of its addresses. */
export function withoutAddresses(
  body: ContactBody,
  isTakenOut: (identifier: Identifier) => boolean,
): ContactBody {
  const stays = (email: string) => !isTakenOut(emailIdentifier(email));
  return {
    ...body,
    work_emails: body.work_emails.filter(stays),
    personal_emails: body.personal_emails.filter(stays),
    network_a_url: profileIdentifiers(body.network_a_url).some(isTakenOut) ? null : body.network_a_url,
  };
}

export function uniqueIdentifiers(identifiers: readonly Identifier[]): Identifier[] {
  return [...new Map(identifiers.map((each) => [`${each.kind} ${each.value}`, each])).values()];
}

/** Text under which a stored response lists a person that it shows. */
export const identifierText = ({ kind, value }: Identifier): string => `${kind} ${value}`;

/** The inverse of `identifierText`. */
export function readIdentifier(text: string): Identifier {
  const [kind = ''] = text.split(' ', 1);
  return { kind: kind as Identifier['kind'], value: text.slice(kind.length + 1) };
}

/** Returns a function that tells whether a stored response shows a contact of the organization with one of the identifiers. */
export function showsAny(
  organizationId: string,
  identifiers: readonly Identifier[],
): (outcome: unknown) => boolean {
  const known = new Set(identifiers.map(({ kind, value }) => `${kind} ${value}`));
  return showsContact(
    (contact) =>
      contact.organization_id === organizationId &&
      identifiersOf(contact).some(({ kind, value }) => known.has(`${kind} ${value}`)),
  );
}

/** Returns a function that tells whether a stored response shows this contact. */
export const showsContact =
  (isSuch: (contact: ContactBody) => boolean) =>
  (outcome: unknown): boolean => {
    const { contact } = (outcome ?? {}) as { contact?: ContactBody };
    return contact !== undefined && isSuch(contact);
  };

/** The identifier that the request names. Empty for a bare profile slug, which identifies no address. */
export function namedIdentifiers({ contact_id, email, network_a_url }: PersonRequest): Identifier[] {
  if (contact_id) return [{ kind: 'id', value: contact_id }];
  if (email) return [emailIdentifier(email)];
  const profile = network_a_url ? normalizeProfileUrl(network_a_url) : '';
  return profile.includes('/') ? [{ kind: 'profile', value: profile }] : [];
}

/** Hash of an identifier (HMAC-SHA256, hexadecimal). Without the secret, nobody can test a guess. `secret` is hexadecimal. */
export function identifierHash(secret: string, organizationId: string, { kind, value }: Identifier): string {
  return createHmac('sha256', Buffer.from(secret, 'hex'))
    .update(JSON.stringify([organizationId, kind, value]))
    .digest('hex');
}

/** Code of records of erased persons. Such records count as accepted, but are neither stored nor kept as dead letters. */
const SUPPRESSED = 'suppressed';

/** The error of a record of an erased person. */
export const suppressedRecord = (): RecordRejectedError =>
  new RecordRejectedError(SUPPRESSED, '', 'The record belongs to a person who was erased.');

export const isSuppressed = (reason: unknown): boolean =>
  reason instanceof RecordRejectedError && reason.code === SUPPRESSED;
