/** Decodes the charsets of spreadsheets and older tools. Node.js reads windows-1252 as ISO-8859-1, so its TextDecoder is not used. */
import iconv from 'iconv-lite';
import { UnreadableInputError } from '../records/raw-record.js';

/** Encodings that are not charsets of text. */
const NO_CHARSETS = new Set(['base64', 'hex', 'internal', 'utf7', 'utf7imap']);
/**
 * Charsets that are read as windows-1252, as in browsers, because text that declares one of them may have the quotes and the euro sign of
 * Windows.
 */
const WESTERN = new Set(['ascii', 'usascii', 'iso88591', 'latin1', 'l1', 'binary']);
const UTF8 = new Set(['utf8', 'unicode11utf8']);

const plainName = (label: string) => label.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** The charset that a label names, such as `windows-1252`; null for UTF-8 and undefined for an unknown label. */
export function charsetOf(label: string): string | null | undefined {
  const name = plainName(label);
  if (UTF8.has(name)) return null;
  if (WESTERN.has(name)) return 'windows1252';
  return name !== '' && !NO_CHARSETS.has(name) && iconv.encodingExists(name) ? name : undefined;
}

/** Decodes bytes in a charset to UTF-8. Throws `UnreadableInputError` for bytes that are invalid in the charset. */
export async function* decoded(chunks: AsyncIterable<Uint8Array>, label: string): AsyncGenerator<Uint8Array> {
  const decoder = iconv.getDecoder(charsetOf(label) ?? 'utf8');
  const checked = (text: string) => {
    if (!text.includes('\ufffd')) return Buffer.from(text);
    const detail = `The text is not in ${label}: say which charset it has, or save it in UTF-8.`;
    throw new UnreadableInputError('invalid_body', detail);
  };
  for await (const chunk of chunks) {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const text = decoder.write(bytes);
    if (text !== '') yield checked(text);
  }
  const rest = decoder.end();
  if (rest) yield checked(rest);
}

/** Longest run of bytes above 0x7f in Western text. */
const MAX_WESTERN_RUN = 3;
const UNDEFINED_BYTES = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);

/** The likely charset of text that is not UTF-8: windows-1252, if the text looks like a Western language. */
export function proposedCharset(text: Uint8Array): string | undefined {
  let run = 0;
  for (const byte of text) {
    run = byte > 0x7f ? run + 1 : 0;
    if (run > MAX_WESTERN_RUN || UNDEFINED_BYTES.has(byte)) return undefined;
  }
  return 'windows-1252';
}
