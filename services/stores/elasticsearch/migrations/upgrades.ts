/** Stored documents of every version of their index, as documents of the current version. */
import { type ContactBody, contactJson } from '../../../contacts/stored-contact.js';
import { fromJson, toJson } from '../../../shared/json.js';
import type { Visit } from '../../../visits/schema.js';
import { type AudienceSource, type AudienceTombstone, audienceDocument } from '../audiences.js';
import { type ContactSource, contactDocument, isTombstone, parseSource } from '../contacts/mapping.js';
import type { ErasureSource } from '../erasure/suppression.js';
import { type IdempotencySource, shownPerson } from '../idempotency.js';
import { type VisitSource, visitDocument } from '../visits.js';
import type { Resource } from './indices.js';

/** What the stored fields of an index of these versions become. */
interface Upgrade {
  first: number;
  last: number;
  upgrade(source: never): object;
}

/** A contact as an object; its times and audiences as fields of their own. */
interface ContactFields extends Omit<ContactSource, 'contact'> {
  contact: ContactBody;
  created_at: number;
  updated_at: number;
  audience_ids: string[];
}

const UPGRADES: { [name in Resource]?: readonly Upgrade[] } = {
  contacts: [
    {
      first: 1,
      last: 6,
      upgrade({ contact: body, created_at, updated_at, audience_ids, ...others }: ContactFields) {
        if (isTombstone(others)) return others;
        const times = { createdMs: created_at, updatedMs: updated_at, recordOrder: others.record_order };
        return { ...others, contact: contactJson({ ...times, audienceIds: audience_ids, body }) };
      },
    },
    {
      first: 8,
      last: 8,
      upgrade: (source: { contact: object }) =>
        isTombstone(source) ? source : { ...source, contact: toJson(source.contact) },
    },
  ],
  visits: [{ first: 1, last: 5, upgrade: ({ visit }: { visit: Visit }) => ({ visit: toJson(visit) }) }],
  idempotency: [
    {
      first: 1,
      last: 1,
      upgrade: ({ attempt, ...others }: { attempt: string }) => ({ ...others, owner: attempt }),
    },
  ],
  erasures: [
    {
      first: 1,
      last: 1,
      upgrade: (source: ErasureSource) =>
        source.proof === undefined ? source : { ...source, proof_id: source.proof.proof_id },
    },
  ],
};

/** Derived anew from the stored fields, so that a reindex follows the code, not only the mapping. */
const DERIVATIONS: { [name in Resource]?: (source: never) => object } = {
  contacts: (source: ContactSource) => contactDocument(parseSource(source)),
  audiences: (source: AudienceSource | AudienceTombstone) => audienceDocument(source),
  visits: ({ visit }: VisitSource) => visitDocument(fromJson(visit)),
  idempotency: (source: IdempotencySource) => ({ ...source, ...shownPerson(source.outcome) }),
};

/** The document to index, from one that is stored in an index of `version`. */
export function toDocument(resource: Resource, source: unknown, version: number): object {
  const upgrade = UPGRADES[resource]?.find(({ first, last }) => first <= version && version <= last)?.upgrade;
  const current = (upgrade ? upgrade(source as never) : source) as object;
  return DERIVATIONS[resource]?.(current as never) ?? current;
}
