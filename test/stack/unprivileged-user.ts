import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';

/** Elasticsearch does not run as root, so root runs the servers as `nobody`. Null for anyone else. */
export function unprivilegedUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Makes a folder one that such a server may write to. */
export function handOver(folder: string): void {
  const user = unprivilegedUser();
  if (user) chownSync(folder, user.uid, user.gid);
}
