import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

/** A new folder, deleted when its file of tests has ended. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'reachline-test-'));
  folders.push(folder);
  return folder;
}

export function removeTempFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

// Needed by runs without the hooks of opened.ts.
process.once('exit', removeTempFolders);
