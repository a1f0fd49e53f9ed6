/** The last change, and how to undo it. */
import { failureOf, isOutcomeUnknown, type WrongField } from './api.js';

export interface Notice {
  text: string;
  isFailure?: boolean;
  /** The fields that are wrong, for a form to mark. */
  fields?: readonly WrongField[];
  /** Undoes the change, and resolves with a notice. Absent if the change cannot be undone. */
  undo?(): Promise<Notice>;
}

/** `what` completes "It is not known whether …" if the response is lost, such as "the contact was deleted". */
export function failureNotice(what: string, error: unknown): Notice {
  const { title, detail, fields } = failureOf(error);
  const sentences = isOutcomeUnknown(error)
    ? [title, `It is not known whether ${what}`, 'Check, and repeat it if needed.']
    : [title, detail];
  return { text: sentences.filter(Boolean).join('. '), isFailure: true, fields };
}
