/** Random requests: well-formed, slightly wrong, and broken as text. */
import type { IncomingHttpHeaders } from 'node:http';
import { gzipSync } from 'node:zlib';
import { findStream, STREAM_NAMES, STREAMS } from '../../ingest/streams/index.js';
import { endpoints } from '../../services/gateway/api.js';
import { day, fitting, fittingObject, hostile, type JsonSchema, type Random, TEXTS } from './fuzz-values.js';

export interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer;
}

const REMEMBERED = 200;

type Body = Record<string, unknown>;

/** A page of which more follow: what a cursor is used with again. */
export interface Seen {
  path: string;
  body: Body;
  cursor: string;
}

// Advertising costs most to answer, and its streams most to take in, so they get fewer of the requests.
const WEIGHTED = endpoints.flatMap((endpoint) =>
  endpoint.path.startsWith('/api/advertising') ? [endpoint] : Array.from({ length: 6 }, () => endpoint),
);

const STREAMS_WEIGHTED = STREAM_NAMES.flatMap((name) =>
  name.startsWith('network') ? [name] : [name, name, name, name],
);

const NAMES = [
  '__proto__',
  'constructor',
  'prototype',
  '',
  ' ',
  'a/b~c',
  'firstName',
  'query ',
  'Limit',
  '\ud800',
  'é',
  'x'.repeat(3000),
  '0',
];

export function randomRequest(random: Random, key: string, seen: readonly Seen[]): FuzzRequest {
  if (random.chance(0.1)) return intakeRequest(random, key);
  const request = operationRequest(random, key, seen);
  oddHeaders(random, request);
  if (random.chance(0.02)) request.method = random.pick(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']);
  if (random.chance(0.01))
    request.path = random.pick([
      `${request.path}/`,
      request.path.slice(0, -1),
      '/api/%ff',
      '//',
      '/api/%2e%2e',
      `/${'x'.repeat(5000)}`,
      '/docs/%00',
    ]);
  return request;
}

function operationRequest(random: Random, key: string, seen: readonly Seen[]): FuzzRequest {
  const endpoint = random.pick(WEIGHTED);
  const headers: Record<string, string> = { 'Content-Type': 'application/json', 'X-Api-Key': key };
  let path: string = endpoint.path;
  let body: Body;
  if (seen.length > 0 && random.chance(0.08)) {
    const page = random.pick(seen);
    path = page.path;
    body = { ...page.body, cursor: random.chance(0.3) ? page.cursor : tampered(random, page.cursor) };
  } else {
    body = fittingObject(random, endpoint.request as JsonSchema);
    orderDates(random, body);
    if (endpoint.path.endsWith('/company') && random.chance(0.8))
      delete body[random.pick(['company_id', 'domain'])];
  }
  const changes = random.pick([0, 0, 0, 0, 1, 1, 2, 6]);
  const names = Object.keys((endpoint.request as JsonSchema).properties ?? {});
  for (let change = 0; change < changes; change++) {
    const name = random.chance(0.85) ? random.pick(names) : random.pick(NAMES);
    if (random.chance(0.1)) delete body[name];
    else if (name === '__proto__')
      Object.defineProperty(body, name, {
        value: hostile(random),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else body[name] = hostile(random);
  }
  let text: Buffer = Buffer.from(JSON.stringify(body));
  if (random.chance(0.12)) text = mutated(random, text);
  if (random.chance(0.003)) text = nested(random);
  if (random.chance(0.2)) path += queryString(random, endpoint.query as JsonSchema | undefined);
  return { method: 'POST', path, headers, body: text };
}

/** Dates in order and not too far apart, or hardly any request on advertising would reach a store. */
function orderDates(random: Random, body: Body): void {
  if (!('start_date' in body) || random.chance(0.1)) return;
  const [from, to] = [day(random), day(random)].sort() as [string, string];
  body.start_date = from;
  body.end_date = Date.parse(to) - Date.parse(from) > 3660 * 86_400_000 ? from : to;
}

function tampered(random: Random, cursor: string): string {
  const position = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
  if (random.chance(0.3)) {
    const at = random.between(0, cursor.length - 1);
    return cursor.slice(0, at) + random.pick(['A', '_', '=', '.', '']) + cursor.slice(at + 1);
  }
  const place = random.between(0, 4);
  if (place === 4) position.push(1);
  else
    position[place] = random.pick<unknown>([
      0,
      -1,
      5,
      1e9,
      2 ** 53 - 1,
      -(2 ** 53) + 1,
      2 ** 63,
      1e300,
      0.5,
      -0,
      null,
      '',
      'x',
      'x'.repeat(1200),
      "'",
      '\ud800',
      'a\u0000',
      [],
      {},
      true,
    ]);
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** The same bytes, save a few. */
function mutated(random: Random, text: Buffer): Buffer {
  const bytes = Buffer.from(text);
  switch (random.between(0, 6)) {
    case 0:
      return bytes.subarray(0, random.between(0, bytes.length));
    case 1:
      for (let flips = random.between(1, 4); flips > 0; flips--)
        bytes[random.between(0, bytes.length - 1)] = random.between(0, 255);
      return bytes;
    case 2: {
      const at = random.between(0, bytes.length);
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(random.pick([',', '}', '"', '\u0000', '\\', '\ufeff', '[', '1e999', '\\ud800'])),
        bytes.subarray(at),
      ]);
    }
    case 3:
      // A name given twice.
      return Buffer.concat([
        bytes.subarray(0, -1),
        Buffer.from(`,"limit":1,"limit":${JSON.stringify(hostile(random))}}`),
      ]);
    case 4:
      return Buffer.from(
        random.pick([
          '',
          ' ',
          'null',
          '[]',
          '"x"',
          '0',
          '{',
          '}',
          '{"a":1}x',
          '{"\\u005f_proto__":{"a":1}}',
          '{"constructor":{"prototype":{}}}',
          'ÿþ{}',
          '-',
          'NaN',
          "{'a':1}",
        ]),
      );
    case 5:
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    default:
      return Buffer.from(bytes.toString('latin1').replace(/"[a-z_]+"/, '"\\ud800\\u0000"'), 'latin1');
  }
}

/** Deep, and closed properly. */
function nested(random: Random): Buffer {
  const depth = random.pick([100, 5000, 100_000]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const);
  const name = random.pick(['organization_id', 'query', 'work_emails', 'campaign_ids', 'x']);
  return Buffer.from(`{"${name}":${open.repeat(depth)}1${close.repeat(depth)}}`);
}

export function queryString(random: Random, schema: JsonSchema | undefined): string {
  const pairs: string[] = [];
  for (const [name, property] of Object.entries(schema?.properties ?? {})) {
    if (random.chance(0.6)) pairs.push(`${name}=${encodeURIComponent(String(fitting(random, property)))}`);
  }
  if (random.chance(0.3)) {
    const name = random.pick([
      'required_credits',
      'dry_run',
      'on_duplicate',
      '__proto__',
      'constructor',
      'toString',
      'x',
      '%ff',
      '%00',
      'a[b]',
      '',
    ]);
    pairs.push(
      `${name}=${random.pick(['1', '-1', '1e3', '10001', '9'.repeat(20), 'TRUE', 'true', '', '%20', '%ff', '%', 'return', 'reject', encodeURIComponent(random.pick(TEXTS))])}`,
    );
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

const ODD_HEADERS: readonly (readonly [string, readonly string[]])[] = [
  [
    'Content-Type',
    [
      'application/json; charset=utf-8',
      'application/json;charset=latin1',
      'text/plain',
      '',
      'application/json; charset',
      'application/json; ;',
      'application/x-ndjson',
      'application/merge-patch+json',
      '*/*',
      'ÿ',
    ],
  ],
  [
    'Accept',
    [
      '*/*',
      'application/json',
      'text/html',
      '',
      ';',
      'application/json;q=0',
      'application/*;q=0.1, text/*',
      ',,,',
      'ÿ',
      'application/problem+json',
    ],
  ],
  [
    'Prefer',
    ['handling=lenient', 'handling=strict', 'handling="lenient", wait=5', 'return=minimal', 'ÿ', '=;,'],
  ],
  [
    'Idempotency-Key',
    [
      'k1',
      'k2',
      '"k1"',
      '"k3',
      '',
      '""',
      ' ',
      'a b',
      'é',
      'x'.repeat(255),
      'x'.repeat(256),
      "'",
      '\\',
      '{}',
      '*',
    ],
  ],
  ['X-Request-Id', ['abc', '', 'a b', 'é', 'x'.repeat(128), 'x'.repeat(129), '"', '<>', '{"a":1}']],
  ['X-Api-Key', ['', 'nonsense', 'rl_live_', 'ÿ', `rl_live_00000000_${'0'.repeat(38)}`]],
  ['Content-Encoding', ['gzip', 'identity', 'br', '', 'ÿ']],
  ['Origin', ['null', 'https://elsewhere.example', '', 'ÿ', 'http://']],
  ['If-None-Match', ['*']],
  ['Range', ['bytes=0-1']],
  ['Expect', ['100-continue']],
];

function oddHeaders(random: Random, { headers, path }: FuzzRequest): void {
  if (random.chance(0.2)) headers.Prefer = 'handling=lenient';
  if (/\/(?:create|add|remove)/.test(path) && random.chance(0.3))
    headers['Idempotency-Key'] = `k${random.between(0, 30)}`;
  if (!random.chance(0.12)) return;
  const [name, values] = random.pick(ODD_HEADERS);
  headers[name] = random.pick(values);
}

function intakeRequest(random: Random, key: string): FuzzRequest {
  const name = random.chance(0.97)
    ? random.pick(STREAMS_WEIGHTED)
    : random.pick(['contact', 'constructor', '__proto__', '%ff', '%00', '', '..', 'x'.repeat(500)]);
  const schema = (findStream(name) ?? STREAMS.contacts).schema as JsonSchema;
  const records = Array.from({ length: random.between(0, 4) }, () => {
    const record = fittingObject(random, schema);
    const names = Object.keys(schema.properties ?? {});
    if (random.chance(0.4)) record[random.pick(names)] = hostile(random);
    return record;
  });
  const asArray = random.chance(0.3);
  let body = Buffer.from(
    asArray ? JSON.stringify(records) : records.map((record) => JSON.stringify(record)).join('\n'),
  );
  if (random.chance(0.15) && body.length > 0) body = Buffer.from(mutated(random, body));
  const headers: Record<string, string> = {
    'Content-Type': asArray ? 'application/json' : 'application/x-ndjson',
    'X-Api-Key': key,
  };
  const request = { method: 'POST', path: `/api/ingest/${name}`, headers, body };
  if (random.chance(0.05)) {
    headers['Content-Encoding'] = 'gzip';
    if (random.chance(0.8)) request.body = gzipSync(body);
    if (random.chance(0.2)) request.body = request.body.subarray(0, random.between(0, request.body.length));
  } else oddHeaders(random, request);
  return request;
}

/** The page of a search, if more follow. */
export function remembered(
  request: FuzzRequest,
  { status, headers, text }: { status: number; headers: IncomingHttpHeaders; text: string },
): Seen | undefined {
  if (status !== 200 || !request.path.endsWith('/search')) return undefined;
  // Exports have no page.
  if (!headers['content-type']?.startsWith('application/json')) return undefined;
  const { next_cursor: cursor } = JSON.parse(text) as { next_cursor?: string | null };
  if (typeof cursor !== 'string') return undefined;
  // The decoder drops a byte order mark, as the gateway does.
  const body = JSON.parse(new TextDecoder().decode(request.body)) as Record<string, unknown>;
  return { path: request.path, body, cursor };
}

/** Keeps the last pages. */
export function remember(seen: Seen[], page: Seen, number: number): void {
  if (seen.length < REMEMBERED) seen.push(page);
  else seen[number % REMEMBERED] = page;
}
