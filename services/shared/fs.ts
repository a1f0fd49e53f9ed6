import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Creates a directory and its parents with mode 0700. Throws the errors of `mkdirSync`. Node's recursive `mkdirSync` never returns on a
 * file system that responds with ENOENT, such as /proc.
 */
export function ensureDir(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) ensureDir(dirname(path));
  mkdirSync(path, 0o700);
}

/** The content of a JSON file; null if it is missing or unreadable. */
export function readJson<T>(path: string): T | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch {
    return null;
  }
}

/** Writes a JSON file that only its user can read. */
export function writeJson(path: string, content: object): void {
  writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
}

/** Replaces a file that only its user can read. After a crash or power loss, the file has its old or its new content. */
export function replaceFile(path: string, content: string): void {
  const partial = `${path}.part`;
  writeFileSync(partial, content, { mode: 0o600, flush: true });
  renameSync(partial, path);
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** The directory of this package's package.json, whether this code runs from the sources or from `dist`. */
export const packageRoot: string = findRoot(dirname(fileURLToPath(import.meta.url)));

function findRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new Error('package.json of reachline was not found');
  return findRoot(parent);
}
