import { expect } from 'chai';
import type { Target } from '../target.js';
import type { Attack } from './attack.js';

async function query(
  target: Target,
  statement: string,
  headers: Record<string, string> = {},
): Promise<number> {
  const response = await fetch(`${target.sqlUrl}/`, {
    method: 'POST',
    body: statement,
    headers: {
      Authorization: `Basic ${Buffer.from(`default:${target.key}`).toString('base64')}`,
      ...headers,
    },
  });
  await response.text();
  return response.status;
}

export const sqlAttacks: Attack[] = [
  {
    title: 'analysts send encodings that only a prototype has, and statements that cannot be interrupted',
    async run(target) {
      for (const encoding of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
        expect(await query(target, 'SELECT 1', { 'Content-Encoding': encoding })).to.be.at.least(400);
      }
      const patterns = Array.from({ length: 2000 }, (_, index) => `'p${index}.*x'`).join(',');
      for (const statement of [
        "SELECT sum(levenshteinDistance(repeat('a',60000), repeat(toString(number%10),60000))) FROM numbers(300)",
        `SELECT multiMatchAny(repeat('p', 10000), [${patterns}]) FROM numbers(100)`,
        "SELECT damerauLevenshteinDistance(repeat('a',60000), repeat('b',60000))",
      ]) {
        expect(await query(target, statement), statement.slice(0, 60)).to.be.at.least(400);
      }
      expect(await query(target, 'SELECT 1')).to.equal(200);
    },
  },
];
