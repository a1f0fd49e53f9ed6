import { expect } from 'chai';
import fc from 'fast-check';
import { toFilters } from '../../services/contacts/search.js';
import { runs } from '../support/random.js';

const filterWords = (text: string) => {
  const [filter] = toFilters({ job_title: text });
  return filter?.kind === 'words'
    ? filter.words.map(({ spellings, whole }) => (whole[0] === undefined ? `${spellings[0]}*` : whole[0]))
    : [];
};

describe('a word filter', () => {
  it('asks for each word once, and for none that begins another', () => {
    expect(filterWords('m m M mar Maria jona m')).to.deep.equal(['jona*', 'm', 'maria*']);
    expect(filterWords('m '.repeat(512))).to.deep.equal(['m']);
  });

  it('asks for whole words of two characters, of short forms of its table, and of what is said again', () => {
    expect(filterWords('pa coo market vpn r&d 3m')).to.deep.equal([
      '3m',
      'coo',
      'd',
      'market*',
      'pa',
      'r',
      'vpn*',
    ]);
    expect(filterWords('johnson & johnson')).to.deep.equal(['*johnson', 'johnson*']);
    expect(filterWords('東京')).to.deep.equal(['东京*']);
  });

  it('matches as all of its words would', () => {
    const word = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '𝒳'), minLength: 1, maxLength: 3 });
    const countOf = (all: string[], word: string) => all.filter((other) => other === word).length;
    /** Computes a filter by hand: short words match only whole words, and a repeated word must occur as often in the value. */
    const holds = (value: string[], wanted: string[]) =>
      wanted.every((given) =>
        [...given].length > 2 ? value.some((held) => held.startsWith(given)) : value.includes(given),
      ) &&
      wanted.every(
        (given) =>
          given.length < 2 || countOf(wanted, given) === 1 || countOf(value, given) >= countOf(wanted, given),
      );
    const matches = (value: string[], wanted: string[]) =>
      wanted.every((given) =>
        given.endsWith('*')
          ? value.some((held) => held.startsWith(given.slice(0, -1)))
          : countOf(value, given.replace(/^\*+/, '')) > given.length - given.replace(/^\*+/, '').length,
      );
    fc.assert(
      fc.property(
        fc.array(word, { minLength: 1, maxLength: 6 }),
        fc.array(word, { maxLength: 4 }),
        (given, held) => {
          const text = given.join(' ').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
          const folded = held.map((value) => value.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase());
          expect(matches(folded, filterWords(given.join(' ')))).to.equal(holds(folded, text.split(' ')));
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
          ['connorde', 'dela'],
          ['dela', 'lacruz'],
          ['oconnor'],
        ].map((spellings, index) => ({
          spellings,
          whole: [[], [], ['de'], ['la'], ['o']][index],
          equivalents: [],
        })),
      },
    ]);
  });

  it('may have 32 different words, however often each is said', () => {
    const words = Array.from({ length: 32 }, (_, index) => `w${index + 10}`).join(' ');
    expect(filterWords(`${words} ${words}`)).to.have.length(32);
    expect(() => filterWords(`${words} another`)).to.throw('job_title has 33 different words');
  });
});
