import { expect } from 'chai';
import fc from 'fast-check';
import { allowedTypos, isTypoCandidate } from '../../services/search/typos.js';

describe('Typos', () => {
  it('are allowed in query words by length, and in none with a digit or a symbol', () => {
    const words = ['abc', 'abcd', 'abcdefg', 'abcdefgh', 'abcdefg1', 'a@bcdefgh'];
    expect(words.map(allowedTypos)).to.deep.equal([0, 1, 1, 2, 0, 0]);
  });

  it('reach a word that lacks as many letters as the query word may have typos', () => {
    const queryWord = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '𝒳'), minLength: 4, maxLength: 12 });
    fc.assert(
      fc.property(queryWord, (word) => {
        const shortest = Array.from(word).slice(allowedTypos(word)).join('');
        expect(isTypoCandidate(shortest)).to.equal(true);
      }),
    );
  });

  it('reach no word with a digit or a symbol, and none of two letters', () => {
    expect(['ann', 'aé', 'ann1', 'ann@x', 'söhne'].map(isTypoCandidate)).to.deep.equal([
      ...[true, false, false, false, true],
    ]);
  });
});
