import { type Io, say } from './io.js';

/** Prints rows under their headings, every column as wide as its longest cell. */
export function table(io: Io, headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [headings, ...rows];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  for (const row of all) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    say(io, cells.join('  ').trimEnd());
  }
}
