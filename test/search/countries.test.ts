import { expect } from 'chai';
import { countryWords, normalizeCountry } from '../../services/search/countries.js';
import { words } from '../../services/shared/text.js';

/** ISO 3166-1: alpha-2, alpha-3, the short name and, where another one is usual, that name. */
const ISO_3166 = `
AD AND Andorra
AE ARE United Arab Emirates
AF AFG Afghanistan
AG ATG Antigua and Barbuda
AI AIA Anguilla
AL ALB Albania
AM ARM Armenia
AO AGO Angola
AQ ATA Antarctica
AR ARG Argentina
AS ASM American Samoa
AT AUT Austria
AU AUS Australia
AW ABW Aruba
AX ALA Åland Islands
AZ AZE Azerbaijan
BA BIH Bosnia and Herzegovina
BB BRB Barbados
BD BGD Bangladesh
BE BEL Belgium
BF BFA Burkina Faso
BG BGR Bulgaria
BH BHR Bahrain
BI BDI Burundi
BJ BEN Benin
BL BLM Saint Barthélemy
BM BMU Bermuda
BN BRN Brunei Darussalam
BO BOL Bolivia, Plurinational State of | Bolivia
BQ BES Bonaire, Sint Eustatius and Saba
BR BRA Brazil
BS BHS Bahamas
BT BTN Bhutan
BV BVT Bouvet Island
BW BWA Botswana
BY BLR Belarus
BZ BLZ Belize
CA CAN Canada
CC CCK Cocos (Keeling) Islands
CD COD Congo, The Democratic Republic of the
CF CAF Central African Republic
CG COG Congo
CH CHE Switzerland
CI CIV Côte d'Ivoire
CK COK Cook Islands
CL CHL Chile
CM CMR Cameroon
CN CHN China
CO COL Colombia
CR CRI Costa Rica
CU CUB Cuba
CV CPV Cabo Verde
CW CUW Curaçao
CX CXR Christmas Island
CY CYP Cyprus
CZ CZE Czechia
DE DEU Germany
DJ DJI Djibouti
DK DNK Denmark
DM DMA Dominica
DO DOM Dominican Republic
DZ DZA Algeria
EC ECU Ecuador
EE EST Estonia
EG EGY Egypt
EH ESH Western Sahara
ER ERI Eritrea
ES ESP Spain
ET ETH Ethiopia
FI FIN Finland
FJ FJI Fiji
FK FLK Falkland Islands (Malvinas)
FM FSM Micronesia, Federated States of
FO FRO Faroe Islands
FR FRA France
GA GAB Gabon
GB GBR United Kingdom
GD GRD Grenada
GE GEO Georgia
GF GUF French Guiana
GG GGY Guernsey
GH GHA Ghana
GI GIB Gibraltar
GL GRL Greenland
GM GMB Gambia
GN GIN Guinea
GP GLP Guadeloupe
GQ GNQ Equatorial Guinea
GR GRC Greece
GS SGS South Georgia and the South Sandwich Islands
GT GTM Guatemala
GU GUM Guam
GW GNB Guinea-Bissau
GY GUY Guyana
HK HKG Hong Kong
HM HMD Heard Island and McDonald Islands
HN HND Honduras
HR HRV Croatia
HT HTI Haiti
HU HUN Hungary
ID IDN Indonesia
IE IRL Ireland
IL ISR Israel
IM IMN Isle of Man
IN IND India
IO IOT British Indian Ocean Territory
IQ IRQ Iraq
IR IRN Iran, Islamic Republic of | Iran
IS ISL Iceland
IT ITA Italy
JE JEY Jersey
JM JAM Jamaica
JO JOR Jordan
JP JPN Japan
KE KEN Kenya
KG KGZ Kyrgyzstan
KH KHM Cambodia
KI KIR Kiribati
KM COM Comoros
KN KNA Saint Kitts and Nevis
KP PRK Korea, Democratic People's Republic of | North Korea
KR KOR Korea, Republic of | South Korea
KW KWT Kuwait
KY CYM Cayman Islands
KZ KAZ Kazakhstan
LA LAO Lao People's Democratic Republic | Laos
LB LBN Lebanon
LC LCA Saint Lucia
LI LIE Liechtenstein
LK LKA Sri Lanka
LR LBR Liberia
LS LSO Lesotho
LT LTU Lithuania
LU LUX Luxembourg
LV LVA Latvia
LY LBY Libya
MA MAR Morocco
MC MCO Monaco
MD MDA Moldova, Republic of | Moldova
ME MNE Montenegro
MF MAF Saint Martin (French part)
MG MDG Madagascar
MH MHL Marshall Islands
MK MKD North Macedonia
ML MLI Mali
MM MMR Myanmar
MN MNG Mongolia
MO MAC Macao
MP MNP Northern Mariana Islands
MQ MTQ Martinique
MR MRT Mauritania
MS MSR Montserrat
MT MLT Malta
MU MUS Mauritius
MV MDV Maldives
MW MWI Malawi
MX MEX Mexico
MY MYS Malaysia
MZ MOZ Mozambique
NA NAM Namibia
NC NCL New Caledonia
NE NER Niger
NF NFK Norfolk Island
NG NGA Nigeria
NI NIC Nicaragua
NL NLD Netherlands
NO NOR Norway
NP NPL Nepal
NR NRU Nauru
NU NIU Niue
NZ NZL New Zealand
OM OMN Oman
PA PAN Panama
PE PER Peru
PF PYF French Polynesia
PG PNG Papua New Guinea
PH PHL Philippines
PK PAK Pakistan
PL POL Poland
PM SPM Saint Pierre and Miquelon
PN PCN Pitcairn
PR PRI Puerto Rico
PS PSE Palestine, State of
PT PRT Portugal
PW PLW Palau
PY PRY Paraguay
QA QAT Qatar
RE REU Réunion
RO ROU Romania
RS SRB Serbia
RU RUS Russian Federation
RW RWA Rwanda
SA SAU Saudi Arabia
SB SLB Solomon Islands
SC SYC Seychelles
SD SDN Sudan
SE SWE Sweden
SG SGP Singapore
SH SHN Saint Helena, Ascension and Tristan da Cunha
SI SVN Slovenia
SJ SJM Svalbard and Jan Mayen
SK SVK Slovakia
SL SLE Sierra Leone
SM SMR San Marino
SN SEN Senegal
SO SOM Somalia
SR SUR Suriname
SS SSD South Sudan
ST STP Sao Tome and Principe
SV SLV El Salvador
SX SXM Sint Maarten (Dutch part)
SY SYR Syrian Arab Republic | Syria
SZ SWZ Eswatini
TC TCA Turks and Caicos Islands
TD TCD Chad
TF ATF French Southern Territories
TG TGO Togo
TH THA Thailand
TJ TJK Tajikistan
TK TKL Tokelau
TL TLS Timor-Leste
TM TKM Turkmenistan
TN TUN Tunisia
TO TON Tonga
TR TUR Türkiye
TT TTO Trinidad and Tobago
TV TUV Tuvalu
TW TWN Taiwan, Province of China | Taiwan
TZ TZA Tanzania, United Republic of | Tanzania
UA UKR Ukraine
UG UGA Uganda
UM UMI United States Minor Outlying Islands
US USA United States
UY URY Uruguay
UZ UZB Uzbekistan
VA VAT Holy See (Vatican City State)
VC VCT Saint Vincent and the Grenadines
VE VEN Venezuela, Bolivarian Republic of | Venezuela
VG VGB Virgin Islands, British
VI VIR Virgin Islands, U.S.
VN VNM Viet Nam | Vietnam
VU VUT Vanuatu
WF WLF Wallis and Futuna
WS WSM Samoa
YE YEM Yemen
YT MYT Mayotte
ZA ZAF South Africa
ZM ZMB Zambia
ZW ZWE Zimbabwe
`;
const countries = ISO_3166.trim()
  .split('\n')
  .map((line) => {
    const [alpha2 = '', alpha3 = '', ...rest] = line.split(' ');
    return { code: alpha2.toLowerCase(), alpha2, alpha3, names: rest.join(' ').split(' | ') };
  });

describe('the normal form of a country', () => {
  it('is known for the 249 countries of ISO 3166', () => {
    expect(countries).to.have.lengthOf(249);
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
