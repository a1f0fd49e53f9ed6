import { TimeSlice } from '../shared/async.js';

/** Lists above this many characters are serialized in time slices; below, one call is faster. */
const LARGE_LIST_CHARS = 128 * 1024;

/** From this length on, sending a string is slower than converting it to a buffer first. */
const LONG_TEXT_CHARS = 4096;
/** Characters converted to bytes at once; converting a whole large response would block the event loop. */
const CHUNK_CHARS = 256 * 1024;

/** Serializes a response to JSON. Large lists yield to the event loop, so that one response does not delay all others. */
export async function serialize(response: object): Promise<string | Buffer> {
  const fields = Object.entries(response);
  if (fields.some(([, value]) => isLargeList(value))) return serializeLarge(fields);
  const text = JSON.stringify(response);
  return text.length < LONG_TEXT_CHARS ? text : Buffer.from(text);
}

/** Estimated from the first item. */
function isLargeList(value: unknown): value is unknown[] {
  if (!Array.isArray(value) || value.length < 2) return false;
  return value.length * JSON.stringify(value[0]).length > LARGE_LIST_CHARS;
}

async function serializeLarge(fields: [name: string, value: unknown][]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let text = '';
  const write = (more: string) => {
    text += more;
    if (text.length < CHUNK_CHARS) return;
    chunks.push(Buffer.from(text));
    text = '';
  };
  const slice = new TimeSlice();
  let separator = '{';
  for (const [name, value] of fields) {
    if (value === undefined) continue;
    write(`${separator}${JSON.stringify(name)}:`);
    separator = ',';
    if (!isLargeList(value)) {
      write(JSON.stringify(value));
      continue;
    }
    for (const [index, item] of value.entries()) {
      const json = JSON.stringify(item);
      write(`${index === 0 ? '[' : ','}${json}`);
      if (slice.shouldYield(json.length)) await slice.yieldToEventLoop();
    }
    write(']');
  }
  chunks.push(Buffer.from(`${text}}`));
  return Buffer.concat(chunks);
}
