import { execFileSync } from 'node:child_process';
import { chownSync } from 'node:fs';

export interface User {
  uid: number;
  gid: number;
}

/** Elasticsearch does not run as root, so root runs the servers as `nobody`. Null for anyone else. */
export function unprivilegedUser(): User | null {
  if (process.getuid?.() !== 0) return null;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'nobody'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Lets the unprivileged user write to a folder. */
export function handOver(folder: string, user: User | null): void {
  if (user) chownSync(folder, user.uid, user.gid);
}
