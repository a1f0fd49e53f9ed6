/** Removes memberships under the retired token of a deleted audience. */
import { withoutAudience } from '../../../contacts/stored-contact.js';
import { changeContacts } from './changes.js';
import type { ContactDocuments } from './documents.js';
import { type AudienceToken, isTombstone } from './indexed-contact.js';

/** Ends the memberships of contacts under the token. `now` is in milliseconds since the epoch. */
export const leaveFormer = (
  contacts: ContactDocuments,
  organizationId: string,
  token: AudienceToken,
  contactIds: readonly string[],
  now: number,
): Promise<void> =>
  changeContacts(
    contacts,
    contactIds,
    () => organizationId,
    (id) => id,
    (before) => {
      if (before === undefined || isTombstone(before)) return null;
      const after = withoutAudience(before, token, now);
      // The deletion of an audience is no change of its contacts, as far as their import is concerned.
      return after === before ? null : { ...after, imported: before.imported };
    },
  );
