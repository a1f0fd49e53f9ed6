/** Contacts into and out of audiences, with what undoes it. */
import type { Notice } from './notice.js';
import { call } from './session.js';

export interface AudienceName {
  id: string;
  name: string;
}

type Direction = 'add' | 'remove';
const OPPOSITE = { add: 'remove', remove: 'add' } as const;
/** One contact, whether or not it is a member already. */
export async function changeMembership(
  direction: Direction,
  audience: AudienceName,
  contactId: string,
): Promise<Notice> {
  await call(`/api/audiences/contacts/${direction}`, { audience_id: audience.id, contact_id: contactId });
  return {
    text: direction === 'add' ? `Added to ${audience.name}.` : `Removed from ${audience.name}.`,
    undo: () => changeMembership(OPPOSITE[direction], audience, contactId),
  };
}
