import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { hasTooManyValues, isTooDeep } from '../../services/shared/json-values.js';
import { type RawRecord, UnreadableInputError } from '../records/raw-record.js';
import { MAX_LINE_BYTES } from './lines.js';

const RECORDS_PER_CHUNK = 200;
const YIELD_INTERVAL_BYTES = 256 * 1024;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [NEWLINE, RETURN, SPACE] = [0x0a, 0x0d, 0x20];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Yields the elements of a JSON array, or a single object, each on one line. `line` is the index from 1. The text is validated completely
 * before the first element is yielded. Elements are parsed one by one, because one JSON.parse of megabytes would block all other requests.
 * Throws `UnreadableInputError`, also for more than `maxBytes`.
 */
export async function* jsonArray(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes = Number.POSITIVE_INFINITY,
): AsyncGenerator<RawRecord[]> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      const detail = `A JSON array may have at most ${maxBytes} bytes: send lines of JSON as application/x-ndjson.`;
      throw new UnreadableInputError('invalid_body', detail);
    }
    parts.push(chunk);
  }
  const body = Buffer.concat(parts);
  if (!isUtf8(body)) throw new UnreadableInputError('invalid_json', 'The body is not valid UTF-8.');
  const { first, ends } = await split(body);
  let start = first;
  for (let index = 0; index < ends.length; index += RECORDS_PER_CHUNK) {
    yield ends.slice(index, index + RECORDS_PER_CHUNK).map((end, offset) => {
      const bytes = onOneLine(body.subarray(start, end));
      start = end + 1;
      const line = index + offset + 1;
      return bytes.length > MAX_LINE_BYTES ? { line, bytes, overlong: 'last' } : { line, bytes };
    });
  }
}

/** Removes line breaks, so that a record is always one line. JSON has line breaks only between values. */
function onOneLine(element: Buffer): Buffer {
  if (!element.includes(NEWLINE) && !element.includes(RETURN)) return element;
  return Buffer.from(element.map((byte) => (byte === NEWLINE || byte === RETURN ? SPACE : byte)));
}

/**
 * Offsets of the first element and of the end of each element. A buffer per element would need a hundred times the bytes of the smallest
 * element.
 */
interface Elements {
  first: number;
  ends: number[];
}

async function split(body: Buffer): Promise<Elements> {
  let at = afterSpace(body, body[0] === 0xef ? 3 : 0);
  if (body[at] !== OPEN_ARRAY) return { first: at, ends: [objectEnd(body, at)] };
  const ends: number[] = [];
  const first = afterSpace(body, at + 1);
  at = first;
  let checked = at;
  if (body[at] === CLOSE_ARRAY) at++;
  else {
    for (;;) {
      const end = elementEnd(body, at);
      const element = body.subarray(at, end);
      if (!isRejected(element) && !isJson(element)) throw malformed(at);
      ends.push(end);
      at = end + 1;
      if (body[end] === CLOSE_ARRAY) break;
      if (body[end] !== COMMA) throw malformed(end);
      if (at - checked > YIELD_INTERVAL_BYTES) {
        checked = at;
        await setImmediate();
      }
    }
  }
  if (afterSpace(body, at) < body.length) throw malformed(at);
  return { first, ends };
}

/** The end of a single object that begins at `from`. Throws if the body is not a single object. */
function objectEnd(body: Buffer, from: number): number {
  const text = body.subarray(from);
  if (body[from] === OPEN_OBJECT && isRejected(text)) return body.length;
  if (body[from] === OPEN_OBJECT && isJson(text)) return body.length;
  if (body[from] !== OPEN_OBJECT && !isJson(text)) throw malformed(from);
  throw new UnreadableInputError(
    body[from] === OPEN_OBJECT ? 'invalid_json' : 'invalid_body',
    'Send a JSON array of records or one record, or one record per line as application/x-ndjson.',
  );
}

/** The offset of the comma or bracket after the element that begins at `from`. */
function elementEnd(body: Buffer, from: number): number {
  let depth = 0;
  for (let at = from; at < body.length; at++) {
    switch (body[at]) {
      case QUOTE:
        for (at++; at < body.length && body[at] !== QUOTE; at++) if (body[at] === BACKSLASH) at++;
        break;
      case OPEN_ARRAY:
      case OPEN_OBJECT:
        depth++;
        break;
      case CLOSE_ARRAY:
        if (depth === 0) return at;
        depth--;
        break;
      case CLOSE_OBJECT:
        depth--;
        break;
      case COMMA:
        if (depth === 0) return at;
        break;
    }
  }
  throw malformed(body.length);
}

function afterSpace(body: Buffer, from: number): number {
  let at = from;
  while (body[at] === 32 || body[at] === 10 || body[at] === 13 || body[at] === 9) at++;
  return at;
}

/** Whether the decoder rejects a record before it parses it. */
const isRejected = (record: Buffer) =>
  record.length > MAX_LINE_BYTES || hasTooManyValues(record) || isTooDeep(record);

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

const malformed = (at: number) =>
  new UnreadableInputError('invalid_json', `The body is not valid JSON near byte ${at + 1}.`);
