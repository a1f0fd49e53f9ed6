import { setPriority } from 'node:os';

/** On Linux this is the calling thread's own priority: the event loop comes first. */
export function lowerPriority(): void {
  try {
    setPriority(0, 10);
  } catch {
    // Not allowed here: the thread works all the same.
  }
}
