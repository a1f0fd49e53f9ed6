/** Extends the API client with failures in the form in which the console shows them. */
import { ConnectionError, type FieldError, type PagedPath, ReachlineProblem } from '../client/index.js';
import { fieldLabel } from './format.js';

export type { OperationPath, RequestOf, ResponseOf } from '../client/index.js';

/** Message for a request that failed. */
export interface FailureText {
  title: string;
  detail: string;
  /** Code of the problem, such as `missing_rates`. */
  code?: string;
  requestId?: string;
  /** Milliseconds before which the server rejects the same request again. */
  retryAfterMs?: number;
  /** The server is unreachable or overloaded, so that the same request may succeed later. */
  isTemporary?: boolean;
  /** Whether the same request may be repeated, at once or later. */
  canRetry?: boolean;
  /** The fields of the request that are wrong. */
  fields?: readonly WrongField[];
}

/** A field of a request that is wrong, and why, in words: `Must be an email address.` */
export interface WrongField {
  name: string;
  /** Place in a list, from 0. */
  index: number;
  text: string;
}

/** The fields whose path, such as `work_emails[0]`, begins the sentence of the server. */
function wrongField({ pointer, detail }: FieldError): WrongField | undefined {
  const [, name = '', index = '0'] = pointer.split('/');
  if (name === '' || !detail.startsWith(name)) return undefined;
  const why = detail.replace(/^\S+ /, '');
  return { name, index: Number(index), text: why.charAt(0).toUpperCase() + why.slice(1) };
}

function sentenceOf(error: FieldError): string {
  const field = wrongField(error);
  return field ? `${fieldLabel(field.name)}: ${field.text}` : error.detail;
}

/** Message for the problem `changed_meanwhile`. */
const CHANGED_MEANWHILE = {
  title: 'Somebody else changed it meanwhile',
  detail: 'Nothing was overwritten. Check the current version, and repeat the change if you still want it.',
};

/** Whether a failed change may have been made all the same: a proxy or an overloaded server responded, or no response came. */
export const isOutcomeUnknown = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof ReachlineProblem && [500, 502, 504].includes(error.status));

const TEMPORARY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

export function failureOf(error: unknown): FailureText {
  if (error instanceof ReachlineProblem && error.code === 'changed_meanwhile') {
    return {
      title: 'Somebody else changed it meanwhile',
      detail: 'Nothing was saved. Check the current version, and make your change again.',
      requestId: error.requestId,
      canRetry: true,
    };
  }
  if (error instanceof ReachlineProblem) {
    const { title, message, requestId, status, errors, retryAfterMs } = error;
    const fields = errors.flatMap((each) => wrongField(each) ?? []);
    const isAboutFields = errors.length > 1 || errors[0]?.detail === message;
    const detail = isAboutFields ? errors.map(sentenceOf).join(' ') : message;
    return {
      title,
      detail: detail === title ? '' : detail,
      ...(error.code === 'changed_meanwhile' && CHANGED_MEANWHILE),
      code: error.code,
      requestId,
      fields,
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

/** The rows that an export writes. */
export interface ExportSource {
  /** File name without extension. */
  name: string;
  path: PagedPath;
  /** The request of the view. The page and the comparison are left out. */
  body: object;
}
