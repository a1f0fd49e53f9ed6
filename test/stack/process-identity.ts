import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** A process that cannot be mistaken for a later process with the same number. */
export interface ProcessIdentity {
  pid: number;
  startedAt: string;
}

/** When the process started, in a form to compare; null if there is none, or if it only waits to be reaped. */
export function startOf(pid: number): string | null {
  if (existsSync('/proc/self/stat')) {
    try {
      // The name of the command, in parentheses, may contain anything.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return fields[0] === 'Z' ? null : (fields[19] ?? null);
    } catch {
      return null;
    }
  }
  try {
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  } catch {
    return null;
  }
}

export const isRunning = ({ pid, startedAt }: ProcessIdentity) => startOf(pid) === startedAt;

/** Sends `kill -9` to the process and everything that it started. Resolves when they are gone. */
export async function killGroup(leader: ProcessIdentity): Promise<void> {
  if (!isRunning(leader)) return;
  try {
    process.kill(-leader.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
  await groupEnds(leader.pid, 10_000);
}

/** Whether the whole group ended within that time. */
export async function groupEnds(leader: number, milliseconds: number): Promise<boolean> {
  for (const until = performance.now() + milliseconds; performance.now() < until; ) {
    if (startOf(leader) === null && !hasMembers(leader)) return true;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return false;
}

function hasMembers(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}
