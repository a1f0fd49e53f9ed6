import type { ContactBody } from './stored-contact.js';
import { type Identifier, identifiersOf, uniqueIdentifiers } from './suppression.js';

/** Maximum number of related contacts in a result. */
export const MAX_RELATED = 100;

/** Every identifier of the persons that an erasure names or finds. */
export const identifiersOfErasure = (
  named: readonly Identifier[],
  people: readonly ContactBody[],
): Identifier[] => uniqueIdentifiers([...named, ...people.flatMap(identifiersOf)]);

/** An identifier, and the contacts that have it and stay: those that no erasure is removing, this one or another that is not finished. */
export interface HeldIdentifier {
  identifier: Identifier;
  holderIds: readonly string[];
}

/** An identifier that other contacts share is not suppressed: they would be kept out too. */
export function planErasure(identifiers: readonly HeldIdentifier[]) {
  return {
    suppressed: identifiers
      .filter(({ holderIds }) => holderIds.length === 0)
      .map(({ identifier }) => identifier),
    /** The first ids, ascending. */
    related: [...new Set(identifiers.flatMap(({ holderIds }) => holderIds))].sort().slice(0, MAX_RELATED),
  };
}
