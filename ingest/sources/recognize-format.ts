/** Recognizes the format of a text by its first bytes. */
import { asUtf8 } from './as-utf8.js';
import { resumed } from './resumed.js';
import type { TextFormat } from './text.js';

/** Maximum bytes of the first line that are read to recognize the format. */
const MAX_PEEKED_BYTES = 64 * 1024;
/** First bytes of every ZIP archive, such as a workbook. */
const ZIP = Buffer.from('PK\u0003\u0004', 'latin1');

/** Returns the format, and the whole input. Text that does not begin like JSON is CSV. */
export async function recognizeFormat(
  source: AsyncIterable<Uint8Array>,
): Promise<{ format: TextFormat; chunks: AsyncIterable<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]();
  let first: Buffer = Buffer.alloc(0);
  let line = '';
  for (;;) {
    const step = await iterator.next();
    if (step.done) break;
    first = Buffer.concat([first, step.value]);
    line = await beginningOf(first);
    const isDecided = line !== '' && (!line.startsWith('{') || line.includes('\n'));
    if (isDecided || first.length >= MAX_PEEKED_BYTES) break;
  }
  const isArchive = first.subarray(0, ZIP.length).equals(ZIP);
  return { format: isArchive ? 'xlsx' : formatOf(line), chunks: resumed([first], iterator) };
}

async function beginningOf(bytes: Buffer): Promise<string> {
  let text = '';
  for await (const chunk of asUtf8(onlyOnce(bytes))) text += Buffer.from(chunk).toString('utf8');
  return text.replace('\ufeff', '').trimStart();
}

async function* onlyOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function formatOf(line: string): TextFormat {
  // Whether the text is JSON: an array of objects, or an object over several lines. A CSV column may be called [id].
  if (/^\[\s*(?:[{\]]|$)/.test(line) || /^\{[ \t\r]*\n/.test(line)) return 'json';
  return line.startsWith('{') ? 'ndjson' : 'csv';
}
