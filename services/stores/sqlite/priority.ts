import { setPriority } from 'node:os';

/** How nice threads are: a busy event loop goes before searches, and both before bulk loads. */
export const NICENESS = { reader: 2, writer: 5 };

/** On Linux this is the calling thread's own priority. */
export function lowerPriority(niceness: number): void {
  try {
    setPriority(0, niceness);
  } catch {
    // Not allowed here: the thread works all the same.
  }
}
