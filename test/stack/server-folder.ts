import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { handOver } from './unprivileged-user.js';

/** A new temporary folder with folders in it, all of them the server's own. */
export function makeServerFolder(name: string, ...inside: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), `reachline-${name}-`));
  chmodSync(folder, 0o755);
  handOver(folder);
  for (const part of inside) {
    mkdirSync(join(folder, part));
    handOver(join(folder, part));
  }
  return folder;
}
