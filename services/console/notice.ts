/** What was just done, and how to undo it. */
import { failureOf, isOutcomeUnknown } from './api.js';

export interface Notice {
  text: string;
  isFailure?: boolean;
  /** Answers what it did. Absent where nothing can be undone. */
  undo?(): Promise<Notice>;
}

/** `what` is what nobody knows when the answer is lost, such as "the contact was deleted". */
export function failureNotice(what: string, error: unknown): Notice {
  const { title, detail } = failureOf(error);
  const sentences = isOutcomeUnknown(error)
    ? [title, `It is not known whether ${what}`, 'Look, and do it again if needed.']
    : [title, detail];
  return { text: sentences.filter(Boolean).join('. '), isFailure: true };
}
