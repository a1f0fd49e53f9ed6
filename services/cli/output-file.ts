/** Files that commands write: they appear once they are complete, and none is a file that the command reads or a file of a store. */
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

/** A file or folder, whatever names it has: device and inode, or for a missing file its folder and name. */
export type Place = string;

const ofStats = ({ dev, ino }: Pick<Stats, 'dev' | 'ino'>): Place => `${dev}:${ino}`;

export function placeOf(path: string): Place {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats) return ofStats(stats);
  const folder = statSync(dirname(path), { throwIfNoEntry: false });
  // Names that differ in case alone may be one.
  return `${folder ? ofStats(folder) : dirname(path)}/${basename(path).toLowerCase()}`;
}

/** The place of the file that standard input is redirected from. */
export function placeOfStandardInput(): Place {
  try {
    return ofStats(fstatSync(0));
  } catch {
    // Closed.
    return '-';
  }
}

/** Throws `UsageError` where Reachline keeps data at this path, or at a folder above it. */
export function requireOutsideStores(path: string): void {
  const owner = findOwner(path);
  if (owner === undefined) return;
  throw new UsageError(
    `${path} is a file of the stores in the data folder ${owner}, which would be overwritten; choose another path.`,
  );
}

/**
 * A file that is written beside its place, as `<name>.<8 random digits>.part`, a name that nothing has, and renamed once it is complete: what the path named before stays until then.
 * A device or pipe is written directly.
 */
export class OutputFile {
  /** The path without links, so that a link stays one; as the system resolves `..` behind a link, which its text alone does not tell. */
  readonly #path: string;
  readonly #partial: string | null;
  readonly #file: number;

  /** Throws `UsageError` for a file of a store, and the errors of the file system. */
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

  /** A stream for a pipeline, whose end leaves the file open. */
  stream(): WriteStream {
    return createWriteStream('', { fd: this.#file, autoClose: false });
  }

  /** The file takes its place. */
  complete(): void {
    closeSync(this.#file);
    if (this.#partial !== null) renameSync(this.#partial, this.#path);
  }

  /** Deletes what was written. */
  discard(): void {
    closeSync(this.#file);
    if (this.#partial !== null) rmSync(this.#partial, { force: true });
  }
}
