import { expect } from 'chai';
import type { ContactStore } from '../../services/contacts/contact-store.js';
import { findPerson } from '../../services/contacts/person.js';
import { newContact } from '../../services/contacts/stored-contact.js';
import {
  identifierHash,
  identifiersOf,
  listedHashes,
  showsAny,
} from '../../services/contacts/suppression.js';

describe('A person', () => {
  it('of an address that more than 1 000 contacts have is rejected, whatever the size of a page', async () => {
    for (const [perPage, count] of [
      [400, 1200],
      [1000, 1001],
      [400, 999],
    ] as const) {
      let found = 0;
      const store = {
        async searchContacts() {
          const size = Math.min(perPage, count - found);
          found += size;
          const items = Array.from({ length: size }, (_, index) => `{"contact_id":"c${found + index}"}`);
          return { items, next: found < count ? { createdMs: 0, id: 'x' } : null };
        },
      } as unknown as Pick<ContactStore, 'searchContacts'>;
      const outcome = await findPerson(store, 'org_a', { email: 'info@acme.example' }).catch(
        (error: { problem?: unknown; extra?: unknown }) => JSON.stringify(error),
      );
      if (count > 1000) expect(outcome).to.contain('/email').and.to.contain('too_many_contacts');
      else expect(outcome).to.have.length(count);
      expect(found).to.be.at.most(1200);
    }
  });

  const body = newContact(
    'org_a',
    {
      contact_id: 'con_1',
      first_name: 'Jürgen',
      last_name: 'Weiß',
      work_emails: ['jw@acme.example'],
    } as never,
    0,
  );

  it('is recognized in the answers of one organization only', () => {
    const isShown = showsAny('org_a', identifiersOf(body));
    expect(isShown({ contact: body })).to.equal(true);
    expect(isShown({ contact: { ...body, organization_id: 'org_b' } })).to.equal(false);
  });

  it('is listed by the hashes of this version and of the one that may have suppressed the person', () => {
    const hash = (kind: 'email' | 'profile', value: string) => identifierHash('00', 'org_a', { kind, value });
    const spelt = {
      ...body,
      work_emails: ['ｊｗ@acme.example', 'jw@acme.example'],
      network_a_url: 'https://m.network.example:443/in/jw/details',
    };
    const hashes = identifiersOf(spelt).flatMap((each) => listedHashes('00', 'org_a', each));
    expect(hashes.slice(1)).to.deep.equal([
      hash('email', 'jw@acme.example'),
      hash('email', 'ｊｗ@acme.example'),
      hash('email', 'jw@acme.example'),
      hash('profile', 'network.example/in/jw'),
      hash('profile', 'm.network.example:443/in/jw/details'),
    ]);
  });
});
