import { expect } from 'chai';
import fc from 'fast-check';
import {
  domainOf,
  normalizeDomain,
  normalizeEmail,
  normalizePostalCode,
  normalizeProfileUrl,
  normalizeUrlText,
  normalizeWordStarts,
  profileSlug,
  slugOfProfile,
} from '../../services/search/normalize.js';
import { addressKey, addressRange } from '../../services/shared/ip-address.js';
import { runs, SEED } from '../support/random.js';
import { wordsOf } from '../support/words.js';

const url = fc
  .tuple(
    fc.constantFrom('', 'http://', 'HTTPS://', 'android-app://'),
    fc.constantFrom('', 'www.', 'WWW.', 'fr.', 'www.fr.', 'm.', 'user@', 'a:b@mobile.', '/', '\\'),
    fc.constantFrom(
      ...wordsOf(`x.example X.Example. mail.x.example x.example:8080 é.example MÜNCHEN.example
        xn--mnchen-3ya.example xn--a x_y.example`),
    ),
    fc.array(
      fc.constantFrom(...wordsOf('/ \\ in in/ Ann .. %2E . %20 %C3%B6 %c3 %41 %25 %2F ö o\u0308 %C2%A0')),
      { maxLength: 5 },
    ),
    fc.constantFrom('', '?a=1', '#b', '/?a=/'),
  )
  .map(
    ([scheme, prefix, host, path, rest]) =>
      ` ${scheme}${prefix}${host}${path.length > 0 ? '/' : ''}${path.join('')}${rest}`,
  );
const LONG_LABEL = `${'a'.repeat(64)}.com`;
const LONG_DOMAIN = `${'abcdefg.'.repeat(31)}example`;
const anyText = fc.string({ unit: 'grapheme' });
const email = fc
  .tuple(
    fc.constantFrom('Ann', ' a n', 'JÖRG', 'Jo\u0308rg', 'a@b', 'ａｎｎ', 'a＠b', '\u1e9b\u0323'),
    fc.constantFrom('x.example', 'MÜLLER.example', 'xn--mller-kva.example', 'x'),
  )
  .map(([local, domain]) => `${local}@${domain}`);

describe('normal forms', () => {
  it('a part of a web address is found in punycode, Unicode or plain letters', () => {
    const stored = ['https://münchen.example/Straße', 'http://xn--mnchen-3ya.example/strasse'].map(
      normalizeUrlText,
    );
    for (const part of ['MÜNCHEN.example/STRASSE', 'xn--mnchen-3ya', 'munchen.example', '//münchen']) {
      for (const url of stored) expect(url).to.include(normalizeUrlText(part));
    }
  });

  it('a part of a web address is found with slashes, but no scheme before its host', () => {
    const stored = normalizeUrlText('https://www.x.example:8443/Pricing/');
    for (const part of [
      '//www.x.example',
      '://www.x.',
      'android-app://www.x.example:8443/pricing/',
      ':8443/p',
    ])
      expect(stored, part).to.include(normalizeUrlText(part));
  });

  it('a word of a browser begins after anything but a letter or digit', () => {
    for (const [browser, starts, others] of [
      ['AppEngine-Google', ['google', 'appengine'], ['engine', 'appengine google']],
      ['UI/WKWebView', ['wkwebview', 'ui/wkweb'], ['webview']],
      ['C++', ['c++', 'c'], ['+']],
    ] as const) {
      const stored = normalizeWordStarts(browser);
      for (const part of starts) expect(stored, part).to.include(normalizeWordStarts(part));
      for (const part of others) expect(stored, part).not.to.include(normalizeWordStarts(part));
    }
  });

  it('a usual profile address has the normal form that parsing gives it', () => {
    const usual = fc
      .tuple(
        fc.constantFrom('', 'http://', 'HTTPS://', '//'),
        fc.array(
          fc.constantFrom('www', 'm', 'de', 'mobile', 'x-y', '-a', '1', '0x1', 'xn--a', 'xn--mnchen-3ya'),
          {
            maxLength: 3,
          },
        ),
        fc.constantFrom('Example', 'x1', 'de', 'www', '1'),
        fc.constantFrom('/in/Ann-1_b', '/in/ann/', '/in/', '/company/x', '/in/a.b', '/in/ann/details'),
      )
      .map(([scheme, labels, top, path]) => `${scheme}${[...labels, top].join('.')}${path}`);
    fc.assert(
      fc.property(usual, (address) => {
        expect(normalizeProfileUrl(address)).to.equal(normalizeProfileUrl(`${address}?a=1`));
      }),
    );
  });

  const forms: [(text: string) => string, fc.Arbitrary<string>][] = [
    [normalizeDomain, url],
    [normalizeProfileUrl, url],
    [normalizeUrlText, url],
    [normalizePostalCode, anyText],
    [normalizeWordStarts, anyText],
    [normalizeEmail, fc.oneof(email, anyText)],
  ];
  for (const [form, text] of forms) {
    it(`${form.name} is idempotent`, () => {
      fc.assert(
        fc.property(text, (given) => {
          expect(form(form(given))).to.equal(form(given));
        }),
        { numRuns: runs(500) },
      );
    });
  }

  const domains: [string, string][] = [
    ['Acme.com', 'acme.com'],
    ['https://user:secret@WWW.acme.com:8443/a/b?c#d', 'acme.com'],
    ['www.acme.com.', 'acme.com'],
    ['mail.acme.com', 'mail.acme.com'],
    ['acme.com/path@x', 'acme.com'],
    ['//www.acme.com/about', 'acme.com'],
    ['ｗｗｗ。acme。com', 'acme.com'],
    ['XN--MNCHEN-3YA.example', 'münchen.example'],
    ['https://www.MÜNCHEN.example/a', 'münchen.example'],
    ['mu\u0308nchen.example', 'münchen.example'],
    ['www.xn--e1afmkfd.xn--p1ai', 'пример.рф'],
    ['sub_domain.acme.com', 'sub_domain.acme.com'],
    [' https://acme.com/ ', 'acme.com'],
    ['Acme Inc.', 'acme inc'],
  ];
  for (const [given, normal] of domains) {
    it(`the domain of ${given} is ${normal}`, () => {
      expect(normalizeDomain(given)).to.equal(normal);
    });
  }

  it('a text that is no domain has none', () => {
    for (const text of [
      'n/a',
      'Acme Inc.',
      'localhost',
      '10.0.0.1',
      '192.168.0.100',
      '',
      '-',
      'acme.com; acme.de',
      LONG_LABEL,
      LONG_DOMAIN,
    ]) {
      expect(domainOf(text), text).to.equal(null);
    }
    expect(domainOf('https://www.acme.co.uk/en')).to.equal('acme.co.uk');
    expect(domainOf('ann@acme.example')).to.equal('acme.example');
  });

  const profiles: [string, string, string][] = [
    ['https://www.network.example/in/Ann/?trk=1#x', 'network.example/in/ann', 'ann'],
    ['FR.network.example/in/ann//', 'network.example/in/ann', 'ann'],
    ['ann', 'ann', 'ann'],
    ['https://network.example/in/j%C3%B6rg-m', 'network.example/in/jörg-m', 'jörg-m'],
    ['https://network.example/in/J%c3%96RG-m/', 'network.example/in/jörg-m', 'jörg-m'],
    ['network.example/in/jo\u0308rg%2Dm', 'network.example/in/jörg-m', 'jörg-m'],
    ['https://network.example:443/in/ann', 'network.example/in/ann', 'ann'],
    ['network.example:8080/in/ann', 'network.example/in/ann', 'ann'],
    ['https://user:secret@network.example/in/ann', 'network.example/in/ann', 'ann'],
    ['https://network.example./in/ann', 'network.example/in/ann', 'ann'],
    ['https://network.example//in//ann', 'network.example/in/ann', 'ann'],
    ['https://network.example/./in/x/../ann', 'network.example/in/ann', 'ann'],
    ['network.example//in/ann/.', 'network.example/in/ann', 'ann'],
    ['network.example//.in/.', 'network.example/.in', '.in'],
    ['https://network.example/in/x/%2E%2e/ann', 'network.example/in/ann', 'ann'],
    ['https:\\\\network.example\\in\\ann\\', 'network.example/in/ann', 'ann'],
    ['https://m.network.example/in/ann', 'network.example/in/ann', 'ann'],
    ['mobile.network.example/in/ann', 'network.example/in/ann', 'ann'],
    ['https://www.fr.network.example/in/ann', 'network.example/in/ann', 'ann'],
    ['https://network.example/in/ann/details/experience/', 'network.example/in/ann', 'ann'],
    ['https://network.example/in/ann/de', 'network.example/in/ann', 'ann'],
    ['https://network.example/company/ann/about', 'network.example/company/ann/about', 'about'],
    ['xn--mnchen-3ya.example/in/ann', 'münchen.example/in/ann', 'ann'],
    ['network.example/in/a%2Fb%25', 'network.example/in/a', 'a'],
    ['network.example/in/%E0%A4', 'network.example/in/%e0%a4', '%e0%a4'],
    ['linkedin.com/in/eve%E0%A4', 'linkedin.com/in/eve%e0%a4', 'eve%e0%a4'],
    ['https://network.example/comm/in/ann', 'network.example/in/ann', 'ann'],
    ['https://network.example/mwlite/in/ann', 'network.example/in/ann', 'ann'],
    ['https://notlinkedin.com/pub/ann', 'notlinkedin.com/pub/ann', 'ann'],
    ['fr.example/in/ann', 'fr.example/in/ann', 'ann'],
    ['network.example/company/j%C3%B6rg', 'network.example/company/jörg', 'jörg'],
    ['www.a b.example/in/%41nn', 'a b.example/in/ann', 'ann'],
    ['12345/', '12345', '12345'],
    ['ann?u=a/b', 'ann', 'ann'],
    ['ann%20 ', 'ann', 'ann'],
    ['Ann-Lee,', 'ann-lee', 'ann-lee'],
    ['…', '…', '…'],
  ];
  for (const [given, normal, slug] of profiles) {
    it(`the profile ${given} is ${normal}`, () => {
      expect(normalizeProfileUrl(given)).to.equal(normal);
      expect(profileSlug(normal)).to.equal(slug);
    });
  }

  it('a profile on the network is one person, whatever a mail, a phone or a spreadsheet made of its address', () => {
    const hosts = wordsOf(
      'https://www.linkedin.com https://linkedin.com http://linkedin.com/ linkedin.com uk.linkedin.com WWW.LinkedIn.com m.linkedin.com touch.www.linkedin.com https://www.linkedin.cn https://www.linkedin.com:443 https://me@www.linkedin.com',
    );
    const paths = ['', '/comm', '/mwlite', '/m', '/de', '/pt-br/mwlite', '/company/acme/people'];
    const ends = [
      ...wordsOf(
        '/ // /en /recent-activity/all ?trk=x #top &trk=x %20 %2F %2f%2f %5C %3Ftrk=x %23top %26x %E2%80%8B . , ; : ! … * | ) ] > " \' »',
      ),
      ...['', ' ', '\t', '\n', '\u00a0', '\u200b', '\u200e', '\ufeff', '%20 ', '),', '"\'.'],
    ];
    const slugs: [normal: string, spellings: string[]][] = [
      [
        'eve-x',
        [
          'eve-x',
          'Eve-X',
          'ｅｖｅ-x',
          'e\u200bve-x',
          'eve%2Dx',
          '\u200eeve-x',
          '%65ve-x',
          'eve%252Dx',
          '%2545ve-x',
          'ℰve-x',
          '"eve-x',
          '<Eve-X>',
        ],
      ],
      ['zoë-w', ['zo%C3%AB-w', 'zoë-w', 'zoe\u0308-w', 'ZO%c3%8b-W', 'zo%25C3%25AB-w']],
      // The small letter is one character, the capital letter has no single character.
      ['ǰan', ['ǰan', 'J\u030cAN', 'j%CC%8Can', '%254A%25CC%258Can']],
      ['лев', ['лев', '%D0%BB%D0%B5%D0%B2', '%d0%9b%d0%95%d0%92']],
    ];
    const decorated = fc.record({
      person: fc
        .constantFrom(...slugs)
        .chain(([normal, spellings]) =>
          fc.constantFrom(...spellings).map((spelling) => ({ normal, spelling })),
        ),
      host: fc.constantFrom(...hosts),
      path: fc.constantFrom(...paths),
      kind: fc.constantFrom('in', 'IN', 'pub'),
      end: fc.constantFrom(...ends),
      before: fc.constantFrom('', ' ', '\u200e', '\ufeff', '\n', '<', '(', '"', "'", ' “'),
    });
    fc.assert(
      fc.property(decorated, ({ person, host, path, kind, end, before }) => {
        const address = `${before}${host}${path}/${kind}/${person.spelling}${end}`;
        expect(normalizeProfileUrl(address), address).to.equal(`linkedin.com/in/${person.normal}`);
      }),
      { numRuns: runs(2000), seed: SEED },
    );
  });

  it('profiles that only look alike stay apart', () => {
    for (const [one, other] of [
      ['linkedin.com/in/eve-x', 'linkedin.com/in/eve-x1'],
      ['linkedin.com/in/eve-x', 'linkedin.com/in/eve_x'],
      ['linkedin.com/in/eve', 'linkedin.com/in/eve-'],
      ['linkedin.com/pub/eve-x/1/2a/3b', 'linkedin.com/pub/eve-x/1/2a/3c'],
      ['linkedin.com/in/eve', 'linkedin.com/company/eve'],
      ['linkedin.com/in/eve', 'notlinkedin.com/in/eve'],
      ['acme.example/people/in/paris', 'acme.example/jobs/in/paris'],
    ])
      expect(normalizeProfileUrl(one as string)).not.to.equal(normalizeProfileUrl(other as string));
  });

  const emails: [string, string][] = [
    ['Ann.Lee@X.example', 'ann.lee@x.example'],
    [' JÖRG@MÜLLER.example', 'jörg@müller.example'],
    ['jo\u0308rg@xn--mller-kva.example', 'jörg@müller.example'],
    ['jorg@muller.example', 'jorg@muller.example'],
    ['ａｎｎ．ｌｅｅ@x.example', 'ann.lee@x.example'],
    ['ann＠x.example', 'ann@x.example'],
    ['ann+news@x.example', 'ann+news@x.example'],
    ['"a@b"@XN--MLLER-KVA.example', '"a@b"@müller.example'],
    ['ann@\u1e9b\u0323.example', 'ann@ṩ.example'],
    ['J\u030can@x.example', 'ǰan@x.example'],
    ['xn--mller-kva.example', 'xn--mller-kva.example'],
  ];
  for (const [given, normal] of emails) {
    it(`the email ${given} is ${normal}`, () => {
      expect(normalizeEmail(given)).to.equal(normal);
    });
  }

  it('a postal code has no spaces', () => {
    expect(normalizePostalCode(' SW1A  1AA')).to.equal('sw1a1aa');
  });

  it('only the address of a person gives a slug', () => {
    expect(slugOfProfile('https://uk.linkedin.com/in/Ann/')).to.equal('ann');
    for (const other of [
      'ann',
      'linkedin.com/company/acme',
      'linkedin.com/in/',
      'x.example/a/in/ann/b',
      '/in/ann',
    ])
      expect(slugOfProfile(other), other).to.equal(null);
  });

  it('equal IP addresses compare equal in any spelling', () => {
    expect(addressKey('10.0.0.1')).to.equal(addressKey('::ffff:10.0.0.1'));
    expect(addressKey('2001:DB8:0::1')).to.equal(addressKey('2001:db8::1'));
    expect(addressKey('10.1')).to.equal(null);
    expect(addressKey('not')).to.equal(null);
  });

  it('a CIDR block has a first and a last address', () => {
    const range = addressRange('10.0.0.77/24');
    expect(range).to.deep.equal({ from: addressKey('10.0.0.0'), to: addressKey('10.0.0.255') });
    expect(addressRange('2001:db8::/32')?.to).to.equal(addressKey('2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'));
    for (const bad of ['10.0.0.0/33', '10.0.0.0/', 'x/8', '::/129', '10.0.0.0/8/8']) {
      expect(addressRange(bad), bad).to.equal(null);
    }
  });
});
