/** Spreadsheets, LinkedIn and shells of Windows write UTF-16. */
import { TextDecoder } from 'node:util';

const MARKS = [
  { bytes: [0xff, 0xfe], encoding: 'utf-16le' },
  { bytes: [0xfe, 0xff], encoding: 'utf-16be' },
] as const;

/** Text in UTF-16 with a byte order mark as UTF-8; any other text as it is. Half a surrogate pair becomes U+FFFD. */
export async function* asUtf8(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let beginning: Buffer | undefined = Buffer.alloc(0);
  let decoder: TextDecoder | undefined;
  for await (const chunk of chunks) {
    let text = chunk;
    if (beginning !== undefined) {
      beginning = Buffer.concat([beginning, chunk]);
      if (beginning.length < 2) continue;
      const [first, second] = beginning;
      const mark = MARKS.find(({ bytes }) => bytes[0] === first && bytes[1] === second);
      if (mark !== undefined) decoder = new TextDecoder(mark.encoding);
      text = beginning;
      beginning = undefined;
    }
    yield decoder === undefined ? text : Buffer.from(decoder.decode(text, { stream: true }));
  }
  if (beginning !== undefined) yield beginning;
  else if (decoder !== undefined) yield Buffer.from(decoder.decode());
}
