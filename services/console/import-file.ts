/** A file on its way into a stream. The server reads it; here are the requests, and what they answer. */
import type { StreamName } from '../client/index.js';
import { ReachlineProblem } from '../client/index.js';
import type { CheckAnswer, IngestAnswer } from '../client/operations.js';
import { csvCell } from './export.js';
import { count, fieldLabel } from './format.js';
import { send, upload } from './session.js';

export type { CheckAnswer, IngestAnswer };
export type Question = CheckAnswer['questions'][number];
export type FileColumn = CheckAnswer['columns'][number];
export type RecordError = IngestAnswer['errors'][number];
type CheckResult = NonNullable<CheckAnswer['result']>;
export type PersonMatch = NonNullable<CheckResult['matches']>[number];
/** What becomes of people who are there already. */
export type OnDuplicate = 'update' | 'create' | 'reject';

/** What a person has answered. */
export interface Settings {
  map?: string;
  date_order?: string;
  decimal?: string;
  charset?: string;
  header_row?: number;
  /** The field of each column that a person chose. */
  columns?: Record<string, string>;
}

/** Of a larger file a beginning is checked. */
const CHECKED_BYTES = 8 * 1024 * 1024;
const ANY_FORMAT = 'application/octet-stream';

/** What the file is and what would become of it. Of a large file its beginning is sent, where that says enough. */
export async function checkFile(
  stream: StreamName,
  file: File,
  settings: Settings,
  signal: AbortSignal,
): Promise<CheckAnswer> {
  const check = (content: Blob, beginning: boolean) => {
    const { columns = {}, ...query } = settings;
    const body = formOf({ columns: JSON.stringify(columns) }, content, ANY_FORMAT);
    return send<CheckAnswer>({
      method: 'POST',
      path: `/api/ingest/${stream}/check`,
      query: { ...query, ...(beginning && { beginning }) },
      body,
      signal,
    });
  };
  if (file.size <= 2 * CHECKED_BYTES) return check(file, false);
  try {
    return await check(file.slice(0, CHECKED_BYTES), true);
  } catch (error) {
    if (!(error instanceof ReachlineProblem && error.errors[0]?.code === 'whole_file')) throw error;
    return check(file, false);
  }
}

/** Loads the same file with the mapping of its check, read in the same way. */
export function loadFile(
  { stream, media_type, mapping, header }: CheckAnswer,
  file: File,
  { charset }: Settings,
  onDuplicate: OnDuplicate | undefined,
  options: { signal: AbortSignal; onProgress(sentBytes: number): void },
): Promise<IngestAnswer> {
  const parts: Record<string, string> = mapping === undefined ? {} : { mapping: JSON.stringify(mapping) };
  const query = new URLSearchParams({
    rejected_text: 'true',
    ...(charset && { charset }),
    // To create all of them, nobody has to be looked up.
    ...(onDuplicate && onDuplicate !== 'create' && { on_duplicate: onDuplicate }),
    ...(header && { header_row: String(header.line) }),
  });
  return upload(`/api/ingest/${stream}?${query}`, formOf(parts, file, media_type), options);
}

/** The parts come before the file, which is read as it arrives. */
function formOf(parts: Record<string, string>, file: Blob, type: string): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(parts)) form.append(name, text);
  form.append('file', file.slice(0, file.size, type));
  return form;
}

/** Whose the contacts of a file are, in words. Empty for other streams. */
export function peopleText({ created, updated = 0, matched = 0, ambiguous = 0 }: CheckResult): string {
  if (created === undefined) return '';
  const parts = [
    [created, 'new'],
    [updated, 'with an id that you have'],
    [matched, 'that you have (by email or profile)'],
    [ambiguous, 'that you have more than once'],
  ] as const;
  return parts.flatMap(([number, text]) => (number > 0 ? [`${count(number)} ${text}`] : [])).join(', ');
}

/** Rows that a load writes. */
export const loadable = (
  { accepted, matched = 0, ambiguous = 0 }: CheckResult,
  onDuplicate: OnDuplicate | undefined,
): number =>
  accepted -
  (onDuplicate === 'reject' ? matched : 0) -
  (onDuplicate === undefined || onDuplicate === 'create' ? 0 : ambiguous);

/** The charset that a check proposes, in its answer or in its problem. */
export function proposedCharset(answer: CheckAnswer | unknown): string | undefined {
  const { proposed } = (answer instanceof ReachlineProblem ? answer.document : answer) as {
    proposed?: { charset?: string };
  };
  return proposed?.charset;
}

/** Whether the file is still what was chosen: a browser reads no file that has changed since. */
export const isReadable = (file: File): Promise<boolean> =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );

/** What a rejected record is wrong in, by the names of the file, and why. */
export function reasonOf(
  columns: readonly FileColumn[],
  { pointer, detail }: { pointer: string; detail: string },
): [where: string, why: string] {
  const [, field = ''] = pointer.split('/');
  const named = columns.filter(({ fields }) => fields.includes(field)).map(({ column }) => column);
  const why = field !== '' && detail.startsWith(field) ? detail.replace(/^\S+ /, '') : detail;
  return [named.join(', ') || fieldLabel(field), why.charAt(0).toUpperCase() + why.slice(1)];
}

/** The rejected records as the file has them; of CSV with the reason in a further column. */
export function rejectedText(
  { header, columns }: CheckAnswer,
  { rejected_records = [] }: IngestAnswer,
): string {
  if (header === undefined) return rejected_records.map(({ text }) => `${text}\n`).join('');
  const withCell = (row: string, cell: string) =>
    `${row.replace(/\r$/, '')}${header.delimiter}${csvCell(cell, header.delimiter)}\n`;
  const rows = rejected_records.map((record) => {
    const reason = reasonOf(columns, record).filter(Boolean).join(': ');
    return withCell(record.text, reason);
  });
  return [withCell(header.text, 'rejected because'), ...rows].join('');
}
