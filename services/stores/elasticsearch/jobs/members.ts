import type { AudienceToken } from '../contacts/indexed-contact.js';

/** Finds the members of an audience. */
export const membersOf = (organizationId: string, token: AudienceToken) => ({
  routing: organizationId,
  query: {
    bool: { filter: [{ term: { organization_id: organizationId } }, { term: { audience_ids: token } }] },
  },
});
