/** The countries of ISO 3166 by their codes and their names in many languages (contract 3.8). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
// Imports only the index of the package, because the entry of the package reads the names in 78 languages.
import iso from 'i18n-iso-countries/index.js';
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
import { memoize } from '../shared/cache.js';
import { packageRoot } from '../shared/fs.js';
import { codePoints, foldValue, plainAscii, words } from '../shared/text.js';
import { rowsOf } from './equivalents.js';
import type { QueryTerm, TextQuery, WordTerm } from './query.js';

/**
 * Names that the package lacks or lists last. The usual name comes first. "Congo" alone is CG in ISO 3166, but the package lists the name
 * for both countries.
 */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  AE: ['United Arab Emirates', 'Emirates'],
  AX: ['Åland'],
  BA: ['Bosnia and Herzegovina', 'Bosnia-Herzegovina', 'Bosnia'],
  BN: ['Brunei'],
  BO: ['Bolivia', 'Bolivia (Plurinational State of)'],
  BQ: ['Caribbean Netherlands', 'Bonaire'],
  CC: ['Cocos Islands', 'Keeling Islands'],
  CD: ['Democratic Republic of the Congo', 'DR Congo', 'DRC', 'Congo-Kinshasa', 'Zaire'],
  CG: ['Congo', 'Congo-Brazzaville'],
  CN: ['China', 'Mainland China', 'PRC', "People's Republic of China"],
  CV: ['Cabo Verde'],
  CZ: ['Czechia'],
  DE: ['Germany', 'Federal Republic of Germany', 'Bundesrepublik Deutschland', 'BRD'],
  FK: ['Falkland Islands', 'Falklands'],
  FM: ['Micronesia'],
  FO: ['Faroe Islands', 'Faeroe Islands', 'Faroes'],
  GB: [
    ...['United Kingdom', 'U.K.', 'Britain', 'United Kingdom of Great Britain and Northern Ireland'],
    ...[
      'Großbritannien',
      'Grande-Bretagne',
      'Gran Bretaña',
      'Gran Bretagna',
      'Grã-Bretanha',
      'Groot-Brittannië',
    ],
    ...['Storbritannien', 'Storbritannia', 'Büyük Britanya', 'Великобритания', 'Велика Британія'],
  ],
  GM: ['Gambia'],
  GR: ['Greece', 'Hellas'],
  HK: ['Hong Kong', 'Hong Kong SAR', 'Hong Kong SAR China'],
  IE: ['Ireland', 'Republic of Ireland', 'Eire'],
  IN: ['India', 'Bharat'],
  IR: ['Iran', 'Iran (Islamic Republic of)'],
  KG: ['Kyrgyzstan', 'Kyrgyz Republic'],
  KP: ['North Korea', "Korea (the Democratic People's Republic of)", 'DPRK'],
  KR: ['South Korea', 'Korea'],
  LA: ['Laos'],
  MD: ['Moldova'],
  MF: ['Saint Martin'],
  MK: ['North Macedonia', 'Macedonia', 'Former Yugoslav Republic of Macedonia'],
  MM: ['Myanmar', 'Burma'],
  MO: ['Macao', 'Macau', 'Macao SAR', 'Macau SAR', 'Macao SAR China'],
  NL: ['Netherlands', 'Holland'],
  PS: ['Palestine', 'Palestinian Territories', 'Palestinian Territory', 'Occupied Palestinian Territory'],
  RU: ['Russia'],
  SA: ['Saudi Arabia', 'KSA'],
  SH: ['Saint Helena', 'Saint Helena, Ascension and Tristan da Cunha'],
  SJ: ['Svalbard and Jan Mayen', 'Svalbard'],
  SX: ['Sint Maarten'],
  SY: ['Syria'],
  SZ: ['Eswatini', 'Swaziland'],
  TH: ['Thailand', 'ประเทศไทย'],
  TL: ['Timor-Leste', 'East Timor'],
  TR: ['Turkey'],
  TT: ['Trinidad and Tobago', 'Trinidad'],
  TW: ['Taiwan'],
  TZ: ['Tanzania'],
  UM: [
    'United States Minor Outlying Islands',
    'US Minor Outlying Islands',
    'US Outlying Islands',
    'U.S. Outlying Islands',
  ],
  US: ['United States'],
  VA: ['Vatican City', 'Vatican', 'Holy See', 'Vatican City State'],
  VE: ['Venezuela', 'Venezuela (Bolivarian Republic of)'],
  VG: ['British Virgin Islands'],
  VI: ['US Virgin Islands', 'United States Virgin Islands'],
  VN: ['Vietnam', 'Viet Nam'],
  XK: ['Kosovo', 'XKX'],
  ZA: ['South Africa', 'RSA'],
};

interface Country {
  /** Alpha-2 and alpha-3 code, in lower case. */
  codes: string[];
  /** Names of the country; the usual name comes first. */
  names: string[];
}

/** Countries by their lower-case alpha-2 code. */
const byCode = new Map<string, Country>();
const codeByKey = new Map<string, string>();

iso.registerLocale(english);
for (const [alpha2, listed] of Object.entries(
  iso.getNames('en', { select: 'all' }) as Record<string, string[]>,
)) {
  const codes = [alpha2, iso.alpha2ToAlpha3(alpha2) ?? alpha2].map((code) => code.toLowerCase());
  const own = NAMES[alpha2] ?? [];
  byCode.set(alpha2.toLowerCase(), { codes, names: [...new Set([...own, ...listed])] });
}
for (const [code, { codes, names }] of byCode) {
  for (const name of names) if (name !== 'Congo' || code === 'cg') codeByKey.set(keyOf(name), code);
  for (const each of codes) codeByKey.set(each, code);
}

/** Country codes by name in other languages. Null if a name means two countries, or if the name is also a code or an English name. */
const foreign = new Map<string, string | null>();
for (const row of rowsOf(readFileSync(join(packageRoot, 'services/search/country-names.txt'), 'utf8'))) {
  const [code = '', names = ''] = row.split(': ');
  for (const name of names.split(' | ')) {
    const key = keyOf(name);
    const known = foreign.get(key);
    foreign.set(key, known === undefined || known === code ? code : null);
  }
}
for (const [key, code] of foreign) {
  if (code !== null && key !== '' && !codeByKey.has(key)) codeByKey.set(key, code.toLowerCase());
}

/** Key that is equal for all variants of a name: "Saint Lucia" and "St. Lucia", "Korea, Republic of" and "the Republic of Korea". */
function keyOf(text: string): string {
  const all = words(text.replaceAll('&', ' and ').replace(/['’ʼ‘`]/g, ''));
  if (all.length === 1) return all[0] as string;
  return all
    .filter((word) => word !== 'the')
    .map((word) => (word === 'st' ? 'saint' : word))
    .sort()
    .join(' ');
}

/** Lower-case ISO 3166 alpha-2 code for a code or name of a country. */
export const countryCode = (text: string): string | undefined => codeByKey.get(keyOf(text));

/** The code of a country (`countryCode`), otherwise the folded text. */
export const normalizeCountry = memoize((text) => countryCode(text) ?? foldValue(text));

/** Whether a name is short. Longer names contain words like "of" and "america", which would match half of all company names. */
const isShort = (name: string[]) => name.length <= 2 && name.every((word) => word.length > 1);

/** A word that stands for a country under any of its names. No other word begins with a percent sign. */
const countryWord = (code: string) => `%${code}`;

/** Minimum letters of a Latin name to recognize. Shorter words are names of people, or codes, in too many languages. */
const MIN_LATIN_LETTERS = 4;
/** Maximum words of a country name to recognize in a query. */
const MAX_NAME_WORDS = 4;

/** The query, with the countries that its words name in any language. */
export function withCountries(query: TextQuery): TextQuery {
  const required: QueryTerm[] = [...query.required];
  const wordAt = (index: number) => {
    const term = required[index];
    return term?.kind === 'word' && term.prefix ? term.word : undefined;
  };
  for (let start = 0; start < required.length; start++) {
    const name: string[] = [];
    for (let end = start; end < start + MAX_NAME_WORDS && wordAt(end) !== undefined; end++) {
      name.push(wordAt(end) as string);
      const text = name.join(' ');
      const code = codeByKey.get(keyOf(text));
      if (code === undefined || (plainAscii.test(text) && codePoints(text) < MIN_LATIN_LETTERS)) continue;
      for (let at = start; at <= end; at++) {
        const term = required[at] as WordTerm;
        const joined = new Set([...(term.joined ?? []), countryWord(code)]);
        required[at] = { ...term, joined: [...joined] };
      }
    }
  }
  return { ...query, required };
}

/** The words of the text, then the codes, the usual name and the short names of the country that the text names. */
export function countryWords(text: string): string[] {
  const value = words(text);
  const country = byCode.get(normalizeCountry(text));
  if (!country) return value;
  const add = (name: string[]) => {
    if (!name.every((word) => value.includes(word))) value.push(...name);
  };
  for (const code of country.codes) add([code]);
  value.push(countryWord(country.codes[0] as string));
  for (const [index, name] of country.names.entries()) {
    const parts = words(name);
    if (index === 0 || isShort(parts)) add(parts);
  }
  return value;
}
