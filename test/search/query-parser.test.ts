import { expect } from 'chai';
import fc from 'fast-check';
import { type QueryTerm, readingsOf, type TextQuery } from '../../services/search/query.js';
import { parseQuery } from '../../services/search/query-parser.js';
import { fold, spelledOut } from '../../services/shared/text.js';
import { runs } from '../support/random.js';
import { wordsOf } from '../support/words.js';

/** A text, and its readings in order. */
const READINGS = [
  ['Ann Lee', 'ann lee'],
  ['"Lee, Ann" <ann@x.example>', 'ann@x.example', 'lee ann'],
  ['Ann Lee <mailto:ann@x.example> -x', 'ann@x.example -x', 'ann lee -x'],
  ['<ann@x.example>', 'ann@x.example', 'ann x'],
  ['"Ann" <a@x.example>, "Bo" <b@x.example>', 'ann a@x.example bo b@x.example', 'ann a x bo b x'],
  ['"Ann Lee" <not an address>', '"ann lee" not an address', '"ann lee" not an'],
  ["lee's email", 'lee s email', 'lee'],
  ['Lee’s', 'lee s', 'lee'],
  ["o'sullivan s", 'o sullivan s'],
  ['who is the cfo of Acme?', 'who is the cfo of acme', 'cfo acme'],
  ['who is the', 'who is the'],
  ['-"the phone" Ann', 'ann -"the phone"'],
  ['acme.example', 'acme.example', 'acme'],
  ['jobs.acme.com', 'jobs.acme.com', 'acme.com', 'acme'],
  ['https://jobs.acme.com/de?x=1', 'jobs.acme.com', 'acme.com', 'acme'],
  ['www.acme.co.uk', 'acme.co.uk', 'acme'],
  ['jobs.ibm.com', 'jobs.ibm.com', 'ibm.com', 'ibm'],
  ['shop.acme.co.uk', 'shop.acme.co.uk', 'acme.co.uk', 'acme'],
  ['https://n.example/in/ann', '/ann'],
  ['j.smith', 'j.smith', 'j smith'],
  ['j.wu', 'j.wu', 'j wu'],
  ['st.john', 'st.john', 'st john'],
  ['ann.lee@mail.acme.de', 'ann.lee@mail.acme.de', 'ann lee mail acme'],
  ['email of ann@x.com', 'email of ann@x.com', 'ann@x.com', 'ann x'],
  ['node.js developer', 'node.js developer', 'node developer'],
];

const queryText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc
    .array(fc.constantFrom(' ', ...wordsOf('" - Ann é 1 202 ( ) . @ x.example + AND \' /')), {
      maxLength: 30,
    })
    .map((parts) => parts.join('')),
);

function parsed(text: string): TextQuery {
  const query = parseQuery(text);
  if ('code' in query) throw new Error(query.detail);
  return query;
}

const show = (term: QueryTerm) => (term.kind === 'word' ? term.word : `"${term.words.join(' ')}"`);

/** `word`, `"a phrase"`, `-word`: without prefixes and typos. */
function shown(text: string): string[] {
  const { required, excluded } = parsed(text);
  return [...required.map(show), ...excluded.map((term) => `-${show(term)}`)];
}

describe('a query', () => {
  const cases: [string, string[]][] = [
    ['Ocasio-Cortez', ['ocasio', 'cortez']],
    ['  LUJÁN  ', ['lujan']],
    ['"New York" times', ['"new york"', 'times']],
    ['“New York”', ['"new york"']],
    ['maria -garcia', ['maria', '-garcia']],
    ['maria - garcia', ['maria', 'garcia']],
    ['-"new york" x', ['x', '-"new york"']],
    ['-ocasio-cortez', ['-"ocasio cortez"']],
    ['"open quote', ['open', 'quote']],
    ['Ann.Lee@X.example', ['ann.lee@x.example']],
    ['-ann@x.example', ['-ann@x.example', '-@ann@x.example']],
    ['mail ann@x.example, now', ['mail', 'ann@x.example', 'now']],
    ['acme-corp.com', ['acme-corp.com']],
    ['https://acme.com/about', ['acme.com']],
    ['see https://www.acme.com.', ['see', 'acme.com']],
    ['//acme.com/about', ['acme.com']],
    ['acme.com/a/b?c=d#e', ['acme.com']],
    ['-acme.com/about x', ['x', '-acme.com']],
    ['https://n.example/in/j%C3%B6rg-m/?a=1', ['/jorg-m']],
    ['n.example/in/ann/details', ['/ann']],
    ['"https://n.example/in/ann"', ['"/ann"']],
    ['mailto:ann@x.example', ['ann@x.example']],
    ['tel:+12022243441', ['2022243441']],
    ['in/ann-lee', ['in', 'ann', 'lee']],
    ['mail within/out', ['mail', 'within', 'out']],
    ['xn--mnchen-3ya.example', ['munchen.example']],
    ['sales/marketing and//or', ['sales', 'marketing', 'and', 'or']],
    ['D.C.', ['d', 'c']],
    ['"ann@x.example"', ['ann@x.example']],
    ['202-224-3441', ['202', '224', '3441']],
    ['(202) 224.3441', ['202', '224', '3441']],
    ['12022243441', ['2022243441']],
    ['+44 (0)20 7946 0958', ['44', '0', '20', '7946', '0958']],
    ['"+44 (0)20 7946 0958"', ['442079460958']],
    ['202 555 0147 ext. 12 ann', ['202', '555', '0147', 'ann']],
    ['2025550147x12', ['2025550147']],
    ['12 x 34', ['12', 'x', '34']],
    ['"202-224-3441"', ['"2022243441"']],
    ['-202-224-3441', ['-2022243441']],
    ['route 66', ['route', '66']],
    ['12345', ['12345']],
    ['98201 -2022', ['98201', '-2022']],
    ['1234567890 1234567', ['1234567890', '1234567']],
    ['r2d2', ['r2d2']],
    ['AND OR NOT *', ['and', 'or', 'not']],
    ['"" !? -', []],
    ['東京 都', ['东京', '都']],
  ];
  for (const [text, terms] of cases) {
    it(`reads ${text} as ${terms.join(', ') || 'nothing'}`, () => {
      expect(shown(text)).to.deep.equal(terms);
    });
  }

  it('allows prefixes from 2 letters and typos by length', () => {
    expect(
      parsed('a, "b" al "b" alan "b" alexander r2d2abcd ann@x.example').required.filter(
        ({ kind }) => kind === 'word',
      ),
    ).to.deep.equal([
      { kind: 'word', word: 'a', prefix: false, initial: true, typos: 0 },
      { kind: 'word', word: 'al', prefix: true, typos: 0 },
      { kind: 'word', word: 'alan', prefix: true, typos: 1 },
      { kind: 'word', word: 'alexander', prefix: true, typos: 2 },
      { kind: 'word', word: 'r2d2abcd', prefix: true, typos: 0 },
      { kind: 'word', word: 'ann@x.example', prefix: true, typos: 0, joined: ['@ann@x.example'] },
    ]);
    expect(parsed('-alan').excluded).to.deep.equal([{ kind: 'word', word: 'alan', prefix: false, typos: 0 }]);
  });

  it('joins neighbours of letters, unless they are short, excluded or quoted', () => {
    const joined = (text: string) =>
      parsed(text).required.map((term) => (term.kind === 'word' ? term.joined : term.words));
    expect(joined("mc connell o'neil")).to.deep.equal([
      ['mcconnell'],
      ['mcconnell', 'connello'],
      ['connello', 'oneil'],
      ['oneil'],
    ]);
    expect(joined('a bc 1 def "gh" -ij kl')).to.deep.equal([
      undefined,
      undefined,
      undefined,
      undefined,
      ['gh'],
      undefined,
    ]);
  });

  it('reads a query in other ways where nobody matches it', () => {
    const readings = (text: string) =>
      readingsOf(parsed(text)).map(({ required, excluded }) =>
        [...required.map(show), ...excluded.map((term) => `-${show(term)}`)].join(' '),
      );
    for (const [text, ...expected] of READINGS)
      expect(readings(text as string), text).to.deep.equal(expected);
  });

  it('tells a query of domains alone, whose parts mean it only together', () => {
    const isDomain = (text: string) => readingsOf(parsed(text)).some((each) => each.isDomain);
    for (const text of ['acme-labs.com', 'https://jobs.acme.co.uk/de', 'email acme.de', 'acme.de beta.de'])
      expect(isDomain(text), text).to.equal(true);
    for (const text of ['ann acme.com', 'ann@acme.com', 'j.smith', 'https://n.example/in/ann', 'ann'])
      expect(isDomain(text), text).to.equal(false);
  });

  it('takes words of digits next to each other also as one number', () => {
    const number = (text: string) =>
      parsed(text).required.map((term) => (term.kind === 'word' ? [term.word, ...(term.joined ?? [])] : []));
    const instead = ['2022243441', '12022243441', '<14434222021'];
    expect(number('+1 202 224 3441')).to.deep.equal(
      ['1', '202', '224', '3441'].map((word) => [word, ...instead]),
    );
    expect(number('12022243441')).to.deep.equal([instead]);
    expect(number('0012022243441')).to.deep.equal([[...instead, '0012022243441']]);
    expect(number('202 224')).to.deep.equal([
      ['202', '202224'],
      ['224', '202224'],
    ]);
    expect(number('4 + 5')).to.deep.equal([['4'], ['5']]);
    expect(number('202 and 224')).to.deep.equal([['202'], ['and'], ['224']]);
    expect(number('1234567890 1234567')).to.deep.equal([
      ['1234567890', '<0987654321'],
      ['1234567', '<7654321'],
    ]);
  });

  it('finds an address also by its normal form', () => {
    expect(parsed('https://acme.com/about').required).to.deep.equal([
      { kind: 'word', word: 'acme.com', prefix: true, typos: 0, joined: ['/about'] },
    ]);
    expect(parsed('Jörg@müller.example').required).to.deep.equal([
      { kind: 'word', word: 'jorg@muller.example', prefix: true, typos: 0, joined: ['@jorg@muller.example'] },
    ]);
  });

  it('may have 12 words, and no more', () => {
    const twelve = 'a b c d e f "g h" i -j -"k l"';
    expect(parseQuery(twelve)).to.not.have.property('code');
    expect(parseQuery(`${twelve} m`)).to.include({ code: 'too_many_words' });
  });

  it('may have 200 characters once folded, and no more', () => {
    for (const [character, folded] of [
      ['⒈', 2],
      ['㌖', 6],
      ['\ufdfa', 18],
    ] as const) {
      const fitting = Math.floor(200 / folded);
      expect(parseQuery(character.repeat(fitting))).to.not.include({ code: 'too_long' });
      expect(parseQuery(character.repeat(fitting + 1))).to.include({ code: 'too_long' });
    }
  });

  it('never throws, and contains folded words only', () => {
    fc.assert(
      fc.property(queryText, (text) => {
        const query = parseQuery(text);
        if ('code' in query) return;
        for (const term of [...query.required, ...query.excluded]) {
          for (const word of term.kind === 'word' ? [term.word] : term.words) {
            expect(word).to.match(/[\p{L}\p{N}]/u);
            expect(word).to.not.match(/[\s"]/);
            expect(fold(word)).to.equal(word);
          }
        }
        if (spelledOut(text).size === 0) expect(parseQuery(fold(text))).to.deep.equal(query);
      }),
      { numRuns: runs(600) },
    );
  });

  it('of plain words means the same however many spaces there are', () => {
    const words = fc.array(fc.stringMatching(/^(?:in|x|ext|tel|mailto|[a-z]{1,9})$/), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(words, (given) => {
        expect(parseQuery(given.join(' '))).to.deep.equal(parseQuery(` ${given.join('  ')} `));
      }),
    );
  });

  for (const text of ['//+.)', '"//+.)"', '//+.+/x', 'https://in/in/+', 'in/---', '-//+.)']) {
    it(`has no word without a letter or digit in ${text}`, () => {
      const { required, excluded } = parseQuery(text) as TextQuery;
      for (const term of [...required, ...excluded]) {
        const found = term.kind === 'phrase' ? term.words : [term.word, ...(term.joined ?? [])];
        for (const word of found) expect(word).to.match(/[\p{L}\p{N}]/u);
      }
    });
  }

  it('without any word has no terms', () => {
    expect(parsed('?!')).to.deep.equal({ required: [], excluded: [] });
  });
});
