import { TimeSlice } from '../shared/async.js';
import { JsonText } from '../shared/json.js';

/** Number of characters that are converted to bytes at once; converting a large response as a whole would block the event loop. */
const CHUNK_CHARS = 256 * 1024;

/** JSON of a field or item; undefined if JSON leaves the field out. A `JsonText` is JSON already. */
const toText = (value: unknown): string | undefined =>
  value instanceof JsonText ? value.text : JSON.stringify(value);

/**
 * Serializes a response to JSON. Yields to the event loop between the items of lists, so that one response does not delay other responses.
 */
export async function serialize(response: object): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let text = '';
  const write = (more: string) => {
    text += more;
    if (text.length < CHUNK_CHARS) return;
    chunks.push(Buffer.from(text));
    text = '';
  };
  const slice = new TimeSlice();
  let before = '{';
  for (const [name, value] of Object.entries(response)) {
    if (value === undefined) continue;
    write(`${before}${JSON.stringify(name)}:`);
    before = ',';
    if (!Array.isArray(value)) {
      write(toText(value) as string);
      continue;
    }
    write('[');
    for (const [index, item] of value.entries()) {
      const json = toText(item) ?? 'null';
      write(index === 0 ? json : `,${json}`);
      if (slice.shouldYield(json.length)) await slice.yieldToEventLoop();
    }
    write(']');
  }
  chunks.push(Buffer.from(`${text}}`));
  return Buffer.concat(chunks);
}
