import { setImmediate } from 'node:timers/promises';

/** Characters of a list above which an answer is written in slices; below, one call is faster. */
const LARGE = 128 * 1024;
/** Milliseconds a slice may hold the event loop. */
const SLICE_MS = 4;

/** Bytes from which on a text costs more to send than to turn into a buffer first. */
const LONG = 4096;

/**
 * The JSON of an answer, as what is sent fastest. Lists are written a few milliseconds at a time, so that no answer holds up
 * everybody else's.
 */
export async function serialize(answer: object): Promise<string | Buffer> {
  const text = await toJson(answer);
  return text.length < LONG ? text : Buffer.from(text);
}

async function toJson(answer: object): Promise<string> {
  const fields = Object.entries(answer);
  if (!fields.some(([, value]) => isLargeList(value))) return JSON.stringify(answer);
  const parts: string[] = [];
  for (const [name, value] of fields) {
    if (value === undefined) continue;
    const text = isLargeList(value) ? `[${await serializeItems(value)}]` : JSON.stringify(value);
    parts.push(`${JSON.stringify(name)}:${text}`);
  }
  return `{${parts.join(',')}}`;
}

/** Judged by the first item: the items of an answer are much alike. */
function isLargeList(value: unknown): value is unknown[] {
  if (!Array.isArray(value) || value.length < 2) return false;
  return value.length * JSON.stringify(value[0]).length > LARGE;
}

async function serializeItems(items: readonly unknown[]): Promise<string> {
  const parts: string[] = [];
  let begun = performance.now();
  for (const item of items) {
    parts.push(JSON.stringify(item));
    if (performance.now() - begun > SLICE_MS) {
      await setImmediate();
      begun = performance.now();
    }
  }
  return parts.join(',');
}
