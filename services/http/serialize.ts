import { TimeSlice } from '../shared/async.js';
import { JsonText } from '../shared/json.js';

/** Lists above this many characters are serialized in time slices; below, one call is faster. */
const LARGE_LIST_CHARS = 128 * 1024;

/** Characters converted to bytes at once; converting a whole large response would block the event loop. */
const CHUNK_CHARS = 256 * 1024;

/** Serializes a response to JSON. Large lists yield to the event loop, so that one response does not delay all others. */
export function serialize(response: object): string | Promise<Buffer> {
  const fields = Object.entries(response);
  return fields.some(([, value]) => isLargeList(value)) ? serializeLarge(fields) : serializeSmall(fields);
}

/** The JSON of a field or item, some of which may be text already; undefined where JSON leaves the field out. */
function toText(value: unknown): string | undefined {
  if (value instanceof JsonText) return value.text;
  if (Array.isArray(value) && value[0] instanceof JsonText) return `[${value.map(toText).join(',')}]`;
  return JSON.stringify(value);
}

function serializeSmall(fields: [name: string, value: unknown][]): string {
  let text = '';
  for (const [name, value] of fields) {
    const json = toText(value);
    if (json !== undefined) text += `${text === '' ? '{' : ','}${JSON.stringify(name)}:${json}`;
  }
  return `${text}}`;
}

/** Estimated from the first item. */
function isLargeList(value: unknown): value is unknown[] {
  if (!Array.isArray(value) || value.length < 2) return false;
  return value.length * (toText(value[0]) ?? '').length > LARGE_LIST_CHARS;
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
      write(toText(value) as string);
      continue;
    }
    for (const [index, item] of value.entries()) {
      const json = toText(item) as string;
      write(`${index === 0 ? '[' : ','}${json}`);
      if (slice.shouldYield(json.length)) await slice.yieldToEventLoop();
    }
    write(']');
  }
  chunks.push(Buffer.from(`${text}}`));
  return Buffer.concat(chunks);
}
