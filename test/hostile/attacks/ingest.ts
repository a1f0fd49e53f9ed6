import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type Attack, ask, NDJSON, ndjson, repeat } from './attack.js';

const MIB = 1024 * 1024;
const INGEST = '/api/ingest/contacts';
const hex = (text: string) => Buffer.from(text, 'hex');

/** Chunked, so that nothing announces the length. */
const endless = (bytes: Buffer, mebibytes: number) =>
  new Blob([Buffer.alloc(mebibytes * MIB, bytes)]).stream();

/** Twice as many compressed bytes as a request may carry, which hold nothing. */
const EMPTY: [encoding: string, bytes: Buffer][] = [
  ['gzip', gzipSync('')],
  ['zstd', hex('502a4d1800000000')],
  ['zstd', hex('28b52ffd2000010000')],
];

/** A gibibyte of line feeds in a few bytes: members of gzip, and blocks of zstd that repeat one byte. */
const BOMBS: [encoding: string, bytes: Buffer][] = [
  ['gzip', Buffer.concat(Array(64).fill(gzipSync(Buffer.alloc(16 * MIB, 10))))],
  ['zstd', Buffer.concat([hex('28b52ffd0038'), ...Array(8192).fill(hex('0200100a')), hex('010000')])],
];

/** Lines, rows and headers that do not end, and values nested as deep as they are long. */
const ENDLESS: [type: string, text: string][] = [
  ['application/x-ndjson', 'x'.repeat(15 * MIB)],
  ['application/x-ndjson', `${'['.repeat(MIB - 1)}\n`.repeat(12)],
  ['application/json', `[{"a":${'['.repeat(15 * MIB)}`],
  ['text/csv', `contact_id\n"${'x'.repeat(15 * MIB)}`],
  ['text/csv', ','.repeat(MIB - 10)],
  ['text/csv', `contact_id,first_name\n${`${','.repeat(MIB - 1)}\n`.repeat(12)}`],
];

/** Cells that hold JSON, which a mapping reads anew for each path. */
const nested = ndjson(
  Array.from({ length: 200 }, (_, index) => ({
    _airbyte_data: { id: index, runSchedule: `{"start":${'['.repeat(60_000)}` },
    stream: 'campaigns',
  })),
);

export const ingestAttacks: Attack[] = [
  {
    title: 'compressed bodies hold nothing, without end',
    nightly: true,
    async run(target) {
      await repeat(EMPTY.length * 2, 2, async (index) => {
        const [encoding, bytes] = EMPTY[index % EMPTY.length] as (typeof EMPTY)[number];
        const headers = { ...NDJSON.headers, 'Content-Encoding': encoding };
        const { status, text } = await ask(target, INGEST, undefined, { raw: endless(bytes, 32), headers });
        expect(status, text).to.be.oneOf([400, 408, 413, 503]);
      });
    },
  },
  {
    title: 'a few bytes hold a gibibyte',
    async run(target) {
      await repeat(BOMBS.length * 4, 4, async (index) => {
        const [encoding, raw] = BOMBS[index % BOMBS.length] as (typeof BOMBS)[number];
        const headers = { ...NDJSON.headers, 'Content-Encoding': encoding };
        const { status, text } = await ask(target, INGEST, undefined, { raw, headers });
        expect(status, text).to.be.oneOf([408, 413, 503, 504]);
      });
    },
  },
  {
    title: 'lines, rows and headers never end',
    nightly: true,
    async run(target) {
      await repeat(ENDLESS.length, 2, async (index) => {
        const [type, text] = ENDLESS[index] as (typeof ENDLESS)[number];
        const headers = { 'Content-Type': type, 'Content-Encoding': 'gzip' };
        const { status, body } = await ask(target, INGEST, undefined, { raw: gzipSync(text), headers });
        if (status === 200) expect(body.accepted).to.equal(0);
      });
    },
  },
  {
    title: 'rejected records are kept by the hundred thousand',
    nightly: true,
    async run(target) {
      const headers = { ...NDJSON.headers, 'Content-Encoding': 'gzip' };
      const raw = gzipSync(
        ndjson(Array.from({ length: 100_000 }, (_, index) => ({ contact_id: '', index }))),
      );
      await repeat(12, 4, async () => {
        const { status, body } = await ask(target, `${INGEST}?on_reject=keep`, undefined, { raw, headers });
        if (status === 200) expect(body.rejected).to.equal(100_000);
      });
    },
  },
  {
    title: 'mappings read nested cells, and every request is read twice and written never',
    nightly: true,
    async run(target) {
      const good = ndjson(Array.from({ length: 50_000 }, (_, index) => ({ contact_id: `dry-${index}` })));
      await repeat(8, 4, async (index) => {
        const isMapped = index % 2 === 0;
        const path = isMapped
          ? '/api/ingest/network-a-campaigns?map=airbyte-linkedin-ads/campaigns&dry_run=true'
          : `${INGEST}?dry_run=true&on_reject=fail`;
        const headers = { ...NDJSON.headers, 'Content-Encoding': 'gzip' };
        await ask(target, path, undefined, { raw: gzipSync(isMapped ? nested : good), headers });
      });
      await repeat(40, 8, (index) => ask(target, `${INGEST}?map=${'a'.repeat(index % 70)}`, []));
    },
  },
];
