import { expect } from 'chai';
import { applyRecord, contactJson, type StoredContact } from '../../../services/contacts/stored-contact.js';
import {
  contactDocument,
  contactDocumentJson,
  type IndexedContact,
} from '../../../services/stores/elasticsearch/contacts/mapping.js';
import { readDefinition } from '../../../services/stores/elasticsearch/migrations/indices.js';
import { toDocument } from '../../../services/stores/elasticsearch/migrations/migrate.js';
import { parseResponse } from '../../../services/stores/elasticsearch/response-parser.js';
import { visitDocument } from '../../../services/stores/elasticsearch/visits.js';
import { toVisit } from '../../../services/visits/stored-visit.js';
import { T0 } from '../../contract/search-support.js';
import { accepted } from '../../support/accepted.js';

const [record] = accepted(
  [
    {
      organization_id: 'org',
      contact_id: 'con_1',
      first_name: 'Zoë "Z" \\ Ünal',
      work_emails: ['zoe@example.com'],
      city: 'A\u0001B',
      audience_ids: ['a', 'b'],
      created_at: '2020-02-29T23:59:60.000Z',
    },
  ],
  T0,
);
const contact: IndexedContact = {
  ...(applyRecord(undefined, record as NonNullable<typeof record>) as StoredContact),
  creation: { attempt: 'x', reservation: null, creditsConsumed: 1, creditBalance: 2, duplicates: [] },
  removals: ['use'],
};
const visit = toVisit({ organizationId: 'org', id: 'v', createdAt: '', city: 'Rom' }, T0);

/** What Elasticsearch keeps of a document, as it is read. */
function stored(resource: 'contacts' | 'visits', document: object): Record<string, unknown> {
  const { includes } = readDefinition(resource).mappings._source as { includes: string[] };
  const kept = Object.entries(document).filter(([name]) => includes.includes(name));
  const response = JSON.stringify({ _source: Object.fromEntries(kept) });
  return (parseResponse(response) as { _source: Record<string, unknown> })._source;
}

const rederived = (resource: 'contacts' | 'visits', source: object): unknown =>
  JSON.parse(JSON.stringify(toDocument[resource]?.(source as never)));
const sent = (document: object): unknown => JSON.parse(JSON.stringify(document));

describe('The documents of Elasticsearch', () => {
  it('keep a contact or a visit once, as the text of the public record, from which a reindex derives all other fields', () => {
    const source = stored('contacts', contactDocument(contact));
    expect(source).to.have.all.keys('contact', 'record_order', 'creation', 'removals');
    expect(source.contact).to.equal(contactJson(contact));
    expect(rederived('contacts', source)).to.deep.equal(sent(contactDocument(contact)));
    const tombstone = { abandoned_at: T0, record_order: '1' };
    expect(rederived('contacts', stored('contacts', tombstone))).to.deep.equal(tombstone);
    expect(stored('visits', visitDocument(visit))).to.deep.equal({ visit: JSON.stringify(visit) });
    expect(rederived('visits', { visit: JSON.stringify(visit) })).to.deep.equal(sent(visitDocument(visit)));
  });

  it('are the same as JSON and as an object', () => {
    for (const state of [contact, { abandoned_at: T0 }]) {
      expect(contactDocumentJson(state)).to.equal(JSON.stringify(contactDocument(state)));
    }
  });

  it('are derived from the documents of earlier versions too', () => {
    const { createdMs, updatedMs, recordOrder, audienceIds, body, creation, removals } = contact;
    const times = { created_at: createdMs, updated_at: updatedMs, record_order: recordOrder };
    const version7 = { contact: contactJson(contact), record_order: recordOrder, creation, removals };
    expect(rederived('contacts', version7)).to.deep.equal(sent(contactDocument(contact)));
    const version6 = { ...times, audience_ids: audienceIds, contact: body, creation, removals };
    expect(rederived('contacts', version6)).to.deep.equal(sent(contactDocument(contact)));
    expect(rederived('visits', { visit })).to.deep.equal(sent(visitDocument(visit)));
  });
});
