/** Finds out whether a path is in a data folder, so that no command overwrites a store. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { hasStores, isOwnName } from './layout.js';

/** The path without links, even if its last parts do not exist yet. */
export function resolveLinks(path: string): string {
  // The file system resolves a link before it applies `..`; `resolve` does not.
  if (existsSync(path)) return realpathSync.native(path);
  const absolute = resolve(path);
  const parent = dirname(absolute);
  return parent === absolute ? absolute : join(resolveLinks(parent), basename(absolute));
}

/**
 * The data folder, of this or another installation, that has a file or folder of Reachline at this path; undefined if there is none. Looks
 * at the files beside each part of the path, so links, mounted folders and other spellings of the path give the same result. A file of the
 * user with another name, beside the stores, does not count.
 */
export function findOwner(path: string): string | undefined {
  for (let part = resolveLinks(path); dirname(part) !== part; part = dirname(part)) {
    if (isOwnName(basename(part)) && hasStores(dirname(part))) return dirname(part);
  }
  return undefined;
}
