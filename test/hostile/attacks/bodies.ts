import { expect } from 'chai';
import { repeat } from '../../support/repeat.js';
import { type Attack, ask } from './attack.js';

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
];
