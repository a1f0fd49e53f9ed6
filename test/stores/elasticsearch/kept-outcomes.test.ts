import { expect } from 'chai';
import { toDocument } from '../../../services/stores/elasticsearch/migrations/derivations.js';

describe('A kept outcome that a reindex copies', () => {
  const kept = { fingerprint: 'f', owner: 'o', lease_until: 0, contact_id: 'c', claimed_at: 1 };

  it('is found by the person that it shows', () => {
    const contact = {
      organization_id: 'org_a',
      contact_id: 'c',
      work_emails: ['Ann@x.example'],
      personal_emails: [],
      network_a_url: null,
    };
    expect(toDocument('idempotency', { ...kept, outcome: { kind: 'created', contact } })).to.include({
      organization_id: 'org_a',
    });
    expect(toDocument('idempotency', { ...kept, outcome: { kind: 'created', contact } }))
      .to.have.property('identifiers')
      .that.deep.equals(['id c', 'email ann@x.example']);
  });

  it('stays as it is where it shows nobody', () => {
    const removed = { ...kept, outcome: { kind: 'removed', removed: true } };
    expect(toDocument('idempotency', removed)).to.deep.equal(removed);
  });
});
