import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../shared/fs.js';

/**
 * Origins of the people in the sample. Four lines per locale:
 * country | ISO code | dial code | part of the world | number of 220 people
 * names of women | names of men
 * family names
 * city/region/first characters of its postal codes `_` means a space; `native=latin` gives the form for addresses of names in another
 * script.
 */
const LOCALES_TEXT = readFileSync(join(packageRoot, 'services/demo/locales.txt'), 'utf8');

export type Locale = (typeof LOCALES)[number];

const columnsOf = (line: string) => line.replaceAll(' | ', '|').split('|');
const spaced = (text: string) => text.replaceAll('_', ' ');

const namesOf = (list: string) =>
  list.split(' ').map((entry) => {
    const [written = '', latin = asAscii(written)] = spaced(entry).split('=');
    return { written, latin };
  });

const citiesOf = (line: string) =>
  columnsOf(line).map((entry) => {
    const [city = '', region = '', postalPrefix = ''] = spaced(entry).split('/');
    return { city, region, postalPrefix };
  });

const asAscii = (text: string) =>
  text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[łđßı]/g, (letter) => ({ ł: 'l', đ: 'd', ß: 'ss' })[letter] ?? 'i')
    .replace(/[^a-z]+/g, '-');

/** Every locale as often as its weight says, so that a random pick follows the weights. */
export const LOCALES = [...LOCALES_TEXT.matchAll(/(.+)\n(.+)\n(.+)\n(.+)/g)].flatMap(
  ([, head = '', given = '', families = '', cities = '']) => {
    const [country = '', code = '', dial = '', continent = '', weight] = columnsOf(head);
    const [women = [], men = []] = columnsOf(given).map(namesOf);
    const locale = {
      country,
      code,
      dial,
      continent,
      women,
      men,
      families: namesOf(families),
      cities: citiesOf(cities),
    };
    return Array<typeof locale>(Number(weight)).fill(locale);
  },
);
