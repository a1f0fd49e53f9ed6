import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

/** A new folder, deleted by `removeTempFolders`. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reachline-sqlite-'));
  folders.push(folder);
  return folder;
}

/** For the `after` hook of tests that create folders. */
export function removeTempFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
