/** Converts text of any charset to UTF-8. Spreadsheets, LinkedIn and Windows shells write UTF-16. */
import { TextDecoder } from 'node:util';
import { decoded } from './charset.js';
import { resumed } from './resumed.js';

const MARKS = [
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
] as const;

const UTF8_MARK = [0xef, 0xbb, 0xbf];
const startsWith = (text: Uint8Array, bytes: readonly number[]) =>
  bytes.every((byte, index) => text[index] === byte);

/**
 * Yields text in UTF-8. A byte order mark decides; otherwise the text is read in the declared charset, by default UTF-8. Half a surrogate
 * pair becomes U+FFFD. Throws `UnreadableInputError` for bytes that are invalid in the declared charset.
 */
export async function* asUtf8(
  chunks: AsyncIterable<Uint8Array>,
  charset?: string,
): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  let beginning: Buffer = Buffer.alloc(0);
  // Two bytes are enough to distinguish UTF-16, so a slow source need not deliver more.
  const isEnough = () => beginning.length >= 3 || (beginning.length === 2 && beginning[0] !== UTF8_MARK[0]);
  while (!isEnough()) {
    const step = await iterator.next();
    if (step.done) break;
    beginning = Buffer.concat([beginning, step.value]);
  }
  const text = resumed([beginning], iterator);
  const mark = MARKS.find(({ bytes }) => startsWith(beginning, bytes));
  if (mark !== undefined) yield* fromUtf16(text, mark.encoding);
  else if (charset === undefined || startsWith(beginning, UTF8_MARK)) yield* text;
  else yield* decoded(text, charset);
}

async function* fromUtf16(chunks: AsyncIterable<Uint8Array>, encoding: string): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }));
  yield Buffer.from(decoder.decode());
}
