import { createHash } from 'node:crypto';
import { constants, type Dirent, mkdirSync, readdirSync, type Stats, statfsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { BackupError } from './errors.js';

const BUFFER_BYTES = 1024 * 1024;

/** Options of `rm`: removes everything below, and accepts a missing path. */
export const REMOVE_OPTIONS = { recursive: true, force: true };

/** A file system object below a folder. `path` is relative to the folder, with slashes. */
export interface FolderEntry {
  path: string;
  kind: 'file' | 'link' | 'folder';
}

/**
 * Yields everything below a folder, parents first; nothing if the folder is missing or was just deleted. `skip` leaves out an entry with
 * everything below it.
 */
export function* walk(
  root: string,
  skip: (entry: FolderEntry) => boolean = () => false,
  below = '',
): Generator<FolderEntry> {
  for (const entry of readFolder(join(root, below))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`;
    const kind = entry.isDirectory() ? 'folder' : entry.isSymbolicLink() ? 'link' : 'file';
    // Sockets and similar files belong to a process, not to the data.
    if (kind === 'file' && !entry.isFile()) continue;
    if (skip({ path, kind })) continue;
    yield { path, kind };
    if (kind === 'folder') yield* walk(root, skip, path);
  }
}

function readFolder(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

export interface FileDigest {
  bytes: number;
  /** SHA-256 in hexadecimal. */
  sha256: string;
}

/**
 * Describes a file system object that is not a regular file; null for a regular file. A named pipe or link in a foreign backup is never
 * read.
 */
export function irregularity(stats: Stats): string | null {
  if (stats.isFile()) return null;
  if (stats.isSymbolicLink()) return 'is a symbolic link, not a regular file';
  if (stats.isFIFO()) return 'is a named pipe, not a regular file';
  if (stats.isSocket()) return 'is a socket, not a regular file';
  if (stats.isDirectory()) return 'is a folder, not a regular file';
  return 'is a device, not a regular file';
}

/**
 * Opens a file without following links, and without waiting for a writer, as a named pipe would. Throws a `BackupError`, and errors of the
 * file system.
 */
export async function openRegularFile(path: string): Promise<FileHandle> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const irregular = irregularity(await handle.stat());
  if (irregular === null) return handle;
  await handle.close();
  throw new BackupError(`${path} ${irregular}.`);
}

/**
 * Reads a regular file. If `to` is given, writes the content to a new file, which only its user can read and which is on disk when the copy
 * ends.
 */
export async function copyFile(
  from: string,
  to: string | undefined,
  onBytes: (bytes: number) => void,
): Promise<FileDigest> {
  const source = await openRegularFile(from);
  let target: FileHandle | undefined;
  try {
    target = to === undefined ? undefined : await open(to, 'wx', 0o600);
    const hash = createHash('sha256');
    const buffer = Buffer.allocUnsafe(BUFFER_BYTES);
    let bytes = 0;
    for (;;) {
      const { bytesRead } = await source.read(buffer, 0, BUFFER_BYTES, null);
      if (bytesRead === 0) break;
      const read = buffer.subarray(0, bytesRead);
      hash.update(read);
      if (target) await target.writeFile(read);
      bytes += bytesRead;
      onBytes(bytesRead);
    }
    await target?.sync();
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    await source.close();
    await target?.close();
  }
}

/** Creates the folders of a copy, which only the user can read, and syncs the folders at the end. */
export class CopiedFolders {
  readonly #paths = new Set<string>();

  create(path: string): void {
    if (this.#paths.has(path)) return;
    mkdirSync(path, { recursive: true, mode: 0o700 });
    this.#paths.add(path);
  }

  async sync(): Promise<void> {
    for (const path of this.#paths) await syncPath(path);
  }
}

/** Flushes a file, or the entries of a folder, to disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Throws a `BackupError` if the disk of a folder has too little free space. `otherwise` is the part of the message that names another way.
 */
export function requireSpace(folder: string, neededBytes: number, otherwise: string): void {
  const { bavail, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  if (freeBytes >= neededBytes) return;
  const mib = (bytes: number) => Math.ceil(bytes / 1024 / 1024);
  throw new BackupError(
    `The backup needs up to ${mib(neededBytes)} MiB, and ${mib(freeBytes)} MiB are free on the disk of ${dirname(folder)}. Make room, or ${otherwise}.`,
  );
}
