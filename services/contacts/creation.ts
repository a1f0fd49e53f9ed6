/** Order of the checks of a creation (contract 3.2 to 3.5), the same in every store. */
import type { CreateContact, CreateOutcome } from './contact-store.js';
import { MAX_DUPLICATES } from './duplicates.js';
import { type StoredContact, toContact } from './stored-contact.js';
import type { MergeOutcome } from './update.js';

export type CreditCheck =
  | { kind: 'unmetered' }
  | { kind: 'insufficient'; balance: number }
  /** `balance` is the remaining balance. */
  | { kind: 'reserved'; balance: number };

/** Whether a balance covers the credits. The balance is null for an organization that is not metered. */
export function checkCredits(balance: number | null, requiredCredits: number): CreditCheck {
  if (balance === null) return { kind: 'unmetered' };
  if (balance < requiredCredits) return { kind: 'insufficient', balance };
  return { kind: 'reserved', balance: balance - requiredCredits };
}

/** Facts that a store knows about a creation. A fact is absent until it was looked up. */
export interface CreationFacts {
  hasAudience?: boolean;
  /** Whether the person was erased. */
  isSuppressed?: boolean;
  /** Duplicates of the contact, oldest first. */
  duplicates?: readonly StoredContact[];
  /** The oldest duplicate after joining the audience (not written in a dry run); null if this duplicate is in too many audiences. */
  joined?: StoredContact | null;
  /** The only duplicate after joining the audience with the given fields (not written in a dry run), or the reason why there is none. */
  merged?: MergeOutcome<StoredContact>;
  /** Balance of the organization; null if the organization is not metered. */
  balance?: number | null;
  /** Result of checking the credits, which are reserved except in a dry run. */
  credits?: CreditCheck;
  /** The contact, which is written except in a dry run; null if another contact has its id. */
  created?: StoredContact | null;
}

/**
 * The outcome, or the fact to look up next. A store looks up a fact only when this function asks for it, because looking up the last facts
 * writes.
 */
export function decideCreation(
  command: Pick<CreateContact, 'contact' | 'onDuplicate' | 'requiredCredits' | 'dryRun'>,
  facts: CreationFacts,
): CreateOutcome | keyof CreationFacts {
  const { onDuplicate, dryRun } = command;
  const { hasAudience, isSuppressed, duplicates, joined, merged, balance, credits, created } = facts;
  if (hasAudience === undefined) return 'hasAudience';
  if (!hasAudience) return { kind: 'audience_not_found' };
  if (isSuppressed === undefined) return 'isSuppressed';
  if (isSuppressed) return { kind: 'contact_suppressed' };
  if (duplicates === undefined && (dryRun || onDuplicate !== 'create')) return 'duplicates';
  const oldest = duplicates?.[0];
  if (oldest && onDuplicate === 'reject')
    return { kind: 'contact_exists', contactId: oldest.body.contact_id };
  const existing = (kind: 'returned' | 'updated', contact: StoredContact) =>
    balance === undefined
      ? 'balance'
      : {
          kind,
          contact: toContact(contact),
          creditsConsumed: balance === null ? null : 0,
          creditBalance: balance,
          duplicates: duplicateIds(facts),
        };
  if (oldest && onDuplicate === 'return') {
    if (joined === undefined) return 'joined';
    return joined === null ? { kind: 'too_many_audiences' } : existing('returned', joined);
  }
  if (oldest && onDuplicate === 'update') {
    const contactIds = duplicateIds(facts);
    if (contactIds.length > 1) {
      return { kind: 'contact_exists', contactId: oldest.body.contact_id, contactIds };
    }
    if (merged === undefined) return 'merged';
    return merged.kind === 'changed' ? existing('updated', merged.after) : merged;
  }
  if (credits === undefined) return 'credits';
  if (credits.kind === 'insufficient') {
    return { kind: 'insufficient_credits', creditBalance: credits.balance };
  }
  if (created === undefined) return 'created';
  if (created === null) return { kind: 'contact_exists', contactId: command.contact.contact_id };
  return { kind: 'created', contact: toContact(created), ...creationTerms(command, facts) };
}

/** Cost of a creation, and the duplicates that existed at the time of the creation. */
export function creationTerms(
  { requiredCredits }: Pick<CreateContact, 'requiredCredits'>,
  facts: CreationFacts,
) {
  const reserved = facts.credits?.kind === 'reserved' ? facts.credits : null;
  return {
    creditsConsumed: reserved === null ? null : requiredCredits,
    creditBalance: reserved === null ? null : reserved.balance,
    duplicates: duplicateIds(facts),
  };
}

function duplicateIds({ duplicates = [] }: CreationFacts): string[] {
  return duplicates.slice(0, MAX_DUPLICATES).map(({ body }) => body.contact_id);
}
