import type { Context } from 'koa';
import type { TObject } from 'typebox';
import { TimeSlice, withOwnSignal } from '../shared/async.js';
import { fromJson } from '../shared/json.js';
import type { AdmittedRequest } from './admission.js';
import type { ExportFormat, HandlerContext, MatchList, MatchPage } from './endpoint.js';
import { respond } from './respond.js';

export const EXPORT_TYPES: Record<ExportFormat, string> = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

/** Response header with the number of matches when the export began. */
export const TOTAL_HEADER = 'X-Total-Count';

/** Number of matches that an export reads from a store at once. */
export const EXPORT_PAGE_ITEMS = 1000;

/** Number of characters that are sent at once. A client must read this many characters within the deadline of a request. */
const CHUNK_CHARS = 64 * 1024;

/** Type parameter by which a client asks for a last line with the number of rows and bytes. */
const COUNTED = '; end=count';

/** Formats by the types of an `Accept` header. Responses have the types of `EXPORT_TYPES`. */
const ACCEPTED_AS: Readonly<Record<string, ExportFormat>> = {
  [EXPORT_TYPES.csv]: 'csv',
  'text/csv; header=present': 'csv',
  [EXPORT_TYPES.ndjson]: 'ndjson',
  'application/ndjson': 'ndjson',
  // Types that end with a count of rows come last, so that only clients that ask for the count get it.
  [`${EXPORT_TYPES.csv}${COUNTED}`]: 'csv',
  [`${EXPORT_TYPES.ndjson}${COUNTED}`]: 'ndjson',
};

/**
 * The format among `formats` that the client prefers. Null means one JSON document; undefined means that the client accepts none of them.
 */
export function negotiateFormat(
  ctx: Context,
  formats: Partial<Record<ExportFormat, string>>,
): ExportFormat | null | undefined {
  const type = acceptedType(ctx, formats);
  if (type === false) return ctx.accepts('application/problem+json') ? null : undefined;
  return ACCEPTED_AS[type] ?? null;
}

function acceptedType(ctx: Context, formats: Partial<Record<ExportFormat, string>>): string | false {
  const types = Object.keys(ACCEPTED_AS).filter((type) => (ACCEPTED_AS[type] as ExportFormat) in formats);
  return ctx.accepts(['application/json', ...types]);
}

/**
 * Sends all matches. Reads the first page before it sends the headers, so errors of that page become problems. Later errors destroy the
 * connection, so that no client takes a part for the whole. Rejects with the error that ended the export.
 */
export async function sendExport<Services>(
  ctx: Context,
  admitted: AdmittedRequest,
  list: MatchList<never, Services>,
  context: HandlerContext<unknown, unknown, Services>,
  format: ExportFormat,
): Promise<void> {
  admitted.startExport();
  const isCounted = (acceptedType(ctx, EXPORT_TYPES) || '').endsWith(COUNTED);
  const onTotal = (total: number) => ctx.set(TOTAL_HEADER, String(total));
  const chunks = exportText(list, context, format, { isCounted, onTotal });
  const first = await chunks.next();
  async function* progressing() {
    for (let chunk = first; !chunk.done; chunk = await chunks.next()) {
      yield chunk.value;
      // The stream asks for the next chunk once the client has read.
      admitted.progressed(chunk.value.length);
    }
  }
  ctx.vary('Accept');
  try {
    const type = `${EXPORT_TYPES[format]}; charset=utf-8${isCounted ? COUNTED : ''}`;
    await respond(ctx, { type, body: progressing() });
  } finally {
    await chunks.return(undefined);
  }
}

/** Yields all matches as text, and a last line with counts if requested. `onTotal` first gets the number of matches. */
async function* exportText<Services>(
  list: MatchList<never, Services>,
  context: HandlerContext<unknown, unknown, Services>,
  format: ExportFormat,
  { isCounted, onTotal }: { isCounted: boolean; onTotal(total: number): void },
): AsyncGenerator<Buffer, undefined> {
  const slice = new TimeSlice();
  const columns = format === 'csv' ? columnsOf(list, context.body as never) : undefined;
  let text = columns ? `${columns.join(',')}\r\n` : '';
  let rows = 0;
  let bytes = 0;
  const chunkOf = (part: string): Buffer => {
    const chunk = Buffer.from(part);
    bytes += chunk.length;
    return chunk;
  };
  let next: unknown;
  do {
    const page = await withOwnSignal(context.signal, (signal) =>
      list.readPage({ ...context, signal } as HandlerContext<never, unknown, Services>, next, format),
    );
    if (next === undefined) onTotal(page.total);
    next = page.next;
    for (const item of page.items) {
      const line = columns
        ? csvLine(toObject(item), columns)
        : `${typeof item === 'string' ? item : JSON.stringify(item)}\n`;
      text += line;
      rows++;
      if (text.length >= CHUNK_CHARS) {
        yield chunkOf(text);
        text = '';
      }
      if (slice.shouldYield(line.length)) await slice.yieldToEventLoop(context.signal);
    }
    // Sends what was read already, because a slow store must not hold back these matches.
    if (text !== '') yield chunkOf(text);
    text = '';
  } while (next !== null);
  if (!isCounted) return;
  const end = `${rows} rows, ${bytes} bytes`;
  yield Buffer.from(columns ? `# ${end}\r\n` : `{"end":"${end}"}\n`);
}

/** The fields of a match, without fields that hold objects. */
function columnsOf<Body>({ item, columns }: Pick<MatchList<Body>, 'item' | 'columns'>, body: Body): string[] {
  const { properties } = item as TObject;
  return (columns?.(body) ?? Object.keys(properties)).filter((name) => {
    const { type, items } = (properties[name] ?? {}) as { type?: string; items?: { type?: string } };
    return type !== 'object' && items?.type !== 'object';
  });
}

const toObject = (item: MatchPage['items'][number]): object =>
  typeof item === 'string' ? fromJson(item) : item;

const csvLine = (item: object, columns: readonly string[]) =>
  `${columns.map((name) => csvCell((item as Record<string, unknown>)[name])).join(',')}\r\n`;

/** Text that a spreadsheet would run as a formula, also after leading `'`. Export adds one `'`; ingest removes one. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/;
const IS_NUMBER = /^-?\d+(?:\.\d+)?$/;

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string' && !Array.isArray(value)) return String(value);
  const text = typeof value === 'string' ? value : value.join(';');
  const cell = FORMULA.test(text) && !IS_NUMBER.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
