import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Answer, CallOptions } from '../../support/gateway.js';
import { HOSTILE_ORGANIZATION, type Target } from '../target.js';

/** Something that one client does to harm others. Resolves when it has its responses, and throws if one is wrong. */
export interface Attack {
  title: string;
  /** Whether a short run leaves the attack out, because it takes over three seconds or resembles another attack. */
  nightly?: boolean;
  run(target: Target): Promise<void>;
}

export const organization_id = HOSTILE_ORGANIZATION;

/** Status codes that an ordinary key may get; any other code is a failure of the server. */
const EXPECTED = new Set([200, 400, 401, 404, 408, 409, 413, 422, 429, 503, 504]);

/** Sends one request and expects a response that a well-behaved server may give to anybody. */
export async function ask(
  { call }: Target,
  path: string,
  body: unknown,
  options?: CallOptions,
): Promise<Answer> {
  const answer = await call(path, body, options);
  expect([...EXPECTED], `${path} ${answer.status} ${answer.text.slice(0, 300)}`).to.include(answer.status);
  return answer;
}

export const ndjson = (records: readonly object[]) =>
  records.map((record) => JSON.stringify(record)).join('\n');

export const encoded = (encoding: string) => ({
  'Content-Type': 'application/x-ndjson',
  'Content-Encoding': encoding,
});

/** Sends records of a stream, compressed. */
export const ingest = (target: Target, stream: string, records: readonly object[]): Promise<Answer> =>
  ask(target, `/api/ingest/${stream}`, undefined, {
    raw: gzipSync(ndjson(records)),
    headers: encoded('gzip'),
  });
