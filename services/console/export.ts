/** Everything that matches as a file, by the export of the API. */
import type { ExportFormat, ExportRequestOf, PagedPath } from '../client/index.js';
import type { Contact } from '../contacts/schema.js';
import { exportMatches } from './session.js';

export interface ExportSource {
  /** Name of the file without its extension. */
  name: string;
  path: PagedPath;
  /** The request of the view; its page is left out. */
  body: object;
}

/** Answers how many rows were saved. Throws as the client does. */
export async function download(
  { name, path, body }: ExportSource,
  format: ExportFormat,
  signal: AbortSignal,
  onProgress: (bytes: number, total: number) => void,
): Promise<number> {
  const { limit, page, page_size, ...filters } = body as Record<string, unknown>;
  const request = filters as ExportRequestOf<PagedPath>;
  const { total, stream } = await exportMatches(path, request, format, signal);
  let bytes = 0;
  const counted = stream.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        bytes += chunk.length;
        onProgress(bytes, total);
        controller.enqueue(chunk);
      },
    }),
  );
  // The browser keeps a large one on disk.
  save(`${name}.${format}`, await new Response(counted).blob());
  return total;
}

/** Text that a spreadsheet would run as a formula is marked, as in exports of the API. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;
const IS_NUMBER = /^-?\d+(?:\.\d+)?$/;

/** Items of a list are joined by semicolons. */
function textOf(value: unknown): string {
  const items = [value ?? ''].flat().map((item) => item ?? '');
  const text = items.map((item) => (typeof item === 'object' ? JSON.stringify(item) : item)).join(';');
  return typeof value !== 'number' && FORMULA.test(text) && !IS_NUMBER.test(text) ? `'${text}` : text;
}

export const csvCell = (text: string, delimiter = ','): string =>
  /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;

/** Rows that are here already. */
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
  // The browser reads it after this task.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
