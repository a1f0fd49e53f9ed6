import { expect } from 'chai';
import { wordsOf } from '../../support/words.js';
import { type Attack, ingest } from './attack.js';

const now = new Date().toISOString();

/** Texts that grow when they are folded, or that a scanner may read again and again. */
const TEXTS: [name: string, text: (length: number) => string][] = [
  ['ligatures', (length) => '\u3316'.repeat(length - 1).concat('.')],
  ['labels of a domain', (length) => 'a.'.repeat(length / 2)],
  ['a dot and letters', (length) => `.${'x'.repeat(length - 1)}`],
  ['an address without end', (length) => `${'a@'.repeat(length / 2)}`],
  ['slashes', (length) => `${'/'.repeat(length - 1)}x`],
  ['hyphens', (length) => `a.${'-'.repeat(length - 3)}b`],
  ['marks', (length) => `e${'\u0301'.repeat(length - 1)}`],
];

const CONTACT_FIELDS = wordsOf(`
first_name last_name job_title functional_area company_name company_domain company_network_a_url
city state_region country postal_code network_a_url gender company_country company_industry
`);

const all = (names: readonly string[], text: string) => Object.fromEntries(names.map((name) => [name, text]));

/** Records whose texts are all `text`, of the streams with the most texts. */
const STREAMS: [stream: string, record: (index: number, text: (length: number) => string) => object][] = [
  [
    'contacts',
    (index, text) => ({
      contact_id: `grow-${index}`,
      ...all(CONTACT_FIELDS, text(1024)),
      phones: [text(1024)],
    }),
  ],
  [
    'website-visits',
    (index, text) => ({
      id: `grow-${index}`,
      createdAt: now,
      startUrl: text(8192),
      ...all(['country', 'city', 'browser', 'platform'], text(1024)),
    }),
  ],
];

export const recordAttacks: Attack[] = [
  ...STREAMS.map(
    ([stream, record]) =>
      ({
        title: `texts of ${stream} expand and repeat`,
        nightly: stream !== 'contacts',
        async run(target) {
          for (const [name, text] of TEXTS) {
            const records = Array.from({ length: 15 }, (_, index) => record(index, text));
            const answer = await ingest(target, stream, records);
            expect(answer.status, `${name}: ${answer.text}`).to.equal(200);
          }
        },
      }) satisfies Attack,
  ),
  {
    title: '100 records of one contact join 1 000 audiences each',
    async run(target) {
      const records = Array.from({ length: 100 }, (_, index) => ({
        contact_id: 'con-member',
        audience_ids: Array.from({ length: 1000 }, (_, at) => `aud-${index}-${at}`),
      }));
      const { status, body } = await ingest(target, 'contacts', records);
      expect(status).to.be.oneOf([200, 504]);
      // 10 000 audiences per contact.
      if (status === 200) expect(body.accepted).to.equal(10);
    },
  },
  {
    title: 'deliveries are spread over 2 150 months',
    async run(target) {
      const records = Array.from({ length: 2150 }, (_, index) => ({
        date: `${1970 + Math.floor(index / 12)}-${String((index % 12) + 1).padStart(2, '0')}-01`,
        campaign_id: 'c1',
        creative_id: 'r1',
        impressions: 1,
      }));
      const { status, body } = await ingest(target, 'network-a-deliveries', records);
      expect(status).to.be.oneOf([200, 504]);
      if (status === 200) expect(body.rejected).to.be.greaterThan(1500);
    },
  },
];
