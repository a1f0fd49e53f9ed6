import { expect } from 'chai';
import type { Contact } from '../../services/contacts/schema.js';
import { knownAt } from '../../services/contacts/search.js';
import { useOpened } from '../support/opened.js';
import {
  asked,
  erasure,
  type Filters,
  found,
  freshOrganization,
  load,
  loadAudiences,
  type Open,
  T0,
} from './record-store-support.js';

export function recordStoreFilters(open: Open): void {
  describe('filters (contract 3.8)', () => {
    const opened = useOpened(() => open());
    const at = (milliseconds: number) => new Date(T0 + milliseconds).toISOString();

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

    it('a thousand domains find the people known at each company, by their company or an email', async () => {
      const organization = freshOrganization();
      const domains = Array.from({ length: 1000 }, (_, index) => `d${index}.example`);
      await load(opened.store, organization, [
        { contact_id: 'first', company_domain: 'https://www.D0.example/about', city: 'Oslo' },
        { contact_id: 'last', company_domain: 'd999.example', city: 'Rome', audience_ids: ['aud'] },
        { contact_id: 'part', company_domain: 'shop.d0.example', work_emails: ['a@d0.example.org'] },
        { contact_id: 'work', work_emails: ['a@D1.example'] },
        { contact_id: 'home', company_domain: 'other.example', personal_emails: ['a@d2.example'] },
        { contact_id: 'none', city: 'Oslo' },
      ]);
      const ids = (filters: Filters, audience?: string) =>
        found(opened.store, organization, filters, audience);
      expect(await ids({ company_domains: domains })).to.deep.equal(['first', 'last', 'work', 'home']);
      expect(await ids({ company_domains: ['d2.example'] })).to.deep.equal(['home']);
      expect(await ids({ company_domains: domains }, 'aud')).to.deep.equal(['last']);
      expect(await ids({ company_domains: ['D0.EXAMPLE:80', 'x.example'] })).to.deep.equal(['first']);
      expect(await ids({ company_domains: domains, city: 'oslo' })).to.deep.equal(['first']);
      expect(await ids({ company_domains: domains, query: 'rome' })).to.deep.equal(['last']);
      const counted = ['d0.example', 'D1.example', 'd3.example'].map((domain) => knownAt([domain]));
      expect(await opened.store.countContacts(organization, counted)).to.deep.equal([1, 1, 0]);
      expect(await opened.store.countContacts('org_nobody', counted)).to.deep.equal([0, 0, 0]);
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

    it('a person is found by the whole address alone, also where a part of another address looks like it', async () => {
      const organization = freshOrganization();
      const named = 'brien@acme.example';
      const others = [..."'/-.&+!{`|^*?=~$%_’"].map((sign) => `o${sign}${named}`);
      const leading = ["'", '-', '/'].map((sign) => `${sign}${named}`);
      const addresses = [named, ...others, ...leading];
      const contacts = addresses.map((email, index) => ({
        contact_id: `c${index}`,
        [index % 2 === 0 ? 'work_emails' : 'personal_emails']: [email],
      }));
      await load(opened.store, organization, contacts);
      for (const [index, email] of addresses.entries())
        expect(await found(opened.store, organization, { email }), email).to.deep.equal([`c${index}`]);
      const query = await found(opened.store, organization, { query: "o'brien@acme.example" });
      expect(query).to.include('c1');
      const proof = `${organization}_era`;
      const { erased, related } = await opened.store.eraseContacts(
        erasure(organization, proof, [], [{ kind: 'email', value: named }]),
      );
      expect({ erased, related }).to.deep.equal({ erased: ['c0'], related: [] });
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
