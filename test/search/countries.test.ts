import { expect } from 'chai';
import isoCountries from 'i18n-iso-countries';
import { countryWords, normalizeCountry } from '../../services/search/countries.js';
import { words } from '../../services/shared/text.js';

/** ISO 3166-1: alpha-2, alpha-3, the short name and, where another one is usual, that name; those that are written in several ways. */
const ISO_3166 = `
AG ATG Antigua and Barbuda
AX ALA Åland Islands
BA BIH Bosnia and Herzegovina
BL BLM Saint Barthélemy
BO BOL Bolivia, Plurinational State of | Bolivia
BQ BES Bonaire, Sint Eustatius and Saba
CC CCK Cocos (Keeling) Islands
CD COD Congo, The Democratic Republic of the
CG COG Congo
CI CIV Côte d'Ivoire
CW CUW Curaçao
DM DMA Dominica
DO DOM Dominican Republic
FK FLK Falkland Islands (Malvinas)
FM FSM Micronesia, Federated States of
GB GBR United Kingdom
GN GIN Guinea
GQ GNQ Equatorial Guinea
GS SGS South Georgia and the South Sandwich Islands
HM HMD Heard Island and McDonald Islands
IR IRN Iran, Islamic Republic of | Iran
KN KNA Saint Kitts and Nevis
KP PRK Korea, Democratic People's Republic of | North Korea
KR KOR Korea, Republic of | South Korea
LA LAO Lao People's Democratic Republic | Laos
LC LCA Saint Lucia
MD MDA Moldova, Republic of | Moldova
MF MAF Saint Martin (French part)
NE NER Niger
NG NGA Nigeria
NL NLD Netherlands
PM SPM Saint Pierre and Miquelon
PS PSE Palestine, State of
RE REU Réunion
SH SHN Saint Helena, Ascension and Tristan da Cunha
SJ SJM Svalbard and Jan Mayen
ST STP Sao Tome and Principe
SX SXM Sint Maarten (Dutch part)
SY SYR Syrian Arab Republic | Syria
TC TCA Turks and Caicos Islands
TR TUR Türkiye
TT TTO Trinidad and Tobago
TW TWN Taiwan, Province of China | Taiwan
TZ TZA Tanzania, United Republic of | Tanzania
US USA United States
VA VAT Holy See (Vatican City State)
VC VCT Saint Vincent and the Grenadines
VE VEN Venezuela, Bolivarian Republic of | Venezuela
VG VGB Virgin Islands, British
VI VIR Virgin Islands, U.S.
VN VNM Viet Nam | Vietnam
WF WLF Wallis and Futuna
`;
const countries = ISO_3166.trim()
  .split('\n')
  .map((line) => {
    const [alpha2 = '', alpha3 = '', ...rest] = line.split(' ');
    return { code: alpha2.toLowerCase(), alpha2, alpha3, names: rest.join(' ').split(' | ') };
  });

describe('the normal form of a country', () => {
  it('is the code for every code and name of ISO 3166', () => {
    const all = isoCountries.getNames('en', { select: 'all' });
    expect(Object.keys(all)).to.have.length.above(240);
    for (const [alpha2, names] of Object.entries(all)) {
      const alpha3 = isoCountries.alpha2ToAlpha3(alpha2) ?? '';
      // The package gives "Congo" to both.
      for (const given of [alpha2, alpha3, ...names].filter((name) => name !== 'Congo'))
        expect(normalizeCountry(given), given).to.equal(alpha2.toLowerCase());
      expect(countryWords(alpha2), alpha2).to.include.members(
        [alpha2, alpha3].map((code) => code.toLowerCase()),
      );
    }
  });

  for (const { code, alpha2, alpha3, names } of countries) {
    it(`is ${code} for ${[alpha2, alpha3, ...names].join(', ')}`, () => {
      for (const given of [alpha2, alpha3, code, ...names])
        expect(normalizeCountry(given), given).to.equal(code);
      for (const name of names) {
        const [first = '', ...rest] = name.split(', ');
        const spellings = [
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
        for (const spelling of spellings) expect(normalizeCountry(spelling), spelling).to.equal(code);
      }
      for (const held of [alpha2, alpha3, ...names]) {
        expect(countryWords(held), held).to.include.members([code, alpha3.toLowerCase()]);
      }
      const [usual = ''] = names.slice(-1);
      if (usual === names[0] && !usual.includes(',') && !usual.includes('(')) {
        expect(countryWords(alpha2), alpha2).to.include.members(words(usual));
      }
    });
  }

  const usual: [string, string[]][] = [
    [
      'cd',
      [
        'DR Congo',
        'DRC',
        'Congo-Kinshasa',
        'Democratic Republic of the Congo',
        'Congo (the Democratic Republic of the)',
      ],
    ],
    ['cg', ['Congo', 'Congo (the)', 'Republic of the Congo', 'Congo, Republic of the', 'Republic of Congo']],
    ['gb', ['UK', 'U.K.', 'Great Britain', 'United Kingdom of Great Britain and Northern Ireland (the)']],
    ['us', ['U.S.', 'U.S.A.', 'United States of America (the)', 'united  states of america']],
    ['vn', ['Vietnam', 'Viet Nam', 'VIETNAM']],
    ['kr', ['South Korea', 'Korea, South', 'Korea (the Republic of)', 'Republic of Korea']],
    ['kp', ['North Korea', "Democratic People's Republic of Korea", 'DPRK']],
    ['cv', ['Cape Verde', 'Cabo Verde']],
    ['cz', ['Czech Republic']],
    ['ci', ['Ivory Coast', 'Cote d’Ivoire', 'Côte dʼIvoire']],
    ['bn', ['Brunei']],
    ['fk', ['Falkland Islands (the) [Malvinas]']],
    ['mm', ['Burma']],
    ['mk', ['Macedonia', 'The Republic of North Macedonia']],
    ['mo', ['Macau']],
    ['nl', ['Holland', 'The Netherlands', 'Netherlands (Kingdom of the)']],
    ['ps', ['Palestine', 'State of Palestine']],
    ['ru', ['Russia']],
    ['sh', ['St. Helena']],
    ['sz', ['Swaziland']],
    ['tl', ['East Timor']],
    ['tr', ['Turkey', 'Turkiye']],
    ['tz', ['Tanzania', 'United Republic of Tanzania']],
    ['va', ['Vatican', 'Vatican City', 'Holy See (the)']],
    ['vi', ['US Virgin Islands', 'U.S. Virgin Islands', 'United States Virgin Islands']],
    ['vg', ['British Virgin Islands']],
    ['ae', ['UAE']],
    ['xk', ['Kosovo', 'XKX']],
  ];
  for (const [code, names] of usual) {
    it(`is ${code} also for ${names.join(', ')}`, () => {
      for (const name of names) expect(normalizeCountry(name), name).to.equal(code);
    });
  }

  it('is the folded text for a text that is not the name of a country', () => {
    for (const text of ['Atlantis', 'the', 'St.', 'Republic', 'America South', 'Österreich']) {
      const code = text === 'St.' ? 'st' : words(text).join(' ');
      expect(normalizeCountry(text), text).to.equal(code);
    }
  });
});

describe('the words of a country', () => {
  it('are those of its text, its codes, and its usual and short names', () => {
    expect(countryWords('United States')).to.deep.equal(['united', 'states', 'us', 'usa']);
    expect(countryWords('US')).to.deep.equal(['us', 'usa', 'united', 'states']);
    expect(countryWords('Vietnam')).to.deep.equal(['vietnam', 'vn', 'vnm', 'viet', 'nam']);
    expect(countryWords('England')).to.deep.equal(['england']);
    expect(countryWords('GB')).to.include.members(['gb', 'gbr', 'uk', 'united', 'kingdom']);
    expect(countryWords('CD').join(' ')).to.include('democratic republic of the congo');
  });

  it('are not those of another country', () => {
    expect(countryWords('Taiwan')).to.not.include('china');
    expect(countryWords('CG')).to.not.include('democratic');
  });
});
