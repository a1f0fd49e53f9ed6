/** CSV as far as a file is cut into requests, its columns are named anew, and rejected rows are handed back. The server decides what is valid. */

export interface CsvRow {
  /** From 1, where the row begins. */
  line: number;
  /** Without its line feed, but with the empty lines before it. */
  text: string;
}

export function delimiterOf(text: string): string {
  const [line = ''] = text
    .replace(/"[^"]*"/g, '')
    .trimStart()
    .split('\n', 1);
  const count = (delimiter: string) => line.split(delimiter).length;
  return [',', ';', '\t'].reduce((best, delimiter) => (count(delimiter) > count(best) ? delimiter : best));
}

export const newlines = (text: string) => text.split('\n').length - 1;

/** Line feeds inside quotation marks belong to a row, and empty lines to the row behind them. */
export function csvRows(text: string): CsvRow[] {
  const delimiter = delimiterOf(text.slice(0, 65_536));
  // A quoted cell, whose marks are doubled, or one without; then what ends it.
  const cell = new RegExp(`(?:"(?:[^"]|"")*"?|)[^\\n${delimiter}]*(${delimiter}|\\n|$)`, 'gy');
  const rows: CsvRow[] = [];
  let line = 1;
  /** Start of the row with the empty lines before it, and start of its own line. */
  let [begin, own] = [0, 0];
  while (cell.lastIndex < text.length) {
    const end = cell.exec(text)?.[1];
    if (end === delimiter && cell.lastIndex < text.length) continue;
    // A row of empty cells is no empty line, also where the delimiter is a tab.
    const ownText = text.slice(own, cell.lastIndex);
    if (ownText.includes(delimiter) || ownText.trim() !== '') {
      const row = text.slice(begin, cell.lastIndex);
      rows.push({ line, text: row.replace(/\r?\n$/, '') });
      line += newlines(row);
      begin = cell.lastIndex;
    }
    own = cell.lastIndex;
  }
  return rows;
}

export function csvCells(row: string, delimiter: string): string[] {
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"?|)([^${delimiter}]*)(?:${delimiter}|$)`, 'gy');
  const text = row.replace(/^[\r\n]+/, '');
  const cells: string[] = [];
  while (cells.length === 0 || cell.lastIndex <= text.length) {
    const [found = '', quoted = '', rest = ''] = cell.exec(text) ?? [];
    cells.push(quoted.replaceAll('""', '"') + rest);
    if (!found.endsWith(delimiter)) break;
  }
  return cells;
}

export const csvCell = (text: string, delimiter: string): string =>
  /["\r\n]/.test(text) || text.includes(delimiter) ? `"${text.replaceAll('"', '""')}"` : text;
