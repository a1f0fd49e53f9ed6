import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type Attack, ask, NDJSON, organization_id, repeat } from './attack.js';

const range = { start_date: '2025-01-01', end_date: '2025-12-31' };
const CAMPAIGNS = '/api/advertising/network_a/campaigns';
const zeros = (field: string, count = 480_000) => `"${field}":[${'0,'.repeat(count)}0]`;
const unknownFields = `${Array.from({ length: 95_000 }, (_, index) => `"f${index}":1`).join(',')}`;

/** Bodies of about a mebibyte in which almost everything is wrong. */
const WRONG: [path: string, raw: string, headers?: Record<string, string>][] = [
  [CAMPAIGNS, `{${JSON.stringify(range).slice(1, -1)},${zeros('metrics')}}`],
  [CAMPAIGNS, `{${JSON.stringify(range).slice(1, -1)},${zeros('campaign_ids')}}`],
  [CAMPAIGNS, `{${JSON.stringify(range).slice(1, -1)},${zeros('statuses')}}`],
  [
    '/api/contacts/create',
    `{"organization_id":"${organization_id}","audience_id":"aud_all",${zeros('work_emails')}}`,
  ],
  ['/api/contacts/search', `{"organization_id":"${organization_id}",${unknownFields}}`],
  [
    '/api/contacts/search',
    `{"organization_id":"${organization_id}",${unknownFields}}`,
    { Prefer: 'handling=lenient' },
  ],
  ['/api/contacts/search', '['.repeat(1_000_000)],
  ['/api/contacts/search', `{"organization_id":"${organization_id}","limit":${'9'.repeat(1_000_000)}}`],
];

/** A mebibyte of values, in as many shapes as there are ways to make a parser slow. */
const VALUES = ['[', '{"a":', '{},'].map((repeated) =>
  repeated.repeat(Math.floor(1_000_000 / repeated.length)),
);
const MANY_VALUES = [
  ...VALUES,
  `{${Array.from({ length: 60_000 }, (_, index) => `"${2 ** 32 + index}":0`).join()}}`,
];

export const bodyAttacks: Attack[] = [
  {
    title: 'bodies of a mebibyte hold 500 000 brackets, braces or integer keys',
    async run(target) {
      await repeat(40, 4, async (index) => {
        const raw = MANY_VALUES[index % MANY_VALUES.length] as string;
        const { status, text } = await ask(target, '/api/contacts/search', undefined, { raw });
        expect(status, text).to.be.oneOf([422, 429, 503]);
      });
    },
  },
  {
    title: 'compressed lines hold 500 000 brackets each',
    async run(target) {
      const raw = gzipSync(`${'['.repeat(500_000)}${']'.repeat(500_000)}\n`.repeat(15));
      const headers = { ...NDJSON.headers, 'Content-Encoding': 'gzip' };
      await repeat(6, 2, async () => {
        const answer = await ask(target, '/api/ingest/contacts?on_reject=drop', undefined, { raw, headers });
        if (answer.status === 200) expect(answer.body.rejected).to.equal(15);
      });
    },
  },
  {
    title: 'bodies of a mebibyte hold 500 000 wrong items',
    async run(target) {
      await repeat(WRONG.length * 2, 2, async (index) => {
        const [path, raw, headers] = WRONG[index % WRONG.length] as (typeof WRONG)[number];
        await ask(target, path, undefined, { raw, headers });
      });
    },
  },
  {
    title: 'compressed records hold 500 000 wrong items each',
    async run(target) {
      const record = `{"contact_id":"wrong",${zeros('work_emails')}}`;
      for (const [raw, type] of [
        [Array.from({ length: 12 }, () => record).join('\n'), NDJSON.headers?.['Content-Type']],
        [`[${Array.from({ length: 12 }, () => record).join(',')}]`, 'application/json'],
        [`[${'0,'.repeat(4_000_000)}0]`, 'application/json'],
      ] as const) {
        const answer = await ask(target, '/api/ingest/contacts', undefined, {
          raw: gzipSync(raw),
          headers: { 'Content-Type': type as string, 'Content-Encoding': 'gzip' },
        });
        expect(answer.status, answer.text.slice(0, 200)).to.be.oneOf([200, 413, 422, 504]);
      }
    },
  },
];
