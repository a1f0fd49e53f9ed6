import { expect } from 'chai';
import type { Target } from '../target.js';
import { type Attack, ask, NDJSON, ndjson, organization_id, repeat } from './attack.js';

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

/** Words within two letters of one word. */
function nearWords(count: number): string[] {
  const word = 'abababababab';
  const alphabet = 'abcdefghijklmnopqrstuvwxyz';
  const near = new Set<string>();
  for (let first = 1; first < word.length && near.size < count; first++) {
    for (let second = first + 1; second < word.length && near.size < count; second++) {
      for (const one of alphabet) {
        for (const other of alphabet) {
          if (near.size >= count) break;
          near.add(
            word.slice(0, first) + one + word.slice(first + 1, second) + other + word.slice(second + 1),
          );
        }
      }
    }
  }
  return [...near];
}

async function plantNearWords(target: Target): Promise<void> {
  const words = nearWords(30_000);
  const records = Array.from({ length: 300 }, (_, index) => ({
    contact_id: `near-${index}`,
    job_title: words.slice(index * 100, index * 100 + 75).join(' '),
    functional_area: words.slice(index * 100 + 75, index * 100 + 100).join(' '),
  }));
  const { body, status } = await ask(target, '/api/ingest/contacts', undefined, {
    ...NDJSON,
    raw: ndjson(records),
  });
  expect(status).to.equal(200);
  expect(body.rejected, JSON.stringify(body)).to.equal(0);
}

export const slowSearches: Attack = {
  title: 'one-letter filters match every one of 100 000 contacts',
  async run(target) {
    await repeat(12, 4, () =>
      ask(target, '/api/contacts/search', { organization_id, job_title: LETTERS.join(' '), limit: 1 }),
    );
  },
};

export const searchAttacks: Attack[] = [
  {
    title: 'word filters have as many words as fit',
    async run(target) {
      const many = Array.from({ length: 512 }, () => 'm').join(' ');
      const different = Array.from({ length: 100 }, (_, index) => `w${index}`).join(' ');
      const filters = [
        'first_name',
        'last_name',
        'job_title',
        'functional_area',
        'company_name',
        'city',
        'state_region',
      ];
      await repeat(24, 4, async (index) => {
        const value = index % 2 === 0 ? many : different;
        const answer = await ask(target, '/api/contacts/search', {
          organization_id,
          ...Object.fromEntries(filters.map((name) => [name, value])),
        });
        if (index % 2 === 1) {
          expect(answer.status, answer.text).to.equal(422);
          expect(answer.text).to.include('too_many_words');
        }
      });
    },
  },
  slowSearches,
  {
    title: 'one word is asked for that 30 000 planted words are near to',
    nightly: true,
    async run(target) {
      await plantNearWords(target);
      await repeat(12, 4, () =>
        ask(target, '/api/contacts/search', { organization_id, query: 'abababababab' }),
      );
      await repeat(8, 4, () =>
        ask(target, '/api/contacts/search', {
          organization_id,
          query: 'abababababab bababababa abababababa',
        }),
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
  {
    title: 'queries grow when they are folded',
    async run(target) {
      await repeat(400, 8, async (index) => {
        const query = (index % 2 === 0 ? '\u2488' : '\ufdfa').repeat(200);
        const { status } = await ask(target, '/api/contacts/search', { organization_id, query });
        expect(status).to.equal(422);
      });
    },
  },
];
