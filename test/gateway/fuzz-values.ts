/** Values that programs stumble over, and values that a schema allows. */
import { Random } from '../../services/demo/random.js';

export { Random };

export interface JsonSchema {
  type?: string | string[];
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

/** Texts that mean something to a full-text index, a query language, a path, a template or a terminal. */
export const TEXTS = [
  'maria',
  'Maria Cantwell',
  'ocasio cortez',
  'a',
  'é',
  'İ',
  'ß',
  'ﬁ',
  'Ǆ',
  'ς',
  '東京',
  'ความ',
  '한국어',
  '𝔘𝔫𝔦',
  '👩‍👩‍👧‍👦',
  '\u0301',
  'e\u0301\u0323',
  '\u202e',
  '\u200b',
  '\ufeff',
  '\ufffd',
  '\u2028',
  '\u0085',
  '\u0001',
  '\b',
  '\v',
  '\u001f',
  '\x7f',
  "'",
  "''",
  '"',
  '""',
  '"a',
  '"a b"',
  '"" ""',
  '`',
  '\\',
  "\\'",
  '\\\\',
  "a'b",
  "\\' OR 1=1 --",
  "'; DROP TABLE contacts; --",
  '*',
  'a*',
  '*a',
  '^a',
  'a^b',
  'a AND b',
  'a OR b',
  'NOT a',
  'AND',
  'OR',
  'NOT',
  'NEAR',
  'NEAR(a b, 2)',
  'NEAR/3',
  'a NEAR b',
  'first_name:maria',
  'first_name : a',
  '{first_name last_name}: a',
  '- {emails}: a',
  'org:x',
  'txt:(a)',
  'rank:1',
  '(',
  ')',
  '((a)',
  '()',
  '{x:String}',
  '{organization_id:String}',
  '{',
  '}',
  '{}',
  '$'.concat('{1}'),
  '{{a}}',
  '$1',
  '?',
  '?1',
  ':a',
  '@a',
  '#',
  ';',
  '--',
  '/*',
  '*/',
  '/* a */',
  '%',
  '_',
  '%%',
  '100%',
  'a_b',
  '[a-z]',
  '[',
  ']',
  '\\N',
  '\\t',
  '\t',
  '\n',
  '\r\n',
  '\\x00',
  '\\u0000',
  '%00',
  '%2e%2e/',
  '../../etc/passwd',
  '-',
  '--a',
  '-a',
  '-a -b',
  '-"a b"',
  '- a',
  '+',
  '+a',
  '+1 (202) 224-3441',
  '12022243441',
  '0',
  '-0',
  '1e999',
  'NaN',
  'null',
  'true',
  'a@b',
  'a@b.c',
  'ada@example.com',
  '@',
  'example.com',
  'https://',
  'https://www.example.com:80/x?y#z',
  'www.',
  '.',
  '..',
  'xn--bcher-kva.example',
  'US',
  'USA',
  'United States',
  'Türkiye',
  'CÔTE D’IVOIRE',
  'linkedin.com/in/x',
  'de.linkedin.com/in/ü',
  'x/y/z',
  '/',
  '//',
  '?a',
  '#a',
  '192.0.2.1',
  '192.0.2.0/24',
  '0.0.0.0/0',
  '::/0',
  '::1',
  '::ffff:192.0.2.1',
  'fe80::1%eth0',
  '1',
  '192.0.2.0/33',
  '192.0.2.1/',
  '1.2.3.4.5',
  '2026-02-30',
  '2026-11-01',
  '0000-01-01',
  '9999-12-31',
  '2026-11-01T00:00:00Z',
  '9999-12-31T23:59:59.999Z',
  '0000-01-01T00:00:00Z',
  '<script>alert(1)</script>',
  '\u001b[31m',
  'a\u0000b'.replace('\u0000', '\u0002'),
  'ACTIVE',
  'active',
  'desc',
  'con_1',
  'aud_1',
  'org_b',
  'constructor',
  '__proto__',
  'prototype',
  'toString',
  'hasOwnProperty',
  'a b c d e f g h i j k l',
  'a b c d e f g h i j k l m',
  '"a b" c -d e*',
] as const;

/** Parts of which random words are made. */
const ALPHABETS: readonly (readonly [number, number])[] = [
  [0x20, 0x7e],
  [0x20, 0x7e],
  [0x61, 0x7a],
  [0xa0, 0x24f],
  [0x300, 0x36f],
  [0x370, 0x5ff],
  [0x600, 0x6ff],
  [0x900, 0xdff],
  [0x1e00, 0x1fff],
  [0x2000, 0x206f],
  [0x3040, 0x30ff],
  [0x4e00, 0x9fff],
  [0xac00, 0xd7a3],
  [0xe000, 0xf8ff],
  [0xfb00, 0xffef],
  [0x10000, 0x10ffff],
  [0x1d400, 0x1d7ff],
  [0x1f300, 0x1faff],
  [0x20000, 0x2a6df],
];

/** Text of one or a few alphabets; never half of a surrogate pair. */
export function unicode(random: Random, length: number): string {
  let text = '';
  let alphabet = random.pick(ALPHABETS);
  for (let at = 0; at < length; at++) {
    if (random.chance(0.1)) alphabet = random.pick(ALPHABETS);
    const code = random.between(...(alphabet as [number, number]));
    text += code >= 0xd800 && code <= 0xdfff ? '�' : String.fromCodePoint(code);
  }
  return text;
}

function text(random: Random, maxLength = 1024): string {
  const kind = random.between(0, 9);
  let made: string;
  if (kind < 5) made = random.pick(TEXTS);
  else if (kind < 7) made = unicode(random, random.between(1, 30));
  else if (kind < 9)
    made = `${random.pick(TEXTS)}${random.pick([' ', '', '-', '"', '*'])}${random.pick(TEXTS)}`;
  else
    made = random
      .pick(['x', "'", '\\', '"', '\u{1f600}', 'é', ' a', '*', '('])
      .repeat(Math.min(maxLength, random.pick([63, 64, 128, 200, 1024, 8192])));
  let cut = made.slice(0, maxLength);
  if (!cut.isWellFormed()) cut = cut.slice(0, -1);
  return cut;
}

const NUMBERS = [
  0,
  -0,
  1,
  -1,
  2,
  49,
  50,
  51,
  99,
  150,
  151,
  199,
  200,
  201,
  999,
  1000,
  1001,
  10_000,
  1_000_000,
  1_000_001,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53) + 1,
  2 ** 63,
  2 ** 64,
  1e20,
  1e21,
  1e25,
  1e26,
  1e300,
  -1e300,
  5e-324,
  1.5,
  0.1,
  1e-7,
  1e-13,
  123456789.123456,
];

/** A date, mostly of the days that have figures. */
export function day(random: Random): string {
  if (random.chance(0.12))
    return random.pick([
      '1970-01-01',
      '0000-01-01',
      '0099-12-31',
      '1969-12-31',
      '2149-06-06',
      '2149-06-07',
      '9999-12-31',
      '2024-02-29',
    ]);
  return new Date(Date.UTC(2026, 10, 1) + random.between(-400, 60) * 86_400_000).toISOString().slice(0, 10);
}

/** Ids that exist, so that a part of the requests finds something. */
export const KNOWN_IDS = [
  'con_1',
  'con_2',
  'con_3',
  'aud_1',
  'aud_2',
  'cam_1',
  'cam_2',
  'cre_1',
  'co_1',
  'co_2',
  '1000',
  'com_x',
  'v1',
];

/** A value the schema allows, or nearly. */
export function fitting(random: Random, schema: JsonSchema, name = ''): unknown {
  const types = [schema.type ?? 'string'].flat();
  if (types.includes('null') && random.chance(0.05)) return null;
  if (schema.enum) return random.pick(schema.enum);
  switch (types.find((type) => type !== 'null')) {
    case 'integer': {
      const { minimum = 0, maximum = 1000 } = schema;
      return random.chance(0.3)
        ? random.pick([minimum, maximum])
        : random.between(Math.max(minimum, 0), Math.min(maximum, 300));
    }
    case 'number':
      return random.pick(NUMBERS);
    case 'boolean':
      return random.chance(0.5);
    case 'array': {
      const most = Math.min(schema.maxItems ?? 5, random.chance(0.05) ? 100 : 3);
      const count = random.between(schema.minItems ?? 0, most);
      return Array.from({ length: count }, () => fitting(random, schema.items ?? {}, name));
    }
    case 'object':
      return fittingObject(random, schema);
    default:
      return fittingText(random, schema, name);
  }
}

function fittingText(random: Random, { format, pattern, maxLength }: JsonSchema, name: string): string {
  if (name === 'organization_id' || name === 'organizationId') return 'org_a';
  if (format === 'date') return day(random);
  if (format === 'date-time') {
    const time = random.pick([
      '00:00:00Z',
      '12:30:45.123Z',
      '23:59:59.999999+14:00',
      '00:00:00-12:00',
      '12:00:00z',
      '06:00:00.1+05:30',
    ]);
    return `${day(random)}${random.pick(['T', 'T', 'T', 't'])}${time}`;
  }
  if (format === 'email')
    return random.pick([
      'ada@example.com',
      'ADA@EXAMPLE.COM',
      "o'hara@a.example",
      'x+y@b.c',
      '"a b"@c.d',
      `${'x'.repeat(60)}@example.com`,
    ]);
  if (format?.startsWith('ip'))
    return random.pick([
      '192.0.2.1',
      '192.0.2.0/24',
      '2001:db8::/32',
      '::ffff:1.2.3.4',
      '0.0.0.0/0',
      '255.255.255.255',
    ]);
  if (pattern?.includes('A-Za-z'))
    return random.chance(0.8)
      ? random.pick(KNOWN_IDS)
      : random.pick(['a', '-', '.', ':', '_', 'x'.repeat(128), 'NaN']);
  if (pattern?.includes('0-9'))
    return random.pick([
      '0',
      '1.50',
      '0.000000000001',
      '99999999999999999999999999.999999999999',
      '007',
      '12.3',
    ]);
  if (/_ids?$/.test(name) && random.chance(0.7)) return random.pick(KNOWN_IDS);
  return text(random, maxLength);
}

/** An object with its required fields and some of the others. */
export function fittingObject(
  random: Random,
  { properties = {}, required = [] }: JsonSchema,
): Record<string, unknown> {
  const share = random.pick([0.03, 0.1, 0.25, 0.9]);
  const body: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    if (required.includes(name) || random.chance(share)) body[name] = fitting(random, schema, name);
  }
  return body;
}

/** A value that no schema had in mind. */
export function hostile(random: Random, depth = 0): unknown {
  switch (random.between(0, depth > 2 ? 7 : 10)) {
    case 0:
      return random.pick(NUMBERS);
    case 1:
      return random.pick([null, true, false, '', ' ', [], {}, [[]], [null], [''], [{}]]);
    case 2:
      return unicode(random, random.between(1, 2000));
    case 3:
      return random.pick(TEXTS).repeat(random.pick([1, 3, 40]));
    case 4:
      return random.pick(['a\u0000b', '\u0000', '\ud800', 'a\udfffb', '\udc00\ud800', '\ud83d']);
    case 5:
    case 6:
    case 7:
      return random.pick(TEXTS);
    case 8:
      return Array.from({ length: random.pick([1, 2, 51, 101, 300]) }, () => random.pick(NUMBERS));
    case 9:
      return Array.from({ length: random.between(0, 4) }, () => hostile(random, depth + 1));
    default:
      return {
        [random.pick(['a', '', 'constructor', 'toString', '\ud800', 'é'])]: hostile(random, depth + 1),
      };
  }
}
