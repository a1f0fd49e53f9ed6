import { expect } from 'chai';
import type { ContactSearch, ContactStore } from '../../services/contacts/contact-store.js';
import { findPerson } from '../../services/contacts/person.js';
import { newContact } from '../../services/contacts/stored-contact.js';
import { identifiersOf, showsAny } from '../../services/contacts/suppression.js';

describe('A person', () => {
  it('of an address that more than 1 000 contacts have is rejected', async () => {
    for (const count of [1001, 1000]) {
      const store = {
        async searchContactKeys({ limit }: ContactSearch) {
          const items = Array.from({ length: Math.min(count, limit) }, (_, index) => ({ id: `c${index}` }));
          return { items };
        },
      } as unknown as Pick<ContactStore, 'searchContactKeys'>;
      const outcome = await findPerson(store, 'org_a', { email: 'info@acme.example' }).catch((error) =>
        JSON.stringify(error),
      );
      if (count > 1000) expect(outcome).to.contain('/email').and.to.contain('too_many_contacts');
      else expect(outcome).to.have.length(count);
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
});
