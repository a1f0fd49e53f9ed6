import { expect } from 'chai';
import fc from 'fast-check';
import { toFilters } from '../../services/contacts/search.js';
import { runs } from '../support/random.js';

const filterWords = (text: string) => {
  const [filter] = toFilters({ job_title: text });
  return filter?.kind === 'words' ? filter.words.map(({ spellings: [word] }) => word as string) : [];
};

describe('a word filter', () => {
  it('asks for each word once, and for none that begins another', () => {
    expect(filterWords('m m M mar Maria maría jo m')).to.deep.equal(['jo', 'maria']);
    expect(filterWords('m '.repeat(512))).to.deep.equal(['m']);
  });

  it('matches as all of its words would', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '𝒳'), minLength: 1, maxLength: 3 });
    const matches = (value: string[], wanted: string[]) =>
      wanted.every((given) => value.some((held) => held.startsWith(given)));
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 6 }),
        fc.array(word, { maxLength: 4 }),
        (given, held) => {
          const text = given.join(' ').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
          const folded = held.map((value) => value.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase());
          expect(matches(folded, filterWords(given.join(' ')))).to.equal(matches(folded, text.split(' ')));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('of a name also asks for what words form with their neighbours', () => {
    expect(toFilters({ last_name: "O'Connor de la Cruz" })).to.deep.equal([
      {
        kind: 'words',
        field: 'last_name',
        words: [
          ['connor', 'oconnor', 'connorde'],
          ['cruz', 'lacruz'],
          ['de', 'connorde', 'dela'],
          ['la', 'dela', 'lacruz'],
          ['o', 'oconnor'],
        ].map((spellings) => ({ spellings, equivalents: [] })),
      },
    ]);
  });

  it('may have 32 different words, however often each is said', () => {
    const words = Array.from({ length: 32 }, (_, index) => `w${index + 10}`).join(' ');
    expect(filterWords(`${words} ${words}`)).to.have.length(32);
    expect(() => filterWords(`${words} another`)).to.throw('job_title has 33 different words');
  });
});
