/**
 * Converts the first visible sheet of an XLSX file to CSV. Each row of the sheet becomes one line, so that line numbers are row numbers.
 * Line breaks within cells become CR, which ends no line here.
 * https://ecma-international.org/publications-and-standards/standards/ecma-376/
 */
import type { Replayable } from '../replayable.js';
import { broken, openZip, textOf } from './archive.js';
import { SheetRows } from './sheet-rows.js';
import { readBook } from './workbook.js';

/** Approximate bytes of the pieces in which CSV is passed on. */
const CHUNK_BYTES = 64 * 1024;

/**
 * Yields the sheet as CSV in UTF-8, divided by commas. Throws `UnreadableInputError`, or the reason of an aborted `signal`. `maxBytes`
 * limits the sheet and its CSV.
 */
export async function* sheetAsCsv(
  source: Replayable,
  maxBytes: number,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const parts = await openZip(source, signal);
  const book = await readBook(parts);
  const sheet = parts.get(book.sheet);
  if (sheet === undefined) throw broken('it has no sheet');
  // Reads the whole sheet first, because no record may be stored before the checksum at the end is verified.
  for await (const _ of textOf(sheet, maxBytes));
  const rows = new SheetRows(book);
  let bytes = 0;
  for await (const chunk of textOf(sheet, maxBytes)) {
    rows.write(chunk);
    bytes += rows.size;
    if (bytes > maxBytes) throw broken(`its first sheet has more than ${maxBytes} bytes`);
    yield* rows.take(CHUNK_BYTES);
  }
  rows.end();
  yield* rows.take(0);
}
