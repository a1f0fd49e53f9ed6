import { expect } from 'chai';
import isoCountries from 'i18n-iso-countries';
import { countryWords, normalizeCountry } from '../../services/search/countries.js';
import { words } from '../../services/shared/text.js';
import { COUNTRY_LANGUAGES, namesIn } from '../support/country-names.js';

/** Spellings of a name that people use. */
function spellingsOf(name: string): string[] {
  const [first = '', ...rest] = name.split(', ');
  return [
    name,
    name.toUpperCase(),
    `The ${name}`,
    `${name} (the)`,
    `${rest.join(', ')} ${first}`,
    name.normalize('NFD').replace(/\p{M}/gu, ''),
    name.replaceAll("'", '’'),
    name.replaceAll("'", 'ʼ'),
    name.replaceAll(' and ', ' & '),
    name.replace('Saint', 'St.'),
    name.replaceAll(' ', '  '),
  ];
}

describe('the normal form of a country', () => {
  it('is the code for every code and name of ISO 3166, however it is written', () => {
    const all = isoCountries.getNames('en', { select: 'all' });
    expect(Object.keys(all)).to.have.length.above(240);
    for (const [alpha2, own] of Object.entries(all)) {
      // The package gives the name "Congo" to both countries.
      const names = own.filter((name) => name !== 'Congo');
      const codes = [alpha2, isoCountries.alpha2ToAlpha3(alpha2) ?? ''];
      const held = codes.map((code) => code.toLowerCase());
      for (const spelling of [...codes, ...names.flatMap(spellingsOf)])
        expect(normalizeCountry(spelling), spelling).to.equal(held[0]);
      for (const given of [...codes, ...names]) expect(countryWords(given), given).to.include.members(held);
    }
  });

  const usual = `
cd DR Congo; DRC; Congo-Kinshasa; Democratic Republic of the Congo; Congo (the Democratic Republic of the)
cg Congo; Congo (the); Republic of the Congo; Congo, Republic of the; Republic of Congo
gb UK; U.K.; Great Britain; United Kingdom of Great Britain and Northern Ireland (the)
us U.S.; U.S.A.; United States of America (the); united  states of america
vn Vietnam; Viet Nam; VIETNAM
kr South Korea; Korea, South; Korea (the Republic of); Republic of Korea
kp North Korea; Democratic People's Republic of Korea; DPRK
cv Cape Verde; Cabo Verde
cz Czech Republic
ci Ivory Coast; Cote d’Ivoire; Côte dʼIvoire
bn Brunei
fk Falkland Islands (the) [Malvinas]
mm Burma
mk Macedonia; The Republic of North Macedonia
mo Macau
nl Holland; The Netherlands; Netherlands (Kingdom of the)
ps Palestine; State of Palestine
ru Russia
sh St. Helena
sz Swaziland
tl East Timor
tr Turkey; Turkiye
tz Tanzania; United Republic of Tanzania
va Vatican; Vatican City; Holy See (the)
vi US Virgin Islands; U.S. Virgin Islands; United States Virgin Islands
vg British Virgin Islands
ae UAE
xk Kosovo; XKX
`;
  for (const row of usual.trim().split('\n')) {
    const [code, names] = [row.slice(0, 2), row.slice(3).split('; ')];
    it(`is ${code} also for ${names.join(', ')}`, () => {
      for (const name of names) expect(normalizeCountry(name), name).to.equal(code);
    });
  }

  it('is the code for every name that the languages of the table have for a country alone', () => {
    const meant = new Map<string, Set<string>>();
    for (const language of COUNTRY_LANGUAGES) {
      for (const [code, names] of namesIn(language))
        for (const name of names) meant.set(name, (meant.get(name) ?? new Set()).add(code.toLowerCase()));
    }
    const known = [...meant].filter(([name, codes]) => codes.has(normalizeCountry(name)));
    expect(known.length / meant.size).to.be.above(0.97);
    for (const [code, names] of Object.entries({
      de: 'Deutschland; Allemagne; 德国; Німеччина; ドイツ',
      es: 'España; Espagne; 西班牙',
      jp: '日本; Japon; Японія',
      us: 'Estados Unidos; États-Unis; 美国; アメリカ合衆国',
      gb: 'Großbritannien; Royaume-Uni; 英国',
    })) {
      for (const name of names.split('; ')) expect(normalizeCountry(name), name).to.equal(code);
    }
  });

  it('is the folded text for a text that is not the name of a country', () => {
    for (const text of ['Atlantis', 'the', 'St.', 'Republic', 'America South', 'Ostmark']) {
      const code = text === 'St.' ? 'st' : words(text).join(' ');
      expect(normalizeCountry(text), text).to.equal(code);
    }
  });
});

describe('the words of a country', () => {
  it('are those of its text, its codes, and its usual and short names', () => {
    expect(countryWords('United States')).to.deep.equal(['united', 'states', 'us', 'usa', '%us']);
    expect(countryWords('US')).to.deep.equal(['us', 'usa', '%us', 'united', 'states']);
    expect(countryWords('Vietnam')).to.deep.equal(['vietnam', 'vn', 'vnm', '%vn', 'viet', 'nam']);
    expect(countryWords('England')).to.deep.equal(['england']);
    expect(countryWords('GB')).to.include.members(['gb', 'gbr', 'uk', 'united', 'kingdom']);
    expect(countryWords('CD').join(' ')).to.include('democratic republic of the congo');
  });

  it('are not those of another country', () => {
    expect(countryWords('Taiwan')).to.not.include('china');
    expect(countryWords('CG')).to.not.include('democratic');
  });
});
