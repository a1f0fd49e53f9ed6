import { expect } from 'chai';
import { useOpened } from '../support/opened.js';
import { freshOrganization, load, type Open } from './record-store-support.js';

export function recordStorePeople(open: Open): void {
  describe('people who are there already (contract 6.2g)', () => {
    const opened = useOpened(() => open());
    const email = (value: string) => ({ kind: 'email' as const, value });
    const profile = (value: string) => ({ kind: 'profile' as const, value });

    it('are found by id, by work email and by profile, within the organization', async () => {
      const organizationId = freshOrganization();
      const { store } = opened;
      await load(store, organizationId, [
        {
          contact_id: 'ada',
          work_emails: ['Ada@x.example', 'al@x.example'],
          network_a_url: 'linkedin.com/in/Ada',
        },
        { contact_id: 'bob', personal_emails: ['bob@x.example'] },
      ]);
      const query = {
        contactIds: ['bob', 'nobody', 'ada'],
        keys: [
          email('al@x.example'),
          email('bob@x.example'),
          profile('linkedin.com/in/ada'),
          profile('linkedin.com/in/ad'),
          email('ada@x.example'),
        ],
      };
      expect(await store.findPeople({ organizationId, ...query })).to.deep.equal({
        contactIds: ['bob', 'ada'],
        holders: [['ada'], [], ['ada'], [], ['ada']],
      });
      const others = { organizationId: freshOrganization(), ...query };
      expect(await store.findPeople(others)).to.deep.equal({ contactIds: [], holders: [[], [], [], [], []] });
      await store.deleteContacts({ organizationId, contactIds: ['ada'] });
      expect(await store.findPeople({ organizationId, ...query })).to.deep.equal({
        contactIds: ['bob'],
        holders: [[], [], [], [], []],
      });
    });

    it('an address of hundreds hides no other, and the oldest two are named', async () => {
      const organizationId = freshOrganization();
      const { store } = opened;
      const crowd = Array.from({ length: 600 }, (_, index) => ({
        contact_id: `c${String(index).padStart(3, '0')}`,
        created_at: '2026-01-01T00:00:00Z',
        work_emails: ['info@x.example', `p${index}@x.example`],
      }));
      await load(store, organizationId, crowd);
      const keys = crowd.map((_, index) => email(`p${index}@x.example`));
      const found = await store.findPeople({
        organizationId,
        contactIds: crowd.map(({ contact_id }) => contact_id),
        keys: [email('info@x.example'), ...keys],
      });
      expect(found.contactIds).to.have.length(600);
      expect(found.holders).to.deep.equal([['c000', 'c001'], ...crowd.map(({ contact_id }) => [contact_id])]);
    });

    it('a question of nobody has an answer', async () => {
      const organizationId = freshOrganization();
      expect(await opened.store.findPeople({ organizationId, contactIds: [], keys: [] })).to.deep.equal({
        contactIds: [],
        holders: [],
      });
    });
  });
}
