import { setPriority } from 'node:os';

/** Niceness of threads and processes: the event loop goes before searches, and both before bulk loads and long searches. */
export const NICENESS = { lookup: 0, search: 2, writer: 5, longSearch: 10 };

/** Sets the niceness of a process; 0 is the calling thread, which on Linux has its own. */
export function lowerPriority(niceness: number, process = 0): void {
  try {
    setPriority(process, niceness);
  } catch {
    // Not allowed here, or the process has ended: all works the same.
  }
}
