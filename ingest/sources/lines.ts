import { deadLetter } from '../records/outcome.js';
import type { RawRecord } from '../records/raw-record.js';

/** Maximum bytes of a record, also in Kafka. */
export const MAX_LINE_BYTES = 1024 * 1024;
export const LINE_TOO_LONG = deadLetter(
  'line_too_long',
  '',
  `A record may have ${MAX_LINE_BYTES} bytes at most.`,
);
const LINES_PER_CHUNK = 200;
const NEWLINE = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Splits bytes at line feeds. Blank lines are counted and skipped. A line over the limit is passed on in pieces, and is never in memory as
 * a whole.
 */
export async function* lines(
  chunks: AsyncIterable<Uint8Array>,
  limit = MAX_LINE_BYTES,
): AsyncGenerator<RawRecord[]> {
  let line = 1;
  let held: Buffer[] = [];
  let heldBytes = 0;
  let overlong = false;
  let ready: RawRecord[] = [];

  /** Adds a piece of the current line. `end` marks the last piece of the line. */
  const take = (piece: Buffer, end: boolean) => {
    if (!overlong && heldBytes + piece.length > limit + 1) {
      for (const bytes of held) ready.push({ line, bytes, overlong: 'piece' });
      held = [];
      heldBytes = 0;
      overlong = true;
    }
    if (overlong) {
      ready.push({ line, bytes: piece, overlong: end ? 'last' : 'piece' });
    } else if (piece.length > 0 && !end) {
      held.push(piece);
      heldBytes += piece.length;
    } else if (end) {
      complete(held.length === 0 ? piece : Buffer.concat([...held, piece]));
    }
    if (!end) return;
    line++;
    held = [];
    heldBytes = 0;
    overlong = false;
  };

  const complete = (bytes: Buffer) => {
    const text = line === 1 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? bytes.subarray(3) : bytes;
    if (text.every(isWhiteSpace)) return;
    // The limit leaves room for the carriage return that may end a line.
    if (text.length > limit && text[text.length - 1] !== 13) {
      ready.push({ line, bytes, overlong: 'last' });
    } else {
      ready.push(text === bytes ? { line, bytes } : { line, bytes: text, untouched: bytes });
    }
  };

  for await (const chunk of chunks) {
    const bytes = Buffer.isBuffer(chunk)
      ? chunk
      : Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (;;) {
      if (heldBytes === 0 && !overlong) {
        // Skips blank lines without a buffer for each: a body of nothing but line feeds would become millions of buffers.
        let at = from;
        while (isWhiteSpace(bytes[at])) at++;
        if (bytes[at] === NEWLINE && at - from <= limit + 1) {
          line++;
          from = at + 1;
          continue;
        }
      }
      const to = bytes.indexOf(NEWLINE, from);
      if (to < 0) break;
      take(bytes.subarray(from, to), true);
      from = to + 1;
      if (ready.length >= LINES_PER_CHUNK) {
        yield ready;
        ready = [];
      }
    }
    if (from < bytes.length) take(bytes.subarray(from), false);
    if (ready.length > 0) {
      yield ready;
      ready = [];
    }
  }
  if (held.length > 0 || overlong) take(Buffer.alloc(0), true);
  if (ready.length > 0) yield ready;
}

const isWhiteSpace = (byte: number | undefined) => byte === 32 || byte === 13 || byte === 9;
