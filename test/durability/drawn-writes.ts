import type { Answer, Caller } from '../support/gateway.js';
import type { Random } from '../support/random.js';

/**
 * Sends a drawn write of one of so many contacts, or of their membership in the audience `aud`. Rejects if the connection breaks. Erased
 * contacts never come back.
 */
export async function drawWrite(
  server: Caller,
  organization_id: string,
  random: Random,
  contacts = 30,
): Promise<Answer> {
  const draw = () => ({
    contact_id: `c${random.below(contacts)}`,
    country: random.pick(['US', 'DE']),
    city: `${random.below(1000)}`,
    first_name: random.pick(['Maria', 'José', 'Robert']),
  });
  const { contact_id, ...fields } = draw();
  const audience_id = 'aud';
  const call = (path: string, body: object) => server.call(path, { organization_id, ...body });
  const kind = random.below(11);
  if (kind < 5) {
    const records = Array.from({ length: 5 }, () =>
      random.chance(0.1)
        ? { contact_id: draw().contact_id, deleted: true }
        : { ...draw(), audience_ids: random.chance(0.3) ? [audience_id] : [] },
    );
    return server.ingest('contacts', records);
  }
  if (kind === 6) return call('/api/contacts/delete', { contact_id });
  if (kind === 7) return call('/api/audiences/contacts/remove', { audience_id, contact_id });
  if (kind === 8) return call('/api/audiences/contacts/add', { audience_id, contact_id });
  if (kind === 9) return call('/api/contacts/create', { audience_id, ...fields });
  if (kind === 10 && random.chance(0.2)) return call('/api/contacts/erase', { contact_id });
  return call('/api/contacts/update', { contact_id, country: fields.country });
}
