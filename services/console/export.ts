/** All rows of a view as a file, read page by page with the request of the view. */
export const MAX_EXPORT_ROWS = 50_000;

export type ExportFormat = 'csv' | 'ndjson';

export interface ExportSource<Row extends object> {
  /** Name of the file without its extension. */
  name: string;
  /** Answers the page at a cursor, `null` for the first, and the cursor of the next, `null` at the end. */
  readPage(
    cursor: string | null,
    signal: AbortSignal,
  ): Promise<{ rows: readonly Row[]; next: string | null }>;
}

/** Throws as the client does. */
export async function download<Row extends object>(
  { name, readPage }: ExportSource<Row>,
  format: ExportFormat,
  signal: AbortSignal,
  onProgress: (rows: number) => void,
): Promise<{ rows: number; isComplete: boolean }> {
  const rows: Row[] = [];
  let cursor: string | null = null;
  do {
    const page: { rows: readonly Row[]; next: string | null } = await readPage(cursor, signal);
    rows.push(...page.rows);
    cursor = page.next;
    onProgress(rows.length);
  } while (cursor !== null && rows.length < MAX_EXPORT_ROWS);
  const saved = rows.slice(0, MAX_EXPORT_ROWS);
  const text = format === 'csv' ? toCsv(saved) : saved.map((row) => `${JSON.stringify(row)}\n`).join('');
  save(`${name}.${format}`, text, format === 'csv' ? 'text/csv' : 'application/x-ndjson');
  return { rows: saved.length, isComplete: cursor === null && saved.length === rows.length };
}

function save(fileName: string, text: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  // The browser reads it after this task.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** The columns are the fields of the first row; lists in a cell are joined by `;` (contract 3.13). */
function toCsv(rows: readonly object[]): string {
  const names = Object.keys(rows[0] ?? {});
  const lines = rows.map((row) =>
    names.map((name) => cell((row as Record<string, unknown>)[name])).join(','),
  );
  return [names.map(cell).join(','), ...lines, ''].join('\r\n');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return cell(Array.isArray(value) ? value.join(';') : String(value));
  // A spreadsheet would run it as a formula.
  const text = /^[=+\-@\t\r]/.test(value) && !/^-?[\d.]+$/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
