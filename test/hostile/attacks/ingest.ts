import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { repeat } from '../../support/repeat.js';
import { type Attack, ask, encoded, ndjson } from './attack.js';

const MIB = 1024 * 1024;
const INGEST = '/api/ingest/contacts';
const hex = (text: string) => Buffer.from(text, 'hex');

/** A gibibyte of line feeds in a few bytes: members of gzip, and blocks of zstd that repeat one byte. */
const BOMBS: [encoding: string, bytes: Buffer][] = [
  ['gzip', Buffer.concat(Array(64).fill(gzipSync(Buffer.alloc(16 * MIB, 10))))],
  ['zstd', Buffer.concat([hex('28b52ffd0038'), ...Array(8192).fill(hex('0200100a')), hex('010000')])],
];

export const ingestAttacks: Attack[] = [
  {
    title: 'a few bytes hold a gibibyte',
    async run(target) {
      await repeat(BOMBS.length * 4, 4, async (index) => {
        const [encoding, raw] = BOMBS[index % BOMBS.length] as (typeof BOMBS)[number];
        const { status, text } = await ask(target, INGEST, undefined, { raw, headers: encoded(encoding) });
        expect(status, text).to.be.oneOf([408, 413, 503, 504]);
      });
    },
  },
  {
    title: 'rejected records are kept by the hundred thousand',
    nightly: true,
    async run(target) {
      const rejected = Array.from({ length: 100_000 }, (_, index) => ({ contact_id: '', index }));
      const options = { raw: gzipSync(ndjson(rejected)), headers: encoded('gzip') };
      await repeat(12, 4, async () => {
        const { status, body } = await ask(target, `${INGEST}?on_reject=keep`, undefined, options);
        if (status === 200) expect(body.rejected).to.equal(100_000);
      });
    },
  },
];
