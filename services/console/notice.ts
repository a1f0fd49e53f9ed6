/** What was just done, and how to undo it. */
import { signal } from '@preact/signals';
import { failureOf } from './api.js';

export interface Notice {
  text: string;
  isFailure?: boolean;
  /** Answers what it did. Absent where nothing can be undone. */
  undo?(): Promise<Notice>;
}

export const notice = signal<Notice | null>(null);

/** Counts what was written here, so that what is shown is read again. */
export const writes = signal(0);

/** Runs a change and says what it did, or why it failed. Answers whether it succeeded. */
export async function perform(change: () => Promise<Notice>): Promise<boolean> {
  try {
    const done = await change();
    notice.value = done;
    return done.isFailure !== true;
  } catch (error) {
    const { title, detail } = failureOf(error);
    notice.value = { text: [title, detail].filter(Boolean).join('. '), isFailure: true };
    return false;
  } finally {
    writes.value++;
  }
}
