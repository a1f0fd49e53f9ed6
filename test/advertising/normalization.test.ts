import { expect } from 'chai';
import fc from 'fast-check';
import { caseFold, dropAccents } from '../../services/advertising/normalization.js';

describe('the forms in which advertising text is compared', () => {
  it('do not depend on case, in any script', () => {
    for (const [one, other] of [
      ['ÉCLAIR', 'éclair'],
      ['STRASSE', 'straße'],
      ['ΟΔΟΣ', 'οδος'],
      ['ПРИВЕТ', 'привет'],
      ['e\u0301', 'É'],
      ['ǅ', 'ǆ'],
    ] as const) {
      expect(caseFold(one)).to.equal(caseFold(other));
    }
    expect(caseFold('É')).not.to.equal(caseFold('e'));
    expect(caseFold('İstanbul')).to.contain(caseFold('stanbul'));
  });

  it('leave accents and strokes of letters out of searches, and marks of other scripts in', () => {
    for (const [one, other] of [
      ['Émile', 'emile'],
      ['Łódź Søndag', 'lodz sondag'],
      ['İstanbul', 'istanbul'],
    ] as const) {
      expect(dropAccents(caseFold(one))).to.equal(other);
    }
    expect(dropAccents(caseFold('प्रिया'))).to.equal('प्रिया');
    expect(dropAccents(caseFold('ガ'))).not.to.equal('カ');
  });

  it('are idempotent and the same for upper case', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(caseFold(caseFold(text))).to.equal(caseFold(text));
        expect(caseFold(text.toUpperCase())).to.equal(caseFold(text));
      }),
    );
  });
});
