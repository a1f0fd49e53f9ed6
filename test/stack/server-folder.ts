import { chmodSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { serversFolder } from './quick.js';
import { handOver, type User, unprivilegedUser } from './unprivileged-user.js';

/** A new temporary folder with folders in it, all of them the server's own. */
export function makeServerFolder(
  name: string,
  inside: readonly string[],
  user: User | null = unprivilegedUser(),
): string {
  const folder = mkdtempSync(join(serversFolder(), `reachline-${name}-`));
  chmodSync(folder, 0o755);
  handOver(folder, user);
  for (const part of inside) {
    mkdirSync(join(folder, part));
    handOver(join(folder, part), user);
  }
  return folder;
}
