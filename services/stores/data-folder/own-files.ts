/** Finds which paths lie in a data folder, so that no command writes over a store. */
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { hasStores, isOwnName } from './layout.js';

/** The path without links, also where its last parts do not exist yet. */
export function resolveLinks(path: string): string {
  // The system goes through links before it goes up, `resolve` does not.
  if (existsSync(path)) return realpathSync.native(path);
  const absolute = resolve(path);
  const parent = dirname(absolute);
  return parent === absolute ? absolute : join(resolveLinks(parent), basename(absolute));
}

/**
 * The data folder, of this or of another installation, that has a file or folder of Reachline at this path; undefined where none has.
 * Looks at the files beside each part of the path, so a link, a mounted folder or another spelling leads to the same answer. A file that
 * a user keeps beside the stores under a name of its own is not meant.
 */
export function findOwner(path: string): string | undefined {
  for (let part = resolveLinks(path); dirname(part) !== part; part = dirname(part)) {
    if (isOwnName(basename(part)) && hasStores(dirname(part))) return dirname(part);
  }
  return undefined;
}
