import { type Io, say } from './io.js';

/** Characters that a terminal obeys instead of showing them, or that change the direction or the line of what follows. */
const NOT_SHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Prints rows under their headings, every column as wide as its longest cell. */
export function table(io: Io, headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [headings, ...rows.map((row) => row.map((cell) => cell.replace(NOT_SHOWN, ' ')))];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  for (const row of all) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    say(io, cells.join('  ').trimEnd());
  }
}

/** JSON in which such characters are escaped too: `JSON.stringify` leaves those above U+001F as they are. */
export const terminalJson = (value: unknown): string =>
  JSON.stringify(value).replace(NOT_SHOWN, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
