import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A tmpfs of a few megabytes. */
export interface SmallDisk {
  path: string;
  /** Leaves at most `leave` bytes free. */
  fill(leave?: number): void;
  /** Frees what `fill` took. */
  free(): void;
  makeReadOnly(): void;
  remove(): void;
}

/** Null if this user may not mount a file system. */
export function mountSmallDisk(megabytes: number): SmallDisk | null {
  const path = mkdtempSync(join(tmpdir(), 'reachline-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    rmdirSync(path);
    return null;
  }
  const ballast = join(path, 'ballast');
  const bytesFree = () => {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  };
  return {
    path,
    fill(leave = 0) {
      const file = openSync(ballast, 'a');
      while (bytesFree() > leave) writeSync(file, Buffer.alloc(Math.min(65_536, bytesFree() - leave), 1));
      closeSync(file);
    },
    free: () => rmSync(ballast),
    makeReadOnly: () => void execFileSync('mount', ['-o', 'remount,ro', path]),
    remove() {
      // Unmounts lazily, because a dying process may still hold files open.
      execFileSync('umount', ['-l', path]);
      rmdirSync(path);
    },
  };
}
