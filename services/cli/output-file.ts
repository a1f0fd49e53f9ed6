/** Files that commands write. A file appears once it is complete. It never replaces an input of the command or a file of a store. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  createWriteStream,
  fstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  type WriteStream,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { findOwner } from '../stores/data-folder/own-files.js';
import { UsageError } from './errors.js';

/** Identity of a file or folder, whatever path names it: device and inode, or for a missing file its folder and name. */
export type Place = string;

const ofStats = ({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): Place => `${dev}:${ino}`;

export function placeOf(path: string): Place {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats) return ofStats(stats);
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  // Names that differ only in case may be the same file.
  return `${folder ? ofStats(folder) : dirname(path)}/${basename(path).toLowerCase()}`;
}

/** Identity of the file that standard input is redirected from. */
export function placeOfStandardInput(): Place {
  try {
    return ofStats(fstatSync(0));
  } catch {
    // Closed.
    return '-';
  }
}

/** Throws `UsageError` if the path, or a folder above it, holds data of Reachline. */
export function requireOutsideStores(path: string): void {
  const owner = findOwner(path);
  if (owner === undefined) return;
  throw new UsageError(
    `${path} is a file of the stores in the data folder ${owner}, which would be overwritten; choose another path.`,
  );
}

/**
 * A file that is written under a temporary name in the same folder, `<name>.<8 random digits>.part`, and renamed once it is complete. Until
 * then, the previous file stays. A device or pipe is written directly.
 */
export class OutputFile {
  /**
   * The path with links resolved, so that the target of a link is replaced and the link stays. The file system resolves `..` after a link,
   * which the text of the path cannot.
   */
  readonly #path: string;
  readonly #partial: string | null;
  readonly #file: number;

  /** Throws `UsageError` for a file of a store, and file system errors. */
  constructor(path: string) {
    requireOutsideStores(path);
    const before = statSync(path, { throwIfNoEntry: false });
    this.#path = before
      ? realpathSync.native(path)
      : join(realpathSync.native(dirname(path)), basename(path));
    if (before?.isDirectory())
      throw Object.assign(new Error(`${path} is a folder`), { code: 'EISDIR', path });
    const isDirect = before !== undefined && !before.isFile();
    this.#partial = isDirect ? null : `${this.#path}.${randomBytes(4).toString('hex')}.part`;
    if (this.#partial === null) {
      this.#file = openSync(this.#path, 'w');
      return;
    }
    this.#file = openSync(this.#partial, 'wx');
  }

  write(bytes: Uint8Array): void {
    for (let written = 0; written < bytes.length; ) written += writeSync(this.#file, bytes, written);
  }

  /** A stream for a pipeline; the file stays open when it ends. */
  stream(): WriteStream {
    return createWriteStream('', { fd: this.#file, autoClose: false });
  }

  /** Closes the file and renames it to its final name. */
  complete(): void {
    closeSync(this.#file);
    if (this.#partial !== null) renameSync(this.#partial, this.#path);
  }

  /** Closes the file and deletes its temporary copy. */
  discard(): void {
    closeSync(this.#file);
    if (this.#partial !== null) rmSync(this.#partial, { force: true });
  }
}
