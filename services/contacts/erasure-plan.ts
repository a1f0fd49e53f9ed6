import type { ContactBody } from './stored-contact.js';
import { type Identifier, identifiersOf, identifierText, uniqueIdentifiers } from './suppression.js';

/** Maximum number of related contacts in a result. */
export const MAX_RELATED = 100;

/**
 * Identifiers of a contact that an erasure removes, except the identifiers that the request named. Named identifiers are suppressed before
 * any contact is searched, whichever other contacts have them.
 */
export function foundIdentifiers(named: readonly Identifier[], body: ContactBody): Identifier[] {
  const known = new Set(named.map(identifierText));
  return uniqueIdentifiers(identifiersOf(body)).filter((each) => !known.has(identifierText(each)));
}

/** A found identifier, and the contacts that have this identifier but stay, because they have none of the named identifiers. */
export interface HeldIdentifier {
  identifier: Identifier;
  holderIds: readonly string[];
}

/**
 * Decides which found identifiers are suppressed. An identifier that another contact shares is not suppressed, because that contact would
 * otherwise be rejected too.
 */
export function planErasure(found: readonly HeldIdentifier[]) {
  return {
    suppressed: found.filter(({ holderIds }) => holderIds.length === 0).map(({ identifier }) => identifier),
    related: mergeRelated(found.flatMap(({ holderIds }) => holderIds)),
  };
}

/** Merges ids of related contacts: returns the first `MAX_RELATED`, ascending. */
export const mergeRelated = (ids: readonly string[]): string[] =>
  [...new Set(ids)].sort().slice(0, MAX_RELATED);
