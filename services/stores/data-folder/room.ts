import { statfs } from 'node:fs/promises';

/** A batch of a bulk load, its index and its log. */
const NEEDED_BYTES = 64 * 1024 * 1024;

/** Whether the disk of a folder has room for writes. */
export async function hasRoom(folder: string): Promise<boolean> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize >= NEEDED_BYTES;
}
