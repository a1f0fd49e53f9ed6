/** Saves all matches as a file, through the export of the API. */
import type { ExportFormat, ExportRequestOf, PagedPath } from '../client/index.js';
import type { Contact } from '../contacts/schema.js';
import type { ExportSource } from './api.js';
import { plural } from './format.js';
import type { Session } from './session.js';

/** The file ended too early. The message is for people. */
export class BrokenFileError extends Error {}

/** Milliseconds without data after which an export fails. The server never pauses this long. */
const IDLE_MS = 60_000;

interface Progress {
  bytes: number;
  rows: number;
}

/** Counts of a saved file: its rows, and the rows that matched when the export began. */
interface Saved extends Progress {
  total: number;
}

/** Saves a file and counts its rows. Throws the errors of the client, and `BrokenFileError` for an incomplete file, which is not saved. */
export async function download(
  session: Session,
  { name, path, body }: ExportSource,
  format: ExportFormat,
  stop: AbortSignal,
  onProgress: (progress: Saved) => void,
): Promise<Saved> {
  const { limit, page, page_size, compare_to, ...filters } = body as Record<string, unknown>;
  const request = filters as ExportRequestOf<PagedPath>;
  const idle = new AbortController();
  const { total, stream } = await session.export(path, request, format, AbortSignal.any([stop, idle.signal]));
  const count = rowCounter(format);
  const progress = { bytes: 0, rows: 0, total };
  const wait = () => setTimeout(() => idle.abort(), IDLE_MS);
  let timer = wait();
  const counted = stream.pipeThrough(
    new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      transform(chunk, controller) {
        clearTimeout(timer);
        timer = wait();
        progress.bytes += chunk.length;
        progress.rows = count(chunk);
        onProgress(progress);
        controller.enqueue(chunk);
      },
    }),
  );
  try {
    // The browser stores a large blob on disk.
    save(`${name}.${format}`, await new Response(counted).blob());
  } catch (cause) {
    stop.throwIfAborted();
    const reason = idle.signal.aborted ? `sent nothing for ${IDLE_MS / 1000} seconds` : 'ended too early';
    throw new BrokenFileError(
      `The server ${reason}, after ${plural(progress.rows, 'row')}. Nothing was saved.`,
      { cause },
    );
  } finally {
    clearTimeout(timer);
  }
  return progress;
}

const [QUOTE, LINE_FEED] = [0x22, 0x0a];

/** Counts the rows of a file chunk by chunk. Line breaks inside quoted cells and the header row do not count. */
function rowCounter(format: ExportFormat): (chunk: Uint8Array) => number {
  let lines = 0;
  let isQuoted = false;
  return (chunk) => {
    for (const byte of chunk) {
      if (byte === LINE_FEED && !isQuoted) lines++;
      else if (byte === QUOTE && format === 'csv') isQuoted = !isQuoted;
    }
    return Math.max(0, format === 'csv' ? lines - 1 : lines);
  };
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
