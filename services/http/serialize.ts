import { setImmediate } from 'node:timers/promises';

/** Characters of a list above which an answer is written in slices; below, one call is faster. */
const LARGE = 128 * 1024;
/** Milliseconds a slice may hold the event loop. */
const SLICE_MS = 4;

/** Bytes from which on a text costs more to send than to turn into a buffer first. */
const LONG = 4096;
/** Characters turned into bytes at once: joining all of a large answer first would hold the event loop for as long as it is. */
const CHUNK = 256 * 1024;

/**
 * The JSON of an answer, as what is sent fastest. Lists are written a few milliseconds at a time, so that no answer holds up
 * everybody else's.
 */
export async function serialize(answer: object): Promise<string | Buffer> {
  const fields = Object.entries(answer);
  if (fields.some(([, value]) => isLargeList(value))) return serializeLarge(fields);
  const text = JSON.stringify(answer);
  return text.length < LONG ? text : Buffer.from(text);
}

/** Judged by the first item: the items of an answer are much alike. */
function isLargeList(value: unknown): value is unknown[] {
  if (!Array.isArray(value) || value.length < 2) return false;
  return value.length * JSON.stringify(value[0]).length > LARGE;
}

async function serializeLarge(fields: [name: string, value: unknown][]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let text = '';
  const write = (more: string) => {
    text += more;
    if (text.length < CHUNK) return;
    chunks.push(Buffer.from(text));
    text = '';
  };
  let begun = performance.now();
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
      write(`${index === 0 ? '[' : ','}${JSON.stringify(item)}`);
      if (performance.now() - begun > SLICE_MS) {
        await setImmediate();
        begun = performance.now();
      }
    }
    write(']');
  }
  chunks.push(Buffer.from(`${text}}`));
  return Buffer.concat(chunks);
}
