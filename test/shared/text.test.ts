import { expect } from 'chai';
import fc from 'fast-check';
import {
  compounds,
  distanceWithin,
  fold,
  foldsWithin,
  foldValue,
  growing,
  MAX_FOLDED_GROWTH,
  trimTrailingSlashes,
  USUAL_GROWTH,
  words,
} from '../../services/shared/text.js';
import { runs } from '../support/random.js';
import { wordsOf } from '../support/words.js';

/** Every character of Unicode; undefined characters fold to themselves. */
const CHARACTERS = Array.from({ length: 0x110000 }, (_, point) => String.fromCodePoint(point)).filter(
  (character) => /[^\p{Cn}\p{Co}\p{Cs}]/u.test(character),
);
const anyText = fc.string({ unit: 'grapheme' });
const nearText = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'é', '𝒳'), maxLength: 8 });

/** The textbook form of optimal string alignment. */
function distance(left: string, right: string): number {
  const a = Array.from(left);
  const b = Array.from(right);
  const table = Array.from({ length: a.length + 1 }, (_, row) =>
    Array.from({ length: b.length + 1 }, (_, column) => (row === 0 ? column : column === 0 ? row : 0)),
  );
  const at = (row: number, column: number) => table[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= a.length; row++) {
    for (let column = 1; column <= b.length; column++) {
      const cost = a[row - 1] === b[column - 1] ? 0 : 1;
      let best = Math.min(at(row - 1, column) + 1, at(row, column - 1) + 1, at(row - 1, column - 1) + cost);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        best = Math.min(best, at(row - 2, column - 2) + 1);
      }
      (table[row] as number[])[column] = best;
    }
  }
  return at(a.length, b.length);
}

describe('text', () => {
  it('folds idempotently', () => {
    fc.assert(
      fc.property(anyText, (text) => fold(fold(text)) === fold(text)),
      { numRuns: runs(1000) },
    );
    fc.assert(
      fc.property(anyText, (text) => foldValue(foldValue(text)) === foldValue(text)),
      { numRuns: runs(1000) },
    );
  });

  it('grows at most eighteenfold when it is folded, most of it threefold', () => {
    for (const character of CHARACTERS) {
      const most = growing.test(character) ? MAX_FOLDED_GROWTH : USUAL_GROWTH;
      if (fold(character).length > most * character.length) {
        expect.fail(`${character} becomes ${fold(character).length} characters`);
      }
    }
  });

  it('fits a limit once folded exactly when its folded characters do', () => {
    const unit = fc.constantFrom('a', 'é', 'ß', '㌖', '\ufdfa', '𝒳', '⒈');
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 20 }), fc.integer({ min: 1, max: 60 }), (text, limit) => {
        const isLonger = Array.from(text).length > limit;
        expect(foldsWithin(text, limit)).to.equal(isLonger || Array.from(fold(text)).length <= limit);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('splits into words of letters, their marks and digits only, idempotently', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const word of words(text)) {
          expect(word).to.match(/^[\p{L}\p{N}][\p{L}\p{M}\p{N}]*$/u);
          expect(words(word)).to.deep.equal([word]);
        }
      }),
    );
  });

  const folded: [string, string][] = [
    ['Luján', 'lujan'],
    ['STRASSE', 'strasse'],
    ['Straße', 'strasse'],
    ['Łódź', 'lodz'],
    ['Ærø', 'aero'],
    ['İstanbul', 'istanbul'],
    ['ﬁne', 'fine'],
    ['Ｆｕｌｌ', 'full'],
    ['ΣΊΣΥΦΟΣ', 'σισυφοσ'],
    ['Ёлка', 'елка'],
    ['ЙОД', 'иод'],
    ['रीमा', 'रीमा'],
    ['สุดา', 'สุดา'],
    ['ﾊﾞﾅ', 'ハ\u3099ナ'],
    ['バナ', 'ハ\u3099ナ'],
    ['٠١٢٣٤٥٦٧٨٩', '0123456789'],
    ['०१२३ 𑁦𑁯', '0123 09'],
    ['葛\u{e0100}城', '葛城'],
    ['Соловʼяненко', "солов'яненко"],
  ];
  for (const [text, result] of folded) {
    it(`${text} is folded to ${result}`, () => {
      expect(fold(text)).to.equal(result);
    });
  }

  it('has ASCII digits, whatever the script', () => {
    // Every script has each digit once.
    const digits = CHARACTERS.filter((character) => /\p{Nd}/u.test(character));
    for (let from = 0; from < digits.length; from += 10) {
      expect(
        digits
          .slice(from, from + 10)
          .map(fold)
          .join(''),
        `${digits[from]}`,
      ).to.equal('0123456789');
    }
  });

  it('splits at every other character', () => {
    expect(words("O'Neill-Luján, Jr. (42)")).to.deep.equal(['o', 'neill', 'lujan', 'jr', '42']);
    expect(words('--')).to.deep.equal([]);
  });

  it('finds emails and domains as one word', () => {
    expect(compounds('Write to Ann.Lee@X.example, or see www.x.example.')).to.deep.equal([
      'ann.lee@x.example',
      'www.x.example',
    ]);
    expect(compounds('no. such. thing. 3.5')).to.deep.equal([]);
  });

  it('finds the same emails and domains as one regular expression', () => {
    // The rule in one expression, which is too slow for long text.
    const rule =
      /[^\s,;:<>()"'/]+@[^\s,;:<>()"'/]+|(?:[\p{L}\p{M}\p{N}-]+\.)+(?:xn--[a-z0-9-]+|\p{L}[\p{L}\p{M}]+)/gu;
    const byRule = (text: string) =>
      ((/[@.]/.test(text) && fold(text).match(rule)) || [])
        .map((found) => found.replace(/^[-.]+|[-.]+$/g, ''))
        .filter((found) => /[\p{L}\p{N}]/u.test(found));
    const unit = fc.constantFrom(' ', ...wordsOf('a b . . - @ 1 / ! é 𝒳 क ि ⒈ ㌖ xn--'));
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit, maxLength: 24 }), anyText), (text) => {
        expect(compounds(text)).to.deep.equal(byRule(text));
      }),
      { numRuns: runs(2000) },
    );
  });

  it('loses trailing slashes only', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('/', 'a', '\n'), maxLength: 12 }), (text) => {
        expect(trimTrailingSlashes(text)).to.equal(text.replace(/\/+$/, ''));
      }),
    );
  });

  it('has the same edit distance as the textbook algorithm', () => {
    fc.assert(
      fc.property(nearText, nearText, fc.integer({ min: 0, max: 3 }), (left, right, limit) => {
        const typos = distance(left, right);
        expect(distanceWithin(left, right, limit)).to.equal(typos <= limit ? typos : null);
      }),
      { numRuns: runs(1000) },
    );
  });
});
