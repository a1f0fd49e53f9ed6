import type { Context } from 'koa';
import type { TObject } from 'typebox';
import { TimeSlice, withOwnSignal } from '../shared/async.js';
import { fromJson } from '../shared/json.js';
import type { AdmittedRequest } from './admission.js';
import type { CsvProfile, ExportFormat, HandlerContext, MatchList, MatchPage } from './endpoint.js';
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

/** What the client asks for with a type of its `Accept` header. */
export interface ExportForm {
  type: string;
  format: ExportFormat;
  profile?: CsvProfile;
}

/** The forms of an export. Forms that end with a count of rows come last, so that only clients that ask for the count get it. */
function formsOf(
  { csv, ndjson }: Partial<Record<ExportFormat, string>>,
  profiles: MatchList['profiles'] = {},
): ExportForm[] {
  const forms: ExportForm[] = [];
  if (csv) forms.push({ type: csv, format: 'csv' }, { type: `${csv}; header=present`, format: 'csv' });
  if (ndjson)
    forms.push({ type: ndjson, format: 'ndjson' }, { type: 'application/ndjson', format: 'ndjson' });
  for (const [name, profile] of Object.entries(profiles)) {
    forms.push({ type: `${EXPORT_TYPES.csv}; profile=${name}`, format: 'csv', profile });
  }
  return [...forms, ...forms.map((form) => ({ ...form, type: `${form.type}${COUNTED}` }))];
}

/**
 * The form that the client prefers. Null means one JSON document; undefined means that the client accepts none of the forms.
 */
export function negotiateForm(
  ctx: Context,
  formats: Partial<Record<ExportFormat, string>>,
  profiles?: MatchList['profiles'],
): ExportForm | null | undefined {
  const forms = formsOf(formats, profiles);
  const accepted = ctx.accepts(['application/json', ...forms.map(({ type }) => type)]);
  if (accepted === false) return ctx.accepts('application/problem+json') ? null : undefined;
  return forms.find(({ type }) => type === accepted) ?? null;
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
  form: ExportForm,
): Promise<void> {
  admitted.startExport();
  const isCounted = form.type.endsWith(COUNTED);
  const onTotal = (total: number) => ctx.set(TOTAL_HEADER, String(total));
  const chunks = exportText(list, context, form, { isCounted, onTotal });
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
    const type = `${EXPORT_TYPES[form.format]}; charset=utf-8${isCounted ? COUNTED : ''}`;
    await respond(ctx, { type, body: progressing() });
  } finally {
    await chunks.return(undefined);
  }
}

/** Yields all matches as text, and a last line with counts if requested. `onTotal` first gets the number of matches. */
async function* exportText<Services>(
  list: MatchList<never, Services>,
  context: HandlerContext<unknown, unknown, Services>,
  { format, profile }: ExportForm,
  { isCounted, onTotal }: { isCounted: boolean; onTotal(total: number): void },
): AsyncGenerator<Buffer, undefined> {
  const slice = new TimeSlice();
  const columns = profile?.columns ?? (format === 'csv' ? columnsOf(list, context.body as never) : undefined);
  const rowsOf = profile?.begin() ?? ((match: object) => [match]);
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
      const lines = columns
        ? rowsOf(toObject(item)).map((row) => csvLine(row, columns))
        : [`${typeof item === 'string' ? item : JSON.stringify(item)}\n`];
      const added = lines.join('');
      text += added;
      rows += lines.length;
      if (text.length >= CHUNK_CHARS) {
        yield chunkOf(text);
        text = '';
      }
      if (slice.shouldYield(added.length)) await slice.yieldToEventLoop(context.signal);
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
