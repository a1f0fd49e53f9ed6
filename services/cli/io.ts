import type { Readable, Writable } from 'node:stream';

/** The parts of the process that a command uses. */
export interface Io {
  stdin: Readable;
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable & { isTTY?: boolean };
  env: NodeJS.ProcessEnv;
}

/** Writes a line to standard output: the result of a command. */
export const printOut = (io: Io, line: string) => void io.stdout.write(`${line}\n`);

/** Writes a line to standard error: what people may want to know besides the result. */
export const printErr = (io: Io, line: string) => void io.stderr.write(`${line}\n`);

/** `12 345`: thousands separated by spaces. */
export const formatCount = (count: number) => String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ' ');

/** Control characters, and those that change direction or line of what follows. */
const NOT_SHOWN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Prints rows below their headings, every column as wide as its longest cell. */
export function printTable(io: Io, headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [headings, ...rows.map((row) => row.map((cell) => cell.replace(NOT_SHOWN, ' ')))];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  for (const row of all) {
    const cells = row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    printOut(io, cells.join('  ').trimEnd());
  }
}

/** JSON with such characters escaped: `JSON.stringify` leaves those above U+001F as they are. */
export const terminalJson = (value: unknown): string =>
  JSON.stringify(value).replace(NOT_SHOWN, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );
