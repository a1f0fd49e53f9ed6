import { repeat } from '../../support/repeat.js';
import { type Attack, ask, organization_id } from './attack.js';

const LETTERS = [...'abcdefghijklm'];
const range = { start_date: '2016-01-01', end_date: '2025-12-31' };
const ids = (prefix: string) => Array.from({ length: 100 }, (_, index) => `${prefix}${index}`);
const ADVERTISING = '/api/advertising/network_a';

/** The most that each operation may be asked for at once. */
const HEAVIEST: [path: string, body: object][] = [
  ['/api/contacts/get', { organization_id, contact_id: 'con-1' }],
  [
    '/api/contacts/search',
    {
      organization_id,
      query: `${LETTERS.slice(0, 12)
        .map((l) => `${l}x`)
        .join(' ')}`,
      limit: 1000,
    },
  ],
  ['/api/contacts/search', { organization_id, query: 'familyname nametwoo companyx hostilex', limit: 1000 }],
  [
    '/api/contacts/search',
    { organization_id, query: '"axx bxx cxx dxx exx fxx gxx hxx ixx jxx kxx lxx"', limit: 1000 },
  ],
  [
    '/api/contacts/search',
    {
      organization_id,
      job_title: LETTERS.join(' '),
      first_name: 'n',
      last_name: 'f',
      company_name: 'c',
      limit: 1000,
    },
  ],
  [
    '/api/audiences/contacts/search',
    { organization_id, audience_id: 'aud_all', job_title: LETTERS.join(' '), limit: 1000 },
  ],
  [
    '/api/audiences/search',
    { organization_id, query: 'senate committee on ways and means of the house', limit: 200 },
  ],
  ['/api/website-visits/search', { organization_id, start_url: `${'a/'.repeat(511)}`, limit: 1000 }],
  [
    '/api/website-visits/search',
    { organization_id, browser: LETTERS.join(' '), platform: LETTERS.join(' '), limit: 1000 },
  ],
  [
    `${ADVERTISING}/campaigns`,
    { ...range, granularity: 'monthly', page_size: 200, search: 'a', campaign_ids: ids('c') },
  ],
  [
    `${ADVERTISING}/creatives`,
    { ...range, granularity: 'monthly', page_size: 200, search: 'a', creative_ids: ids('r') },
  ],
  [
    `${ADVERTISING}/companies`,
    {
      ...range,
      granularity: 'monthly',
      page_size: 200,
      search: 'a',
      domains: ids('d').map((d) => `${d}.example`),
    },
  ],
  [`${ADVERTISING}/company`, { ...range, granularity: 'daily', company_id: 'k1', campaign_page_size: 200 }],
];

export const slowSearches: Attack = {
  title: 'one-letter filters match every one of 100 000 contacts',
  async run(target) {
    await repeat(12, 4, () =>
      ask(target, '/api/contacts/search', { organization_id, job_title: LETTERS.join(' '), limit: 1 }),
    );
  },
};

export const searchAttacks: Attack[] = [
  slowSearches,
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
