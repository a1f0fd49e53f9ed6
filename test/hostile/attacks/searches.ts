import { repeat } from '../../support/repeat.js';
import { type Attack, ask, organization_id } from './attack.js';

const LETTERS = [...'abcdefghijklm'];
const range = { start_date: '2016-01-01', end_date: '2025-12-31' };
const ids = (prefix: string) => Array.from({ length: 100 }, (_, index) => `${prefix}${index}`);
type Request = [path: string, body: object];
const many = (path: string, body: object): Request => [path, { organization_id, limit: 1000, ...body }];
const contacts = (body: object) => many('/api/contacts/search', body);
const visits = (body: object) => many('/api/website-visits/search', body);
const report = (name: string, body: object): Request => [
  `/api/advertising/network_a/${name}`,
  { ...range, granularity: 'monthly', page_size: 200, search: 'a', ...body },
];
const letters = LETTERS.join(' ');

/** The most expensive request of each operation. */
const HEAVIEST: Request[] = [
  ['/api/contacts/get', { organization_id, contact_id: 'con-1' }],
  contacts({ query: letters.slice(0, 23).replaceAll(/\w/g, '$&x') }),
  contacts({ query: 'familyname nametwoo companyx hostilex' }),
  contacts({ query: '"axx bxx cxx dxx exx fxx gxx hxx ixx jxx kxx lxx"' }),
  contacts({ job_title: letters, first_name: 'n', last_name: 'f', company_name: 'c' }),
  many('/api/audiences/contacts/search', { audience_id: 'aud_all', job_title: letters }),
  many('/api/audiences/search', { query: 'senate committee on ways and means of the house', limit: 200 }),
  visits({ start_url: 'a/'.repeat(511) }),
  visits({ browser: letters, platform: letters }),
  report('campaigns', { campaign_ids: ids('c') }),
  report('creatives', { creative_ids: ids('r') }),
  report('companies', { domains: ids('d').map((d) => `${d}.example`) }),
  [
    '/api/advertising/network_a/company',
    { ...range, granularity: 'daily', company_id: 'k1', campaign_page_size: 200 },
  ],
];

export const searchAttacks: Attack[] = [
  {
    title: 'one-letter filters match every one of 100 000 contacts',
    async run(target) {
      await repeat(12, 4, () =>
        ask(target, '/api/contacts/search', { organization_id, job_title: letters, limit: 1 }),
      );
    },
  },
  {
    title: 'every operation is asked for the most it may be asked for',
    nightly: true,
    async run(target) {
      await repeat(HEAVIEST.length * 2, 4, (index) => {
        const [path, body] = HEAVIEST[index % HEAVIEST.length] as (typeof HEAVIEST)[number];
        return ask(target, path, body);
      });
    },
  },
];
