import { closeSync, existsSync, openSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { packageRoot } from '../shared/fs.js';
import { CommandError } from './errors.js';

/** The parts of the process that a command uses. */
export interface Io {
  readonly stdin: Readable & { isTTY?: boolean };
  stdout: Writable & { isTTY?: boolean; columns?: number };
  stderr: Writable & { isTTY?: boolean };
  env: NodeJS.ProcessEnv;
}

/**
 * Makes descriptor 0 empty: the embedded engine would read it as extra rows of an insert. Call this before other threads open files,
 * because the next open gets the lowest free descriptor, the one just closed.
 */
export function emptyStandardInput(): void {
  closeSync(0);
  openSync('/dev/null', 'r');
}

/** Paths of descriptor 0 that are not links. */
const DESCRIPTOR_0 = new RegExp(`^/(?:dev/fd|proc/${process.pid}(?:/task/\\d+)?/fd)/0$`);

/** Whether an argument means standard input: -, or a path that leads to it, such as /dev/stdin. Works after `emptyStandardInput` too. */
export function isStandardInput(path: string): boolean {
  let place = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    if (place === '-') return true;
    try {
      place = join(realpathSync(dirname(place)), basename(place));
      if (DESCRIPTOR_0.test(place)) return true;
      // `/proc` names the redirected file, not the descriptor.
      if (place.startsWith('/proc/')) return false;
      place = resolve(dirname(place), readlinkSync(place));
    } catch {
      // The path is not a link, or does not exist.
      return false;
    }
  }
  return false;
}
const MAX_LINKS = 40;

/** Colours are used on terminals only, and never with NO_COLOR (https://no-color.org). */
export const showsColors = ({ env, ...io }: Io, stream: 'stdout' | 'stderr'): boolean =>
  io[stream].isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb';

/** The text in a style, if the stream shows colours. */
export const styled = (io: Io, stream: 'stdout' | 'stderr', style: Style, text: string): string =>
  showsColors(io, stream) ? styleText(style, text, { validateStream: false }) : text;

/** Control characters except tab and line feed, and characters that change the direction or break the line of the following text. */
const NOT_SHOWN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Replaces characters that a terminal would obey with escape sequences such as \u001b, which mean the same in JSON. Text from files, names,
 * requests and other processes may contain such characters.
 */
export const printable = (text: string): string =>
  text.replace(NOT_SHOWN, (character) =>
    [...Array(character.length).keys()]
      .map((index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`)
      .join(''),
  );

type Style = Parameters<typeof styleText>[0];

/** Writes a line with the result of a command to standard output. All output of commands goes through this function or `printErr`. */
export const printOut = (io: Io, line: string, style?: Style) => print(io, 'stdout', line, style);

/** Writes a line to standard error: information for people in addition to the result. */
export const printErr = (io: Io, line: string, style?: Style) =>
  print(io, 'stderr', asTyped(io.env, line), style);

/** Writes a line to standard output that begins with a styled mark. */
export const printMarked = (io: Io, style: Style, mark: string, line: string) =>
  void io.stdout.write(`${styled(io, 'stdout', style, mark)} ${printable(asTyped(io.env, line))}\n`);

/** Commands in a message as they can be typed in this folder: by name if the PATH has it, otherwise by the path of the script. */
function asTyped({ PATH = '' }: Io['env'], line: string): string {
  const isInPath = PATH.split(delimiter).some((folder) => existsSync(join(folder, 'reachline')));
  const script = join(packageRoot, 'reachline');
  if (isInPath || !existsSync(script)) return line;
  const path = relative(process.cwd(), script);
  const typed = path.startsWith('..') ? script : `./${path}`;
  return line.replace(/(?<![\w./-])reachline (?=[a-z])/g, `${typed} `);
}

function print(io: Io, stream: 'stdout' | 'stderr', line: string, style?: Style): void {
  const text = printable(line);
  io[stream].write(`${style === undefined ? text : styled(io, stream, style, text)}\n`);
}

/**
 * Asks for confirmation on a terminal, unless `yes`; a script cannot answer. Throws CommandError with `refusal` for any answer except yes.
 */
export async function confirm(
  io: Io,
  yes: boolean | undefined,
  question: string,
  refusal: string,
): Promise<void> {
  if (yes || !io.stdin.isTTY || !io.stderr.isTTY) return;
  const prompt = createInterface({ input: io.stdin, output: io.stderr });
  const closed = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([prompt.question(`${printable(question)} [y/N] `), closed]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new CommandError(refusal);
  } finally {
    prompt.close();
  }
}

/** Formats 12345 as `12 345`. */
export const formatCount = (count: number) => String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, ' ');

/** Columns are not cut below this width. */
const MIN_COLUMN_WIDTH = 8;

/**
 * Prints rows below their headings. Each column is as wide as its longest cell; on a terminal, the widest columns are cut until a row fits.
 */
export function printTable(io: Io, headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const all = [headings, ...rows.map((row) => row.map((cell) => printable(cell.replace(/\s+/g, ' '))))];
  const widths = headings.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  if (io.stdout.isTTY && io.stdout.columns) cutToFit(widths, io.stdout.columns);
  for (const [index, row] of all.entries()) {
    const cells = row.map((cell, column) => truncate(cell, widths[column] ?? 0).padEnd(widths[column] ?? 0));
    const line = cells.join('  ').trimEnd();
    printOut(io, line, index === 0 ? 'bold' : undefined);
  }
}

function cutToFit(widths: number[], available: number): void {
  const excess = () => widths.reduce((sum, width) => sum + width + 2, -2) - available;
  for (let left = excess(); left > 0; left--) {
    const widest = Math.max(...widths);
    if (widest <= MIN_COLUMN_WIDTH) return;
    widths[widths.indexOf(widest)] = widest - 1;
  }
}

/** Returns at most `length` characters. If characters are left out, the last is an ellipsis. */
export const truncate = (text: string, length: number): string =>
  text.length <= length ? text : `${text.slice(0, length - 1)}…`;
