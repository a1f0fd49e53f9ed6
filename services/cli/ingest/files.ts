import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { UsageError } from '../errors.js';
import { type Io, printErr } from '../io.js';
import { isReadable } from './input.js';

/** The files that arguments name, each once: paths, and folders with everything in them, sorted. Throws UsageError for a folder without any. */
export function findFiles(io: Io, paths: readonly string[]): string[] {
  if (paths.includes('-') && paths.length > 1) {
    throw new UsageError('- stands for standard input; name it alone.');
  }
  return [...new Set(paths.flatMap((path) => filesOf(io, path)))];
}

function filesOf(io: Io, path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  const all = filesBelow(path);
  const readable = all.filter(isReadable);
  if (readable.length === 0) throw new UsageError(`${path} has no file of records; name one with --format.`);
  const others = all.length - readable.length;
  if (others > 0) printErr(io, `${others} files in ${path} are left out, as they are of other formats.`);
  return readable;
}

/** Without hidden ones. */
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !/(?:^|\/)\./.test(relative(folder, path)))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile())
    .sort();
