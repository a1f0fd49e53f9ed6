/** Texts of source records in any format. */
import { compileMapping } from '../mapping/compile.js';
import { mapSource } from '../mapping/map-source.js';
import type { Mapping } from '../mapping/mapping.js';
import type { RecordSource } from '../records/raw-record.js';
import type { Stream } from '../streams/stream.js';
import { ColumnsError, type CsvOptions, openCsv } from './csv.js';
import { jsonArray } from './json-array.js';
import { lines } from './lines.js';

/** Lines of JSON, a JSON array or one object, or CSV. */
export type TextFormat = 'ndjson' | 'json' | 'csv';

export interface OpenedText {
  /** May be read once. */
  records: RecordSource;
  /** The header of CSV. */
  header?: { columns: readonly string[]; bytes: Buffer };
  close(): void;
}

/** Opens a text, and reads the header of CSV. Throws `ColumnsError` and, also while records are read, `UnreadableInputError`. */
export async function openText(
  chunks: AsyncIterable<Uint8Array>,
  format: TextFormat,
  options: CsvOptions & { maxRecords?: number } = {},
): Promise<OpenedText> {
  if (format !== 'csv') {
    const records = format === 'json' ? jsonArray(chunks, options.maxRecords) : lines(chunks);
    return { records, close: () => void records.return(undefined) };
  }
  const { header, headerBytes, records, close } = await openCsv(chunks, options);
  return { records: records(), header: { columns: header, bytes: headerBytes }, close };
}

/**
 * The records of a stream that a text holds. Without a mapping JSON is taken as it is, and the columns of CSV have the names of fields.
 * Throws `ColumnsError` when there are columns that are neither fields nor mentioned in the mapping.
 */
export function mapText(text: OpenedText, stream: Stream, mapping?: Mapping): RecordSource {
  const { records, header } = text;
  const used = mapping ?? (header && compileMapping({ fields: {} }, stream));
  if (used === undefined) return records;
  const problems = header === undefined ? [] : used.checkColumns(header.columns);
  if (problems.length === 0) return mapSource(records, used);
  text.close();
  throw new ColumnsError(problems.join('\n'));
}
