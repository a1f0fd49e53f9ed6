/** What the console adds to the client of the API: failures as it shows them. */
import { ConnectionError, type PagedPath, ReachlineProblem } from '../client/index.js';

export type { OperationPath, RequestOf, ResponseOf } from '../client/index.js';

/** Why there is no answer. */
export interface FailureText {
  title: string;
  detail: string;
  requestId?: string;
  /** Before it, the same request is not taken. */
  retryAfterMs?: number;
  /** The server is away or overloaded, so the same request may succeed later. */
  isTemporary?: boolean;
  /** Of the same request again, at once or later. */
  canRetry?: boolean;
}

/** The problem `changed_meanwhile`, said to people. */
const CHANGED_MEANWHILE = {
  title: 'Somebody else changed it meanwhile',
  detail: 'Nothing was overwritten. Look at it, and do it again if you still want to.',
};

/** Whether a change may have been made although it failed, because a proxy or a server that gave up answered, or nobody did. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof ReachlineProblem && [500, 502, 504].includes(error.status));

const TEMPORARY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export function failureOf(error: unknown): FailureText {
  if (error instanceof ReachlineProblem && error.code === 'changed_meanwhile') {
    return {
      title: 'Somebody else changed it meanwhile',
      detail: 'Nothing was saved. Look at what is there now, and make your change again.',
      requestId: error.requestId,
      canRetry: true,
    };
  }
  if (error instanceof ReachlineProblem) {
    const { title, message, requestId, status, errors, retryAfterMs } = error;
    const detail = errors.length > 1 ? errors.map((each) => each.detail).join(' ') : message;
    return {
      title,
      detail: detail === title ? '' : detail,
      ...(error.code === 'changed_meanwhile' && CHANGED_MEANWHILE),
      requestId,
      retryAfterMs,
      isTemporary: TEMPORARY.has(status),
      canRetry: status !== 422,
    };
  }
  if (error instanceof ConnectionError) {
    return {
      title: 'The server cannot be reached',
      detail: 'It may have stopped, or this device is offline.',
      isTemporary: true,
      canRetry: true,
    };
  }
  if ((error as Error).name === 'AbortError') return { title: 'Stopped', detail: '' };
  return { title: 'The console failed', detail: String(error), canRetry: true };
}

/** What an export writes. */
export interface ExportSource {
  /** Name of the file without its extension. */
  name: string;
  path: PagedPath;
  /** The request of the view; its page, and what that page is compared with, are left out. */
  body: object;
}
