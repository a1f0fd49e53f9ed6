/** A file on its way into a stream: read, cut into requests, and its rejected records as a file again. */
import type { RejectedRecord, StreamName } from '../client/index.js';
import type { IngestQuery } from '../client/operations.js';
import { type CsvRow, csvCell, csvCells, csvRows, delimiterOf, newlines } from './csv.js';
import { fieldLabel } from './format.js';
import { type ColumnUse, type IngestAnswer, ingestText } from './session.js';

/** Beyond it a browser is the wrong tool. */
const MAX_FILE_BYTES = 128 * 1024 * 1024;
/** Of one request: answered in seconds, and far below what the gateway accepts. */
const PART_ROWS = 5000;
const PART_CHARACTERS = 2 * 1024 * 1024;
/** Rejected records that can be downloaded. */
export const MAX_LISTED = 1000;

const TYPES: Record<string, string> = {
  csv: 'text/csv',
  tsv: 'text/csv',
  txt: 'text/csv',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  json: 'application/json',
};

export interface ImportFile {
  name: string;
  type: string;
  /** As it is sent. */
  rows: readonly CsvRow[];
  /** As the file has them, where the columns were named anew. */
  originals: readonly CsvRow[];
  /** Its columns, once it is known what they become. */
  columns?: readonly ColumnUse[];
}

/** Throws an error whose message says what to do. */
export async function readImportFile(file: File): Promise<ImportFile> {
  const extension = file.name.slice(file.name.lastIndexOf('.') + 1).toLowerCase();
  const type = TYPES[extension];
  if (type === undefined) {
    throw new Error(
      `A file of the kind .${extension} cannot be read. Save it as CSV in UTF-8, or as JSON lines.`,
    );
  }
  if (file.size > MAX_FILE_BYTES) {
    throw new Error('The file has more than 128 MiB. Use reachline ingest, which resumes where it stopped.');
  }
  const text = decode(new Uint8Array(await file.arrayBuffer()));
  const rows =
    type === 'application/json' ? jsonRows(text) : type === 'text/csv' ? csvRows(text) : linesOf(text);
  if (rows.length === 0) throw new Error('The file is empty.');
  // An array is sent in parts, a record per line.
  const sent = type === 'application/json' ? 'application/x-ndjson' : type;
  return { name: file.name, type: sent, rows, originals: rows };
}

function decode(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw new Error('The file is not UTF-8. Save it as CSV in UTF-8.');
  }
}

function jsonRows(text: string): CsvRow[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`The file is not JSON: ${(error as Error).message}.`);
  }
  return [value].flat().map((record, index) => ({ line: index + 1, text: JSON.stringify(record) }));
}

const linesOf = (text: string): CsvRow[] =>
  text
    .split('\n')
    .map((line, index) => ({ line: index + 1, text: line.replace(/\r$/, '') }))
    .filter((row) => row.text.trim() !== '');

/** The end of the rows that go into one request with the one at `from`. */
export function endOfPart(
  { rows }: ImportFile,
  from: number,
  maxRows = PART_ROWS,
  maxCharacters = PART_CHARACTERS,
): number {
  let to = from;
  for (let size = 0; to < rows.length && to - from < maxRows && size < maxCharacters; to++) {
    size += rows[to]?.text.length ?? 0;
  }
  return to;
}

/** How many rows come before the first record that a dry run of the whole file names: the header, and what a report has above it. */
export function headerRowsOf({ rows }: ImportFile, { records = [], errors }: IngestAnswer): number {
  const first = Math.min(...[...records, ...errors].map(({ line }) => line));
  const index = rows.findIndex(({ line, text }) => first <= line + newlines(text));
  return Math.max(0, index);
}

/** A rejected record of the file. */
export interface Rejected extends RejectedRecord {
  /** Of `rows`. */
  row: number;
}

export interface Sending {
  stream: StreamName;
  file: ImportFile;
  /** Rows that come first in each request. */
  header: number;
  query: IngestQuery;
  signal: AbortSignal;
}

/** Sends rows in one request; of the rejected ones at most 100 are listed. */
export async function sendRows(
  { stream, file, header, query, signal }: Sending,
  from: number,
  to: number,
): Promise<IngestAnswer & { listed: Rejected[] }> {
  const head = file.rows.slice(0, Math.min(header, from));
  const sent = [...head, ...file.rows.slice(from, to)];
  const text = sent.map((row) => `${row.text}\n`).join('');
  const answer = await ingestText(stream, { type: file.type, text }, query, signal);
  const listed: Rejected[] = [];
  let line = 1;
  let at = 0;
  for (const error of answer.errors) {
    for (let next = line; at < sent.length; at++, line = next) {
      next = line + newlines(sent[at]?.text ?? '') + 1;
      if (error.line < next) break;
    }
    const row = from + at - head.length;
    listed.push({ ...error, row, line: file.originals[row]?.line ?? error.line });
  }
  return { ...answer, listed };
}

/** Writes rows, and finds up to `room` of those that are rejected: behind the ones that are listed, the rest is checked again. */
export async function writeRows(
  sending: Sending,
  from: number,
  to: number,
  room: number,
): Promise<IngestAnswer & { listed: Rejected[] }> {
  const written = await sendRows(sending, from, to);
  let { listed, rejected } = written;
  const all = [...listed];
  while (rejected > listed.length && listed.length > 0 && all.length < room) {
    const check = { ...sending, query: { ...sending.query, dry_run: true } };
    ({ listed, rejected } = await sendRows(check, (listed.at(-1)?.row ?? to) + 1, to));
    all.push(...listed);
  }
  return { ...written, listed: all.slice(0, room) };
}

/** What a rejected record is wrong in, by the names of the file, and why. */
export function reasonOf(
  { columns = [] }: ImportFile,
  { pointer, detail }: Pick<RejectedRecord, 'pointer' | 'detail'>,
): [where: string, why: string] {
  const [, field = ''] = pointer.split('/');
  const named = columns.filter(({ fields }) => fields.includes(field)).map(({ column }) => column);
  const why = field !== '' && detail.startsWith(field) ? detail.replace(/^\S+ /, '') : detail;
  return [named.join(', ') || fieldLabel(field), why.charAt(0).toUpperCase() + why.slice(1)];
}

/** The rejected rows as the file has them, with the reason in a further column, or as JSON lines. */
export function rejectedText(file: ImportFile, header: number, rejected: readonly Rejected[]): string {
  const rowText = (index: number) => (file.originals[index]?.text ?? '').replace(/^[\r\n]+/, '');
  if (file.type !== 'text/csv') return rejected.map(({ row }) => `${rowText(row)}\n`).join('');
  const titles = rowText(header - 1);
  const delimiter = delimiterOf(titles);
  const lines = rejected.map((record) => {
    const reason = reasonOf(file, record).filter(Boolean).join(': ');
    return `${rowText(record.row)}${delimiter}${csvCell(reason, delimiter)}`;
  });
  return [`${titles}${delimiter}rejected because`, ...lines].map((line) => `${line}\n`).join('');
}

/** A column of the file, and the field it becomes; '' leaves it out. */
export interface ColumnChoice {
  column: string;
  sample: string;
  field: string;
}

const wordsOf = (name: string) =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
/** Usual names of columns that are not those of the fields. */
const USUAL_NAMES: Record<string, string> = {
  email: 'work_emails',
  'e mail': 'work_emails',
  'email address': 'work_emails',
  'work email': 'work_emails',
  phone: 'phones',
  'phone number': 'phones',
  mobile: 'phones',
  company: 'company_name',
  organization: 'company_name',
  website: 'company_domain',
  domain: 'company_domain',
  title: 'job_title',
  position: 'job_title',
  role: 'job_title',
  department: 'functional_area',
  'linkedin url': 'network_a_url',
  'given name': 'first_name',
  'family name': 'last_name',
  surname: 'last_name',
  state: 'state_region',
  zip: 'postal_code',
  industry: 'company_industry',
  id: 'contact_id',
};

/** The columns of the first row, each with a field where its name says which. */
export function columnsOf({ rows }: ImportFile, fields: readonly string[]): ColumnChoice[] {
  const header = rows[0]?.text ?? '';
  const delimiter = delimiterOf(header);
  const samples = rows.slice(1, 20).map(({ text }) => csvCells(text, delimiter));
  const taken = new Set<string>();
  return csvCells(header, delimiter).map((column, index) => {
    const name = wordsOf(column);
    const known = fields.find((field) => wordsOf(field) === name) ?? USUAL_NAMES[name] ?? '';
    const field = fields.includes(known) && !taken.has(known) ? known : '';
    taken.add(field);
    return { column, field, sample: samples.map((cells) => cells[index] ?? '').find(Boolean) ?? '' };
  });
}

/** An id that the same address always gets, of the characters that ids may have. */
const idOfEmail = (email: string) =>
  email
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, (char) => `_${char.codePointAt(0)?.toString(16)}`);

/** The file with the chosen columns under the names of their fields. Contacts without a column of ids get them from their email. */
export function withColumns(file: ImportFile, choices: readonly ColumnChoice[]): ImportFile {
  const delimiter = delimiterOf(file.rows[0]?.text ?? '');
  const chosen = choices.flatMap(({ field }, index) => (field === '' ? [] : [{ field, index }]));
  const email = chosen.find(({ field }) => field === 'work_emails' || field === 'personal_emails')?.index;
  const needsId = email !== undefined && !chosen.some(({ field }) => field === 'contact_id');
  const rename = (cells: readonly string[]) => [
    ...(needsId ? [idOfEmail(cells[email] ?? '')] : []),
    ...chosen.map(({ index }) => cells[index] ?? ''),
  ];
  const titles = [...(needsId ? ['contact_id'] : []), ...chosen.map(({ field }) => field)];
  const rows = file.originals.map(({ line, text }, index) => {
    const cells = csvCells(text, delimiter);
    const renamed = index === 0 ? titles : rename(cells);
    // What has too few or too many cells is still rejected.
    if (cells.length !== choices.length) renamed.push('-');
    return { line, text: renamed.map((cell) => csvCell(cell, ',')).join(',') };
  });
  const columns = choices.map(({ column, field }) => ({ column, fields: field === '' ? [] : [field] }));
  return { ...file, rows, columns };
}
