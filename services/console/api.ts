/** What the console adds to the client of the API: failures as it shows them. */
import { ConnectionError, ReachlineProblem } from '../client/index.js';

export type { OperationPath, RequestOf, ResponseOf } from '../client/index.js';

/** Why there is no answer. */
export interface FailureText {
  title: string;
  detail: string;
  requestId?: string;
}

export function failureOf(error: unknown): FailureText {
  if (error instanceof ReachlineProblem) {
    const { title, message, requestId } = error;
    return { title, detail: message === title ? '' : message, requestId };
  }
  if (error instanceof ConnectionError) {
    return {
      title: 'The server cannot be reached',
      detail: 'It may have stopped, or this device is offline.',
    };
  }
  return { title: 'The console failed', detail: String(error) };
}
