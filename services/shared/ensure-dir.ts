import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it, for their user alone. Node's own recursive `mkdirSync` never returns where a file system refuses with ENOENT,
 * as /proc does.
 */
export function ensureDir(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) ensureDir(dirname(path));
  mkdirSync(path, 0o700);
}
