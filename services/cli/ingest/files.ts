import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { UsageError } from '../errors.js';
import { type Io, isStandardInput, printErr } from '../io.js';
import { placeOf } from '../output-file.js';
import { isReadable } from './input.js';

/**
 * The files that the arguments name: paths, and all files in folders, sorted. A file with several names is returned once. Throws UsageError
 * for a folder without files of records.
 */
export function findFiles(io: Io, named: readonly string[]): string[] {
  const paths = named.map((path) => (isStandardInput(path) ? '-' : path));
  if (paths.includes('-') && paths.length > 1) {
    throw new UsageError('- stands for standard input; name it alone.');
  }
  const seen = new Set<string>();
  return paths
    .flatMap((path) => filesOf(io, path))
    .filter((path) => {
      const place = placeOf(path);
      return !seen.has(place) && seen.add(place);
    });
}

function filesOf(io: Io, path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [path];
  const { files: all, links } = entriesBelow(path);
  if (links > 0) printErr(io, `${links} links to folders in ${path} are not followed; name the folders.`);
  const readable = all.filter(isReadable);
  if (readable.length === 0) throw new UsageError(`${path} has no file of records; name one with --format.`);
  const others = all.length - readable.length;
  if (others > 0) printErr(io, `${others} files in ${path} are left out because of their format.`);
  return readable;
}

/** Visible files, sorted, and the number of links to folders. */
function entriesBelow(folder: string): { files: string[]; links: number } {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => ({ entry, path: join(entry.parentPath, entry.name) }))
    .filter(({ path }) => !/(?:^|\/)\./.test(relative(folder, path)))
    .map(({ entry, path }) => ({ entry, path, stats: statSync(path, { throwIfNoEntry: false }) }));
  return {
    files: entries
      .filter(({ stats }) => stats?.isFile())
      .map(({ path }) => path)
      .sort(),
    links: entries.filter(({ entry, stats }) => entry.isSymbolicLink() && stats?.isDirectory()).length,
  };
}
