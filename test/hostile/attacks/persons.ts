import { expect } from 'chai';
import { repeat } from '../../support/repeat.js';
import { type Attack, ask, organization_id } from './attack.js';

const DELETE = '/api/contacts/delete';

export const personAttacks: Attack[] = [
  {
    title: 'contacts are deleted by the thousand',
    nightly: true,
    async run(target) {
      await repeat(10, 4, async (index) => {
        const contact_ids = Array.from({ length: 1000 }, (_, at) => `con-${90_000 + index * 1000 + at}`);
        const { status, text } = await ask(target, DELETE, { organization_id, contact_ids });
        expect(status, text).to.be.oneOf([200, 503, 504]);
      });
      await repeat(40, 8, (index) =>
        ask(target, DELETE, { organization_id, network_a_url: `${'/'.repeat(900)}nobody-${index}` }),
      );
    },
  },
  {
    title: 'persons are erased again and again',
    async run(target) {
      await repeat(12, 4, async (index) => {
        const email = `erased.${index}@hostile.example`;
        const { status, text } = await ask(target, '/api/contacts/erase', { organization_id, email });
        expect(status, text).to.be.oneOf([200, 503, 504]);
      });
    },
  },
  {
    title: 'the data folder is backed up twice at once',
    nightly: true,
    async run(target) {
      const names = [Date.now(), Date.now() + 1].map((name) => `backup-${name}`);
      for (const output of await Promise.all(names.map((name) => target.backup(name)))) {
        expect(output).to.contain('holds the data folder as of');
      }
    },
  },
];
