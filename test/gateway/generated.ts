/** Requests and records drawn from the schemas: fitting, slightly wrong, and broken as bytes. */
import type { IncomingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { STREAM_NAMES, STREAMS, type StreamName } from '../../ingest/streams/index.js';
import { endpoints } from '../../services/gateway/api.js';
import { DAY_MS } from '../../services/shared/time.js';

export interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

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
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

export type Body = Record<string, unknown>;
/** Values of fields by name, which replace the values of the schema. */
export type Draws = Record<string, fc.Arbitrary<unknown> | undefined>;

const listed = (texts: string) => texts.split(/ ¦ |\n/);

/** Texts that mean something to a full-text index, a query language, a path, a template or a terminal. */
const TEXTS =
  listed(String.raw`maria ¦ Maria Cantwell ¦ ocasio cortez ¦ a ¦ é ¦ İ ¦ ß ¦ ﬁ ¦ Ǆ ¦ ς ¦ 東京 ¦ ความ ¦ 한국어 ¦ 𝔘𝔫𝔦 ¦ 👩‍👩‍👧‍👦
' ¦ '' ¦ " ¦ "" ¦ "a ¦ "a b" ¦ "" "" ¦ \ ¦ \' ¦ \\ ¦ a'b ¦ \' OR 1=1 -- ¦ '; DROP TABLE contacts; -- ¦ * ¦ a* ¦ *a ¦ ^a ¦ a^b
a AND b ¦ a OR b ¦ NOT a ¦ AND ¦ OR ¦ NOT ¦ NEAR ¦ NEAR(a b, 2) ¦ NEAR/3 ¦ first_name:maria ¦ first_name : a ¦ {first_name last_name}: a
- {emails}: a ¦ org:x ¦ txt:(a) ¦ rank:1 ¦ ( ¦ ) ¦ ((a) ¦ () ¦ {x:String} ¦ {organization_id:String} ¦ { ¦ } ¦ {} ¦ {{a}} ¦ $1 ¦ ? ¦ ?1
:a ¦ @a ¦ # ¦ ; ¦ -- ¦ /* ¦ */ ¦ % ¦ _ ¦ %% ¦ 100% ¦ a_b ¦ [a-z] ¦ [ ¦ ] ¦ \N ¦ \t ¦ \x00 ¦ \u0000 ¦ %00 ¦ %2e%2e/ ¦ ../../etc/passwd
- ¦ --a ¦ -a ¦ -a -b ¦ -"a b" ¦ - a ¦ + ¦ +a ¦ +1 (202) 224-3441 ¦ 12022243441 ¦ 0 ¦ -0 ¦ 1e999 ¦ NaN ¦ null ¦ true
a@b ¦ a@b.c ¦ ada@example.com ¦ @ ¦ example.com ¦ https:// ¦ https://www.example.com:80/x?y#z ¦ www. ¦ . ¦ .. ¦ xn--bcher-kva.example
US ¦ USA ¦ United States ¦ Türkiye ¦ CÔTE D’IVOIRE ¦ de.linkedin.com/in/ü ¦ x/y/z ¦ / ¦ // ¦ 192.0.2.1 ¦ 192.0.2.0/24 ¦ ::/0 ¦ ::ffff:192.0.2.1
fe80::1%eth0 ¦ 192.0.2.0/33 ¦ 192.0.2.1/ ¦ 1.2.3.4.5 ¦ 2026-02-30 ¦ 2026-11-01 ¦ 0000-01-01 ¦ 9999-12-31T23:59:59.999Z ¦ ACTIVE ¦ con_1 ¦ org_b
<script>alert(1)</script> ¦ constructor ¦ __proto__ ¦ toString ¦ a b c d e f g h i j k l m ¦ "a b" c -d e*`);
const BROKEN_TEXTS = ['a\0b', '\0', '\ud800', 'a\udfffb', '\udc00\ud800', '\u202e', '\u0301', '\u001b[31m'];
const NUMBERS = [
  0, 1, -1, 49, 50, 51, 150, 151, 200, 201, 1000, 1001, 10_000, 1_000_001, 2147483648, -2147483648,
  4294967296, 9007199254740991, 9007199254740992, 18446744073709552000, 1e21, 1e26, 1e300, -1e300, 5e-324,
  1.5, 0.1, 1e-13, 123456789.123456,
];
/** Ids of `fuzzRecords`. */
const KNOWN_IDS = listed('con_1 ¦ con_2 ¦ con_3 ¦ aud_1 ¦ aud_2 ¦ cam_1 ¦ cam_2 ¦ cre_1 ¦ co_1 ¦ 1000 ¦ v1');
const DAYS = listed(
  '1970-01-01 ¦ 0000-01-01 ¦ 1969-12-31 ¦ 2149-06-06 ¦ 2149-06-07 ¦ 9999-12-31 ¦ 2024-02-29',
);
const TIMES = listed('T00:00:00Z ¦ T12:30:45.123Z ¦ T23:59:59.999999+14:00 ¦ t12:00:00z ¦ T06:00:00.1+05:30');

export const oneOf = <T>(values: readonly T[]) => fc.constantFrom(...values);
/** The value with a probability of `percent`; otherwise undefined. */
export const maybe = <T>(percent: number, value: fc.Arbitrary<T>) =>
  fc.oneof(
    { weight: 100 - percent, arbitrary: fc.constant(undefined) },
    { weight: percent, arbitrary: value },
  );
const weighted = <T>(...entries: [number, fc.Arbitrary<T>][]) =>
  fc.oneof(...entries.map(([weight, arbitrary]) => ({ weight, arbitrary })));

const aText = oneOf(TEXTS);
const unicode = fc.oneof(fc.string({ unit: 'grapheme', minLength: 1 }), fc.string({ unit: 'binary' }));
const text = weighted<string>(
  [5, aText],
  [2, unicode],
  [2, fc.tuple(aText, oneOf([' ', '', '-', '"', '*']), aText).map((parts) => parts.join(''))],
  [
    1,
    fc
      .tuple(oneOf(["'", '\\', '"', '\u{1f600}', ' a', '*', '(']), oneOf([64, 200, 1024, 8192]))
      .map(([part, times]) => part.repeat(times)),
  ],
);
const aNumber: fc.Arbitrary<number> = fc.oneof(
  oneOf(NUMBERS),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

export const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const day = weighted(
  [1, oneOf(DAYS)],
  [8, fc.integer({ min: -400, max: 60 }).map((days) => dayAt(Date.UTC(2026, 10, 1) + days * DAY_MS))],
);

/** A value that no schema expects. */
const hostile: fc.Arbitrary<unknown> = weighted<unknown>(
  [2, aNumber],
  [2, oneOf([null, true, false, '', ' ', [], {}, [[]], [null], [''], [{}]])],
  [4, text],
  [2, oneOf(BROKEN_TEXTS)],
  [1, fc.array(oneOf(NUMBERS), { minLength: 51, maxLength: 300, size: 'max' })],
  [2, fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' })],
  [1, fc.dictionary(oneOf(['a', '', 'constructor', 'toString', '\ud800']), aText)],
);

const cut = (value: string, maxLength?: number) => value.slice(0, maxLength).toWellFormed().replace(/�$/, '');

/** A value that the schema allows, or nearly allows. */
function fitting(schema: JsonSchema, name = '', draws: Draws = {}): fc.Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => fitting(each, name, draws)));
  const types = [schema.type ?? 'string'].flat();
  const value = fc.oneof(
    fitsType(
      schema,
      types.find((type) => type !== 'null'),
      name,
    ),
  );
  const own = types.includes('null') ? fc.option(value, { freq: 20 }) : value;
  const drawn = draws[name]?.map((text) => (typeof text === 'string' ? cut(text, schema.maxLength) : text));
  return drawn === undefined ? own : weighted([32, drawn], [1, own]);
}

function fitsType(schema: JsonSchema, type: string | undefined, name: string): fc.Arbitrary<unknown> {
  if (schema.enum) return oneOf(schema.enum);
  const { minimum = 0, maximum = 1000, minItems = 0, maxItems = 100 } = schema;
  const least = Math.max(minimum, 0);
  if (type === 'integer')
    return weighted(
      [1, oneOf([minimum, maximum])],
      [2, fc.integer({ min: least, max: Math.max(least, Math.min(maximum, 300)) })],
    );
  if (type === 'number') return aNumber;
  if (type === 'boolean') return fc.boolean();
  if (type === undefined) return fc.constant(null);
  if (type === 'object') return object(schema);
  if (type !== 'array') return fitsFormat(schema, name);
  const item = fitting(schema.items ?? {}, name);
  const few = Math.max(minItems, Math.min(maxItems, 3));
  return weighted(
    [19, fc.array(item, { minLength: minItems, maxLength: few })],
    [1, fc.array(item, { minLength: minItems, maxLength: Math.min(maxItems, 100), size: 'max' })],
  );
}

function fitsFormat({ format, pattern, maxLength }: JsonSchema, name: string): fc.Arbitrary<unknown> {
  if (/^organization_?id$/i.test(name)) return fc.constant('org_a');
  if (format === 'date') return day;
  if (format === 'date-time') return fc.tuple(day, oneOf(TIMES)).map((parts) => parts.join(''));
  if (format?.endsWith('email'))
    return fc.oneof(fc.emailAddress(), oneOf(['ada@example.com', 'ADA@EXAMPLE.COM', '"a b"@c.d']));
  if (format?.startsWith('ip'))
    return fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      oneOf(['192.0.2.0/24', '2001:db8::/32', '::ffff:1.2.3.4', '0.0.0.0/0']),
    );
  const own =
    pattern === undefined
      ? text.map((value) => cut(value, maxLength))
      : fc.stringMatching(new RegExp(pattern, 'u'));
  return /_ids?$|^id$|Id$/.test(name) ? weighted([3, oneOf(KNOWN_IDS)], [1, own]) : own;
}

/** An object with its required fields and some optional fields. `shares` gives their percentages; `likely` gives percentages by name. */
export function object(
  schema: JsonSchema,
  draws: Draws = {},
  { shares, likely = {} }: { shares?: readonly number[]; likely?: Record<string, number> } = {},
): fc.Arbitrary<Body> {
  const { properties = {}, required = [] } = schema;
  const fields = (share: number) =>
    Object.entries(properties).map(([name, property]) => {
      const value = fitting(property, name, draws);
      return [name, required.includes(name) ? value : maybe(likely[name] ?? share, value)] as const;
    });
  // On average one or two fields are present, or a quarter, or most.
  const one = Math.ceil(100 / (1 + Object.keys(properties).length - required.length));
  const chosen = shares ?? [one, one, Math.min(2 * one, 90), 25, 90];
  return fc.oneof(...chosen.map((share) => fc.record(Object.fromEntries(fields(share)))));
}

const NAMES = [
  '__proto__',
  'constructor',
  '',
  'a/b~c',
  'firstName',
  'query ',
  '\ud800',
  'é',
  'x'.repeat(3000),
];

/** A fitting object, sometimes with a few fields that do not fit. */
export function nearlyFitting(schema: JsonSchema): fc.Arbitrary<Body> {
  const name = weighted([6, oneOf(Object.keys(schema.properties ?? {}))], [1, oneOf(NAMES)]);
  const change = fc.tuple(name, maybe(90, hostile));
  const changes = weighted<[string, unknown][]>(
    [4, fc.constant([])],
    [2, fc.tuple(change)],
    [2, fc.array(change, { maxLength: 6 })],
  );
  return fc.tuple(object(schema), changes).map(([body, changed]) => {
    const all = { ...body, ...inOrder(body) };
    // Assigning `__proto__` would set no field.
    for (const [field, value] of changed)
      Object.defineProperty(all, field, { value, enumerable: true, configurable: true, writable: true });
    return all;
  });
}

/** Dates in order and not too far apart; otherwise hardly any advertising request would reach a store. */
function inOrder({ start_date: a, end_date: b }: Body): Body {
  if (typeof a !== 'string' || typeof b !== 'string') return {};
  const [from, to] = [a, b].sort() as [string, string];
  return { start_date: from, end_date: Date.parse(to) - Date.parse(from) > 3659 * DAY_MS ? from : to };
}

const WHOLE_BODIES = listed(
  String.raw` ¦ null ¦ [] ¦ "x" ¦ 0 ¦ { ¦ } ¦ {"a":1}x ¦ {"\u005f_proto__":{"a":1}} ¦ {"constructor":{"prototype":{}}} ¦ NaN ¦ {'a':1}`,
);
const INSERTED = listed(String.raw`, ¦ } ¦ " ¦ \ ¦ [ ¦ 1e999 ¦ \ud800 ¦ ,"limit":1,"limit":"x"`);
const DEPTHS = [100, 5000, 100_000].flatMap((depth) =>
  ['[1]', '{"a":1}'].map((pair) => {
    const [open, close] = pair.split('1') as [string, string];
    return `{"query":${open.repeat(depth)}1${close.repeat(depth)}}`;
  }),
);

type Change<T> = (value: T) => T;
/** The same bytes, with a few changed. */
const mutation: fc.Arbitrary<Change<Buffer>> = weighted<Change<Buffer>>(
  [4, fc.double({ min: 0, max: 1 }).map((share) => (bytes) => bytes.subarray(0, share * bytes.length))],
  [
    8,
    fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }).map((flips) => (bytes) => {
      const copy = Buffer.from(bytes);
      for (const [at, byte] of flips) copy[at % bytes.length] = byte;
      return copy;
    }),
  ],
  [
    8,
    fc.tuple(fc.nat(), oneOf(INSERTED)).map(([at, added]) => (bytes) => {
      const place = at % (bytes.length + 1);
      return Buffer.concat([bytes.subarray(0, place), Buffer.from(added), bytes.subarray(place)]);
    }),
  ],
  [4, oneOf(WHOLE_BODIES).map((body) => () => Buffer.from(body))],
  [4, oneOf(['\ufeff', '\u00ff']).map((mark) => (bytes) => Buffer.concat([Buffer.from(mark), bytes]))],
  [1, oneOf(DEPTHS).map((body) => () => Buffer.from(body))],
);

const ODD_VALUES = listed(
  '1 ¦ -1 ¦ 1e3 ¦ 10001 ¦ 99999999999999999999 ¦ TRUE ¦ true ¦  ¦ %20 ¦ %ff ¦ % ¦ return ¦ reject',
);
const ODD_PAIR = fc.tuple(
  oneOf(
    listed('required_credits ¦ dry_run ¦ on_duplicate ¦ __proto__ ¦ constructor ¦ x ¦ %ff ¦ %00 ¦ a[b] ¦ '),
  ),
  fc.oneof(oneOf(ODD_VALUES), aText.map(encodeURIComponent)),
);

export function queryString(schema?: JsonSchema): fc.Arbitrary<string> {
  const own = Object.entries(schema?.properties ?? {}).map(([name, property]) =>
    maybe(
      60,
      fitting(property).map((value) => [name, encodeURIComponent(cut(String(value)))]),
    ),
  );
  return fc.tuple(...own, maybe(30, ODD_PAIR)).map((pairs) => {
    const given = pairs.filter((pair) => pair !== undefined);
    return given.length === 0 ? '' : `?${given.map((pair) => pair.join('=')).join('&')}`;
  });
}

const ODD_HEADERS = Object.entries({
  'Content-Type':
    'application/json; charset=utf-8 ¦ application/json;charset=latin1 ¦ text/plain ¦  ¦ application/json; charset ¦ application/json; ;',
  Accept:
    '*/* ¦ text/html ¦  ¦ ; ¦ application/json;q=0 ¦ application/*;q=0.1, text/* ¦ ,,, ¦ ÿ ¦ text/csv ¦ application/x-ndjson',
  Prefer: 'handling=lenient ¦ handling=strict ¦ handling="lenient", wait=5 ¦ return=minimal ¦ ÿ ¦ =;,',
  'Idempotency-Key': `k1 ¦ "k1" ¦ "k3 ¦  ¦ "" ¦ a b ¦ é ¦ ${'x'.repeat(255)} ¦ ${'x'.repeat(256)} ¦ ' ¦ \\ ¦ {} ¦ *`,
  'X-Request-Id': `abc ¦  ¦ a b ¦ é ¦ ${'x'.repeat(128)} ¦ ${'x'.repeat(129)} ¦ " ¦ <> ¦ {"a":1}`,
  'X-Api-Key': ` ¦ nonsense ¦ rl_live_ ¦ ÿ ¦ rl_live_00000000_${'0'.repeat(38)}`,
  'Content-Encoding': 'gzip ¦ identity ¦ br ¦  ¦ ÿ',
  Origin: 'null ¦ https://elsewhere.example ¦  ¦ ÿ ¦ http://',
  Range: 'bytes=0-1',
  Expect: '100-continue',
}).flatMap(([name, values]) => listed(values).map((value) => ({ [name]: value })));
const ODD_KEYS = ODD_HEADERS.filter((header) => 'X-Api-Key' in header);
const ODD_PATHS = listed(`/ ¦ x ¦ /%ff ¦ //x ¦ /%2e%2e ¦ /${'x'.repeat(5000)} ¦ /%00`);

const headers = (path: string) =>
  fc.tuple(
    maybe(20, fc.constant({ Prefer: 'handling=lenient' })),
    maybe(
      /\/(?:create|add|remove)/.test(path) ? 30 : 0,
      fc.nat(30).map((number) => ({ 'Idempotency-Key': `k${number}` })),
    ),
    maybe(20, oneOf(ODD_HEADERS)),
    maybe(4, oneOf(ODD_KEYS)),
  );

function operationRequest(
  { path, request, query }: (typeof endpoints)[number],
  key: string,
): fc.Arbitrary<FuzzRequest> {
  return fc
    .tuple(
      nearlyFitting(request as JsonSchema),
      maybe(12, mutation),
      maybe(20, queryString(query as JsonSchema)),
      headers(path),
      maybe(2, oneOf(['GET', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'])),
      maybe(1, oneOf(ODD_PATHS)),
    )
    .map(([body, mutate, search = '', odd, method = 'POST', end = '']) => {
      // Either field alone names a company.
      if (path.endsWith('/company') && body.company_id !== undefined) delete body.domain;
      const bytes = Buffer.from(JSON.stringify(body));
      return {
        method,
        path: path + end + search,
        headers: Object.assign({ 'Content-Type': 'application/json', 'X-Api-Key': key }, ...odd),
        body: mutate?.(bytes) ?? bytes,
      };
    });
}

function ingestRequest(name: StreamName, key: string): fc.Arbitrary<FuzzRequest> {
  return fc
    .tuple(
      fc.array(nearlyFitting(STREAMS[name].schema as JsonSchema), { maxLength: 4 }),
      fc.boolean(),
      maybe(15, mutation),
      maybe(
        5,
        maybe(20, mutation).map((mutate) => ({ mutate })),
      ),
      maybe(3, aText),
      headers(''),
    )
    .map(([records, isArray, mutate, zipped, other, odd]) => {
      const lines = records.map((record) => JSON.stringify(record)).join('\n');
      const plain = Buffer.from(isArray ? JSON.stringify(records) : lines);
      const bytes = mutate && plain.length > 0 ? mutate(plain) : plain;
      const body = zipped ? gzipSync(bytes) : bytes;
      const type = {
        'Content-Type': isArray ? 'application/json' : 'application/x-ndjson',
        'X-Api-Key': key,
      };
      return {
        method: 'POST',
        path: `/api/ingest/${other === undefined ? name : encodeURIComponent(other)}`,
        headers: Object.assign(type, ...odd, zipped && { 'Content-Encoding': 'gzip' }),
        body: zipped?.mutate?.(body) ?? body,
      };
    });
}

/**
 * Any request: nine of ten call an operation, one ingests records. Advertising operations and streams cost the most, so they get fewer
 * requests.
 */
export function randomRequest(key: string, called = endpoints): fc.Arbitrary<FuzzRequest> {
  const operations = called.map((endpoint) => {
    const weight = endpoint.path.startsWith('/api/advertising') ? 1 : 6;
    return [weight, operationRequest(endpoint, key)] as [number, fc.Arbitrary<FuzzRequest>];
  });
  const streams = STREAM_NAMES.map(
    (name) =>
      [name.startsWith('network') ? 1 : 4, ingestRequest(name, key)] as [number, fc.Arbitrary<FuzzRequest>],
  );
  return weighted([9, weighted(...operations)], [1, weighted(...streams)]);
}

const POSITIONS = [
  0,
  -1,
  1e9,
  2 ** 53,
  2 ** 63,
  1e300,
  0.5,
  null,
  '',
  'x',
  'x'.repeat(1200),
  "'",
  '\ud800',
  'a\0',
  [],
  {},
  true,
];
/** Changes a cursor into a text that the gateway never returned, or leaves it unchanged. */
export const forgery: fc.Arbitrary<Change<string>> = weighted<Change<string>>(
  [3, fc.constant((cursor) => cursor)],
  [
    2,
    fc.tuple(fc.nat(), oneOf(['A', '_', '=', '.', ''])).map(([at, sign]) => (cursor) => {
      const place = at % cursor.length;
      return cursor.slice(0, place) + sign + cursor.slice(place + 1);
    }),
  ],
  [
    5,
    fc.tuple(fc.nat(4), oneOf<unknown>(POSITIONS)).map(([at, value]) => (cursor) => {
      const position = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
      position[at] = value;
      return Buffer.from(JSON.stringify(position)).toString('base64url');
    }),
  ],
);

/** The request for the next page of a search, if more follow. */
export function nextPage(
  request: FuzzRequest,
  { status, headers, text }: { status: number; headers: IncomingHttpHeaders; text: string },
  forge: Change<string> = (cursor) => cursor,
  changes: Body = {},
): FuzzRequest | undefined {
  if (status !== 200 || !request.path.split('?')[0]?.endsWith('/search')) return undefined;
  // Exports have no page.
  if (!headers['content-type']?.startsWith('application/json')) return undefined;
  const { next_cursor } = JSON.parse(text) as { next_cursor?: string | null };
  if (typeof next_cursor !== 'string') return undefined;
  // The decoder drops a byte order mark, as the gateway does.
  const body = JSON.parse(new TextDecoder().decode(request.body)) as Body;
  const next = { ...body, ...changes, cursor: forge(next_cursor) };
  return { ...request, body: Buffer.from(JSON.stringify(next)) };
}
