/** Requests that check a file and load it into a stream. The server reads the file. */
import type { StreamName } from '../client/index.js';
import { ReachlineProblem } from '../client/index.js';
import type { CheckAnswer, IngestAnswer } from '../client/operations.js';
import { type FailureText, failureOf } from './api.js';
import { csvCell } from './export.js';
import type { FileLoad, LoadRequest, OnDuplicate, Question, Settings } from './file-load.js';
import { count, fieldLabel, megabytes } from './format.js';
import type { Session } from './session.js';

export type { CheckAnswer, IngestAnswer };

export type FileColumn = CheckAnswer['columns'][number];
export type RecordError = IngestAnswer['errors'][number];
type CheckResult = NonNullable<CheckAnswer['result']>;
export type PersonMatch = NonNullable<CheckResult['matches']>[number];
/** For a larger file, only this many bytes at its beginning are checked. */
const CHECKED_BYTES = 8 * 1024 * 1024;
const ANY_FORMAT = 'application/octet-stream';

/** Checks what a file is and what loading it would do. For a large file, sends only the beginning if that is sufficient. */
export async function checkFile(
  session: Session,
  stream: StreamName,
  file: File,
  settings: Settings,
  signal: AbortSignal,
): Promise<CheckAnswer> {
  const check = (content: Blob, beginning: boolean) => {
    const { columns = {}, ...query } = settings;
    const body = formOf({ columns: JSON.stringify(columns) }, content, ANY_FORMAT);
    return session.send<CheckAnswer>({
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

export const CHANGED: FailureText = {
  title: 'The file cannot be read any more',
  detail: 'It was changed, moved or deleted after it was chosen. Choose it again.',
};

/** Loads a checked file as a job of the session. Resolves with the outcome. */
export function loadFile(session: Session, what: LoadRequest): Promise<FileLoad> {
  const { file } = what;
  return session.work(`Loading ${file.name}`, async ({ signal, progress }) => {
    let load: FileLoad = { ...what, sentBytes: 0, state: 'loading' };
    const show = (change: Partial<FileLoad>) => {
      load = { ...load, ...change };
      session.fileLoad.value = load;
    };
    const onProgress = (sent: number) => {
      const sentBytes = Math.min(sent, file.size);
      if (signal.aborted) return;
      show({ sentBytes });
      progress.value =
        sentBytes < file.size
          ? `${megabytes(sentBytes)} of ${megabytes(file.size)} sent`
          : 'The file is sent. The server reads the last rows …';
    };
    onProgress(0);
    try {
      const { audience } = what;
      if (audience && audience.id === undefined) {
        const created = await session.call('/api/audiences/create', { name: audience.name });
        show({ audience: created.audience });
      }
      show({ state: 'done', result: await sendFile(session, load, { signal, onProgress }) });
    } catch (reason) {
      const question = formQuestionOf(reason);
      if (question) show({ state: 'stopped', question });
      else if (signal.aborted) show({ state: 'stopped' });
      else show({ state: 'stopped', error: (await isReadable(file)) ? failureOf(reason) : CHANGED });
    }
    session.writes.value++;
    return load;
  });
}

/** The question to ask if a load fails because its check had not read an ambiguous value; undefined for other errors. */
function formQuestionOf(error: unknown): Question | undefined {
  const code = error instanceof ReachlineProblem ? error.errors[0]?.code : undefined;
  if (code === 'ambiguous_date') {
    return { code, answer: 'date_order', choices: [{ value: 'dmy' }, { value: 'mdy' }] };
  }
  if (code !== 'ambiguous_number') return undefined;
  return { code, answer: 'decimal', choices: [{ value: '.' }, { value: ',' }] };
}

/** Sends the file with the mapping, the header line and the charset that its check used. */
function sendFile(
  session: Session,
  { answer, file, settings: { charset }, onDuplicate, importId, audience }: LoadRequest,
  options: { signal: AbortSignal; onProgress(sentBytes: number): void },
): Promise<IngestAnswer> {
  const { stream, media_type, mapping, header } = answer;
  const parts: Record<string, string> = mapping === undefined ? {} : { mapping: JSON.stringify(mapping) };
  const query = new URLSearchParams({
    rejected_text: 'true',
    ...(charset && { charset }),
    ...(onDuplicate && { on_duplicate: onDuplicate }),
    ...(importId && { import_id: importId }),
    ...(audience?.id && { audience_id: audience.id }),
    ...(header && { header_row: String(header.line) }),
  });
  return session.upload(`/api/ingest/${stream}?${query}`, formOf(parts, file, media_type), options);
}

/** The server reads the file as it arrives, so the other parts come first. */
function formOf(parts: Record<string, string>, file: Blob, type: string): FormData {
  const form = new FormData();
  for (const [name, text] of Object.entries(parts)) form.append(name, text);
  form.append('file', file.slice(0, file.size, type));
  return form;
}

/** Describes in words how many people of a file have a contact already. Empty for other streams. */
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

/** Number of rows that a load writes. */
export const loadable = (
  { accepted, matched = 0, ambiguous = 0 }: CheckResult,
  onDuplicate: OnDuplicate | undefined,
): number =>
  accepted -
  (onDuplicate === 'reject' ? matched : 0) -
  (onDuplicate === undefined || onDuplicate === 'create' ? 0 : ambiguous);

/** Number of contacts that a load created; undefined if people were not looked up. */
export const createdBy = (
  { created, matched = 0, ambiguous = 0 }: IngestAnswer,
  onDuplicate: OnDuplicate | undefined,
): number | undefined =>
  created === undefined ? undefined : created + (onDuplicate === 'create' ? matched + ambiguous : 0);

/** The charset that a check proposes, in its response or in its problem. */
export function proposedCharset(answer: CheckAnswer | unknown): string | undefined {
  const { proposed } = (answer instanceof ReachlineProblem ? answer.document : answer) as {
    proposed?: { charset?: string };
  };
  return proposed?.charset;
}

/** Whether the file is unchanged since it was chosen. Browsers cannot read a changed file. */
export const isReadable = (file: File): Promise<boolean> =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );

/** Why a record was rejected, with the column names of the file. */
export function reasonOf(
  columns: readonly FileColumn[],
  { pointer, detail }: { pointer: string; detail: string },
): [where: string, why: string] {
  const [, field = ''] = pointer.split('/');
  const named = columns.filter(({ fields }) => fields.includes(field)).map(({ column }) => column);
  const why = field !== '' && detail.startsWith(field) ? detail.replace(/^\S+ /, '') : detail;
  return [named.join(', ') || fieldLabel(field), why.charAt(0).toUpperCase() + why.slice(1)];
}

/** The rejected records in the format of the file. CSV gets a further column with the reason. */
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
