import { expect } from 'chai';
import { contactJson } from '../../../services/contacts/contact-json.js';
import { applyRecord, type StoredContact } from '../../../services/contacts/stored-contact.js';
import {
  contactDocument,
  type IndexedContact,
} from '../../../services/stores/elasticsearch/contacts/indexed-contact.js';
import { toDocument } from '../../../services/stores/elasticsearch/migrations/derivations.js';
import { type Resource, readDefinition } from '../../../services/stores/elasticsearch/migrations/indices.js';
import { visitDocument } from '../../../services/stores/elasticsearch/visits.js';
import { toVisit } from '../../../services/visits/stored-visit.js';
import { T0 } from '../../contract/record-store-support.js';
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

/** A document as Elasticsearch returns it. */
function stored(resource: 'contacts' | 'visits', document: object): Record<string, unknown> {
  const { includes } = readDefinition(resource).mappings._source as { includes: string[] };
  const kept = Object.entries(document).filter(([name]) => includes.includes(name));
  return sent(Object.fromEntries(kept)) as Record<string, unknown>;
}

const sent = (document: object): unknown => JSON.parse(JSON.stringify(document));
const rederived = (resource: Resource, source: object): unknown => sent(toDocument(resource, source));

describe('The documents of Elasticsearch', () => {
  it('keep a contact or a visit once, as the text of the public record, from which a reindex derives all other fields', () => {
    const source = stored('contacts', contactDocument(contact));
    expect(source).to.have.all.keys('contact', 'record_order', 'creation', 'removals');
    expect(source.contact).to.equal(contactJson(contact));
    expect(rederived('contacts', source)).to.deep.equal(sent(contactDocument(contact)));
    const tombstone = { abandoned_at: T0, record_order: '1' };
    expect(rederived('contacts', stored('contacts', tombstone))).to.deep.equal(tombstone);
    const ofVisit = { visit: JSON.stringify(visit), record_order: '7' };
    expect(stored('visits', visitDocument(visit, '7'))).to.deep.equal(ofVisit);
    expect(rederived('visits', ofVisit)).to.deep.equal(sent(visitDocument(visit, '7')));
  });
});

describe('An audience that a reindex copies', () => {
  it('gets the fields that audiences have now', () => {
    const audience = { id: 'aud', organization_id: 'org', name: 'Senate', network_a: true };
    const copied = toDocument('audiences', { audience_id: 'aud', record_order: '1', audience });
    expect(copied)
      .to.have.property('audience')
      .that.includes({ ...audience, network_b: false, description: null, tracking_utm_value: null });
    const tombstone = { record_order: '1' };
    expect(toDocument('audiences', tombstone)).to.deep.equal(tombstone);
  });
});
