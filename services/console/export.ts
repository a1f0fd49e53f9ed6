/** Saves all matches as a file, through the export of the API. */
import type { ExportFormat, ExportRequestOf, PagedPath } from '../client/index.js';
import type { Contact } from '../contacts/schema.js';
import type { ExportSource } from './api.js';
import { kibibytes } from './format.js';
import type { Session } from './session.js';

/** The file ended too early. The message is for people. */
export class BrokenFileError extends Error {}

interface Progress {
  bytes: number;
  /** How many rows matched when the export began. */
  total: number;
}

/** Counts of a saved file; `rows` is null if the server did not count them. */
interface Saved extends Progress {
  rows: number | null;
}

/** Saves a file. Throws the errors of the client, and `BrokenFileError` for an incomplete file, which is not saved. */
export async function download(
  session: Session,
  { name, path, body }: ExportSource,
  format: ExportFormat,
  stop: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Saved> {
  const { limit, page, page_size, compare_to, ...filters } = body as Record<string, unknown>;
  const request = filters as ExportRequestOf<PagedPath>;
  const { total, stream, rows } = await session.export(path, request, format, stop);
  const progress = { bytes: 0, total };
  const counted = stream.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        progress.bytes += chunk.length;
        onProgress(progress);
        controller.enqueue(chunk);
      },
    }),
  );
  try {
    // The browser stores a large blob on disk.
    save(
      format === 'csv' || format === 'ndjson' ? `${name}.${format}` : `${name}-${format}.csv`,
      await new Response(counted).blob(),
    );
    return { ...progress, rows: await rows };
  } catch (cause) {
    stop.throwIfAborted();
    const message = `The file ended too early, after ${kibibytes(progress.bytes)}. Nothing was saved.`;
    throw new BrokenFileError(message, { cause });
  }
}

/** Text that a spreadsheet would run as a formula gets a mark, as in exports of the API. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;
const IS_NUMBER = /^-?\d+(?:\.\d+)?$/;

/** Joins the items of a list with semicolons. */
function textOf(value: unknown): string {
  const items = [value ?? ''].flat().map((item) => item ?? '');
  const text = items.map((item) => (typeof item === 'object' ? JSON.stringify(item) : item)).join(';');
  return typeof value !== 'number' && FORMULA.test(text) && !IS_NUMBER.test(text) ? `'${text}` : text;
}

export const csvCell = (text: string, delimiter = ','): string =>
  /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;

/** Saves rows that are already loaded. */
export function downloadRows(
  fileName: string,
  names: readonly string[],
  rows: readonly (readonly unknown[])[],
): void {
  const lines = [names, ...rows].map((cells) => cells.map((cell) => csvCell(textOf(cell))).join(','));
  save(fileName, new Blob([`${lines.join('\r\n')}\r\n`], { type: 'text/csv' }));
}

export function downloadContacts(contacts: readonly Contact[]): void {
  const names = Object.keys(contacts[0] ?? {}) as (keyof Contact)[];
  const rows = contacts.map((contact) => names.map((name) => contact[name]));
  downloadRows('contacts.csv', names, rows);
}

export function save(fileName: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The browser reads the URL after this task.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
