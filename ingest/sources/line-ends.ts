/** Normalizes line ends of CSV. Excel for Mac writes only carriage returns. */
import { resumed } from './resumed.js';

const NEWLINE = 10;
const RETURN = 13;
const QUOTE = 34;
/** Number of bytes that decide which line ends a text has. */
const SEARCHED_BYTES = 64 * 1024;

/**
 * Yields the text with LF for each lone carriage return, even within cells, if carriage returns end its lines. Yields any other text
 * unchanged. Carriage returns end lines if the first 64 KiB have one outside quotes, and no LF except at the end of the text.
 */
export async function* withLineFeeds(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  const search = new LineEnds();
  const read: Uint8Array[] = [];
  let isWhole = false;
  try {
    while (search.isOpen) {
      const step = await iterator.next();
      isWhole = step.done === true;
      if (step.done) break;
      read.push(step.value);
      search.add(step.value);
    }
  } catch (error) {
    await iterator.return?.();
    throw error;
  }
  const text = resumed(read, iterator);
  if (search.areReturns(isWhole)) yield* replacedReturns(text);
  else yield* text;
}

class LineEnds {
  #bytes = 0;
  #isQuoted = false;
  #afterReturn = false;
  #returns = 0;
  #newlines = 0;
  #isNewlineLast = false;

  /** Whether the decision needs more of the text. */
  get isOpen(): boolean {
    const mayBeReturns = this.#newlines === 0 || (this.#newlines === 1 && this.#returns > 0);
    return mayBeReturns && this.#bytes < SEARCHED_BYTES;
  }

  add(chunk: Uint8Array): void {
    const searched = chunk.subarray(0, SEARCHED_BYTES - this.#bytes);
    this.#bytes += searched.length;
    for (const byte of searched) {
      if (this.#afterReturn && byte !== NEWLINE) this.#returns++;
      if (byte === QUOTE) this.#isQuoted = !this.#isQuoted;
      this.#isNewlineLast = byte === NEWLINE && !this.#isQuoted;
      if (this.#isNewlineLast) this.#newlines++;
      this.#afterReturn = byte === RETURN && !this.#isQuoted;
    }
  }

  areReturns(isWhole: boolean): boolean {
    if (this.#newlines === 0) return this.#returns > 0 || this.#afterReturn;
    return this.#returns > 0 && this.#newlines === 1 && this.#isNewlineLast && isWhole;
  }
}

async function* replacedReturns(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held = false;
  for await (const chunk of chunks) {
    const text = Buffer.concat([held ? Buffer.from([RETURN]) : Buffer.alloc(0), chunk]);
    for (let at = text.indexOf(RETURN); at >= 0 && at < text.length - 1; at = text.indexOf(RETURN, at + 1)) {
      if (text[at + 1] !== NEWLINE) text[at] = NEWLINE;
    }
    held = text[text.length - 1] === RETURN;
    yield held ? text.subarray(0, -1) : text;
  }
  if (held) yield Buffer.from([NEWLINE]);
}
