import { crc32 } from 'node:zlib';
import { expect } from 'chai';
import { flood, jsonText } from '../raw-connections.js';
import type { Attack } from './attack.js';

const WRONG_KEYS = 100_000;
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The digits of a number, lowest first. */
function base62(number: number, digits: number): string {
  let text = '';
  for (let place = 0, rest = number; place < digits; place++) {
    text += BASE62[rest % 62];
    rest = Math.floor(rest / 62);
  }
  return text;
}

/** Keys whose checksum is right, as anybody can make them. */
function* wellFormedKeys(): Generator<string> {
  const secret = 'guessed'.padEnd(32, '0');
  for (let index = 0; index < WRONG_KEYS; index++) {
    const start = `rl_live_${base62(index, 8)}_${secret}`;
    yield `${start}${base62(crc32(start), 6)}`;
  }
}

function* requests(): Generator<string> {
  const body = '{"organization_id":"org_demo"}';
  for (const key of wellFormedKeys()) yield jsonText('/api/contacts/search', key, body);
}

export const credentialAttacks: Attack[] = [
  {
    title: '100 000 well-formed keys are tried',
    nightly: true,
    async run({ url }) {
      const statuses = await flood(url, requests());
      expect([...statuses.keys()].sort()).to.deep.equal([401, 429]);
    },
  },
];
