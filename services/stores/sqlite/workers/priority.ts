import { setPriority } from 'node:os';

const NICENESS = 5;

/** Lets the event loop go before the calling process or thread, which on Linux has a priority of its own. */
export function runInBackground(): void {
  try {
    setPriority(NICENESS);
  } catch {
    // Not allowed here.
  }
}
