import { expect } from 'chai';
import type { Contact } from '../../services/contacts/schema.js';
import { useOpened } from '../support/opened.js';
import {
  asked,
  type Filters,
  found,
  freshOrganization,
  load,
  loadAudiences,
  type Open,
  T0,
} from './search-support.js';

export function searchStoreFilters(open: Open): void {
  describe('filters (contract 3.8)', () => {
    const opened = useOpened(() => open());
    const organization = freshOrganization();
    const at = (milliseconds: number) => new Date(T0 + milliseconds).toISOString();
    const find = (filters: Filters) => found(opened.store, organization, filters);

    before(async () => {
      await load(opened.store, organization, [
        {
          contact_id: 'maria',
          first_name: 'María José',
          last_name: "O'Neill-Luján",
          job_title: 'Vice President, Data Engineering',
          functional_area: 'Engineering',
          company_name: 'Zürich Versicherung AG',
          company_domain: 'https://WWW.Zurich.com:443/about?x=1',
          city: 'São Paulo',
          state_region: 'Île-de-France',
          country: 'United States',
          postal_code: 'SW1A 2AA',
          network_a_url: 'https://www.network.example/in/Maria-Lujan/?trk=1#top',
          work_emails: ['Maria.Lujan@Zurich.com', 'ml@zurich.com'],
          personal_emails: ['maria@home.example'],
          updated_at: at(0),
        },
        {
          contact_id: 'omar',
          updated_at: at(1),
          work_emails: ['omar@zurich.com'],
          first_name: 'Omar',
          country: 'USA',
          company_domain: 'mail.zurich.com',
        },
        {
          contact_id: 'de',
          updated_at: at(2),
          country: 'de',
          postal_code: 'sw1a2ab',
          network_a_url: 'fr.network.example/in/omar',
        },
        { contact_id: 'empty', updated_at: at(3) },
      ]);
    });

    const cases: [title: string, filters: Filters, ids: string[]][] = [
      ['a word matches whatever its case and accents', { first_name: 'MARIA' }, ['maria']],
      ['the beginning of a word matches', { first_name: 'mar' }, ['maria']],
      ['words may come in any order', { first_name: 'jose mar' }, ['maria']],
      ['every word must match', { first_name: 'maria omar' }, []],
      ['a word with a typo does not match', { first_name: 'marja' }, []],
      ['the middle of a word does not match', { first_name: 'aria' }, []],
      ['apostrophes and hyphens part words', { last_name: 'lujan o neill' }, ['maria']],
      ['a word of another field does not match', { last_name: 'maria' }, []],
      ['job titles match by words', { job_title: 'vice-pres eng' }, ['maria']],
      ['a seniority is computed from the job title', { seniority: 'vp' }, ['maria']],
      ['a department is computed from the job title', { department: 'data', seniority: 'vp' }, ['maria']],
      ['states match by words', { state_region: 'ile france' }, ['maria']],
      ['filters are joined by and', { first_name: 'maria', city: 'lyon' }, []],
      ['a country has many names', { country: 'us' }, ['maria', 'omar']],
      ['a country is compared whole', { country: 'united' }, []],
      ['postal codes ignore case and spaces', { postal_code: 'sw1a2aa' }, ['maria']],
      ['postal codes are compared whole', { postal_code: 'SW1A' }, []],
      ['a sub-domain is another domain', { company_domain: 'www.mail.zurich.com.' }, ['omar']],
      [
        'profile addresses are normalized',
        { network_a_url: 'http://network.example/in/maria-lujan' },
        ['maria'],
      ],
      ['a bare slug is the last segment', { network_a_url: 'OMAR' }, ['de']],
      ['a slug is compared whole', { network_a_url: 'maria' }, []],
      ['a work email matches whatever its case', { email: 'maria.lujan@ZURICH.com' }, ['maria']],
      ['a personal email matches', { email: 'Maria@home.example' }, ['maria']],
      ['a part of an email does not match', { email: 'maria' }, []],
      ['the moment of a change is exclusive', { updated_after: at(1) }, ['de', 'empty']],
      ['changes and a query are joined by and', { updated_after: at(0), query: 'zurich' }, ['omar']],
      ['no filter finds all', {}, ['maria', 'omar', 'de', 'empty']],
      ['null is not given', { first_name: null, country: null }, ['maria', 'omar', 'de', 'empty']],
      ['special characters are harmless', { company_domain: `"'*) OR x:(` }, []],
    ];
    for (const [title, filters, ids] of cases) {
      it(title, async () => {
        expect(await find(filters)).to.deep.equal(ids);
      });
    }

    it('seniority and department follow the job title, whatever a record gives', async () => {
      const organization = freshOrganization();
      const write = async (changes: object) => {
        await load(opened.store, organization, [{ contact_id: 'c', ...changes }]);
        const contact = await opened.store.getContact(organization, 'c');
        const { seniority, department } = contact as Contact;
        return { seniority, department };
      };
      const given = { job_title: 'Head of Marketing', seniority: 'entry', department: 'legal' };
      expect(await write(given)).to.deep.equal({ seniority: 'director', department: 'marketing' });
      expect(await write({ job_title: 'CFO', updated_at: at(1) })).to.deep.equal({
        seniority: 'c_level',
        department: 'finance',
      });
      expect(await found(opened.store, organization, { department: 'finance' })).to.deep.equal(['c']);
      expect(await found(opened.store, organization, { department: 'marketing' })).to.deep.equal([]);
      expect(await write({ job_title: null, updated_at: at(2) })).to.deep.equal({
        seniority: null,
        department: null,
      });
      expect(await found(opened.store, organization, { seniority: 'c_level' })).to.deep.equal([]);
    });

    it('members of an audience are found by email and last change too', async () => {
      const organization = freshOrganization();
      const audience_ids = ['aud'];
      await load(opened.store, organization, [
        { contact_id: 'in', audience_ids, work_emails: ['a@x.example'], updated_at: at(5) },
        { contact_id: 'out', work_emails: ['a@x.example'], updated_at: at(5) },
        { contact_id: 'old', audience_ids, work_emails: ['a@x.example'], updated_at: at(4) },
      ]);
      const member = (filters: Filters) => found(opened.store, organization, filters, 'aud');
      expect(await member({ email: 'a@x.example' })).to.deep.equal(['in', 'old']);
      expect(await member({ updated_after: at(4) })).to.deep.equal(['in']);
      expect(await member({ email: 'a@x.example', updated_after: at(4) })).to.deep.equal(['in']);
    });

    it('a contact changed through the API is found by its new time', async () => {
      const organization = freshOrganization();
      await loadAudiences(opened.store, organization, 'aud');
      await load(opened.store, organization, [{ contact_id: 'c', updated_at: at(0) }]);
      const changed = () => found(opened.store, organization, { updated_after: at(0) });
      expect(await changed()).to.deep.equal([]);
      await opened.store.addMembership({ organizationId: organization, audienceId: 'aud', contactId: 'c' });
      expect(await changed()).to.deep.equal(['c']);
    });

    it('two organizations with the same ids do not see each other', async () => {
      const left = freshOrganization();
      const right = freshOrganization();
      await load(opened.store, left, [{ contact_id: 'same', first_name: 'Leftie', audience_ids: ['aud'] }]);
      await load(opened.store, right, [{ contact_id: 'same', first_name: 'Rightie', audience_ids: ['aud'] }]);
      expect(await found(opened.store, left, { query: 'leftie' })).to.deep.equal(['same']);
      expect(await found(opened.store, left, { query: 'rightie' })).to.deep.equal([]);
      expect(await found(opened.store, left, { first_name: 'righ' })).to.deep.equal([]);
      expect(await found(opened.store, left, {}, 'aud')).to.deep.equal(['same']);
      expect((await opened.store.getContact(right, 'same'))?.first_name).to.equal('Rightie');
      expect(
        (await opened.store.searchContacts(asked(left))).items.map((item) => item.first_name),
      ).to.deep.equal(['Leftie']);
    });
  });
}
