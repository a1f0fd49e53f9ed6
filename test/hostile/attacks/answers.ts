import { expect } from 'chai';
import { openSocket } from '../../support/raw-http.js';
import { repeat } from '../../support/repeat.js';
import { jsonText } from '../raw-connections.js';
import { type Attack, ask, ingest, organization_id } from './attack.js';

const ADVERTISING = '/api/advertising/network_a';

export const answerAttacks: Attack[] = [
  {
    title: 'pages of the largest contacts are asked for, some by clients that never read them',
    async run(target) {
      const records = Array.from({ length: 400 }, (_, index) => ({
        contact_id: `large-${index}`,
        first_name: 'Large',
        phones: Array.from({ length: 30 }, () => '\u0001'.repeat(160)),
      }));
      const { body } = await ingest(target, 'contacts', records);
      expect(body.rejected, JSON.stringify(body.errors)).to.equal(0);
      const search = { organization_id, first_name: 'Large', limit: 1000 };
      const text = jsonText('/api/contacts/search', target.key, JSON.stringify(search));
      const unread = Array.from({ length: 12 }, () => openSocket(target.url).pause());
      for (const socket of unread) socket.write(text);
      await repeat(12, 6, async () => {
        const answer = await ask(target, '/api/contacts/search', search);
        if (answer.status === 200) expect(answer.text.length).to.be.below(4.5 * 1024 * 1024);
      });
      for (const socket of unread) socket.destroy();
    },
  },
  {
    title: 'the most points that are allowed are asked for',
    async run(target) {
      const records = Array.from({ length: 36_000 }, (_, index) => ({
        date: new Date(Date.UTC(2025, 0, 1) + (index % 360) * 86_400_000).toISOString().slice(0, 10),
        campaign_id: `dense${Math.floor(index / 360)}`,
        creative_id: 'r1',
        company_id: `k${Math.floor(index / 360)}`,
        impressions: index,
        ad_spend: '1.25',
      }));
      for (let start = 0; start < records.length; start += 12_000) {
        const part = records.slice(start, start + 12_000);
        const { status } = await ingest(target, 'network-a-deliveries', part);
        expect(status).to.equal(200);
      }
      await repeat(6, 3, (index) =>
        ask(target, `${ADVERTISING}/${['campaigns', 'companies'][index % 2]}`, {
          start_date: '2025-01-01',
          end_date: '2025-12-26',
          granularity: 'daily',
          page_size: 200,
        }),
      );
    },
  },
];
