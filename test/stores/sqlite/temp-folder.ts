import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

/** A new folder, gone after the tests. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reachline-sqlite-'));
  folders.push(folder);
  return folder;
}

/** For an `after` of the tests that made folders. */
export function removeTempFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}
