/** Derives the indexed fields from the stored fields, so that a reindex applies changes of the code as well as changes of the mapping. */
import { audienceBody } from '../../../audiences/stored-audience.js';
import { fromJson } from '../../../shared/json.js';
import { type AudienceSource, type AudienceTombstone, isAudience } from '../audience-documents.js';
import { audienceDocument } from '../audiences.js';
import { type ContactSource, contactDocument, parseSource } from '../contacts/indexed-contact.js';
import { type VisitSource, visitDocument } from '../visits.js';
import type { Resource } from './indices.js';

const DERIVATIONS: { [name in Resource]?: (source: never) => object } = {
  contacts: (source: ContactSource) => contactDocument(parseSource(source)),
  audiences: (source: AudienceSource | AudienceTombstone) =>
    audienceDocument(isAudience(source) ? { ...source, audience: audienceBody(source.audience) } : source),
  visits: ({ visit, record_order }: VisitSource) =>
    // Visits of indices before version 2 have no company.
    visitDocument({ ...fromJson(visit), companyDomain: fromJson(visit).companyDomain ?? null }, record_order),
};

/** The document to index, derived from a stored document. */
export const toDocument = (resource: Resource, source: unknown): object =>
  DERIVATIONS[resource]?.(source as never) ?? (source as object);
