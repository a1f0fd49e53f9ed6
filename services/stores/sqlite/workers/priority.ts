import { setPriority } from 'node:os';

const NICENESS = 5;

/** Lowers the priority of the process (on Linux: thread), so that the event loop runs first. */
export function runInBackground(): void {
  try {
    setPriority(NICENESS);
  } catch {
    // The environment does not permit this.
  }
}
