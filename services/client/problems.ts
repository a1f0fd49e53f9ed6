/** Errors as classes: a response that is not a success, or no response. */
import type { ProblemCode } from './operations.js';

/** One violated rule. */
export interface FieldError {
  /** JSON Pointer into the body, `?name` for a query parameter, `#Name` for a header. */
  pointer: string;
  code: string;
  detail: string;
}

/** The received `application/problem+json`, including members of its kind, such as `credit_balance` or `candidates`. */
export interface ProblemDocument {
  code?: string;
  title?: string;
  detail?: string;
  request_id?: string;
  errors?: FieldError[];
  [member: string]: unknown;
}

/** A response that is not a success. `message` is its detail. */
export class ReachlineProblem extends Error {
  override readonly name: string = 'ReachlineProblem';
  /** `unknown` if the response has no code, because it does not come from a gateway. */
  readonly code: ProblemCode | 'unknown';
  readonly status: number;
  readonly title: string;
  readonly errors: readonly FieldError[];
  readonly requestId: string | undefined;
  /** From `Retry-After`. */
  readonly retryAfterMs: number | undefined;
  readonly document: ProblemDocument;
  /** Whether the request may have written something: it was a write, and its outcome is unknown. */
  outcomeUnknown = false;

  constructor(status: number, document: ProblemDocument, retryAfterMs?: number) {
    const title = document.title ?? `The server answered ${status}`;
    super(document.detail ?? title);
    this.code = (document.code ?? 'unknown') as ProblemCode | 'unknown';
    this.status = status;
    this.title = title;
    this.errors = document.errors ?? [];
    this.requestId = document.request_id;
    this.retryAfterMs = retryAfterMs;
    this.document = document;
  }
}

/** 401: the key is missing, wrong, expired or revoked. */
export class AuthenticationProblem extends ReachlineProblem {
  override readonly name: string = 'AuthenticationProblem';
}

/** 402. */
export class InsufficientCreditsProblem extends ReachlineProblem {
  override readonly name: string = 'InsufficientCreditsProblem';
  get requiredCredits(): number {
    return Number(this.document.required_credits);
  }
  get creditBalance(): number {
    return Number(this.document.credit_balance);
  }
}

/** 403: the key lacks a scope, or belongs to another organization. */
export class PermissionProblem extends ReachlineProblem {
  override readonly name: string = 'PermissionProblem';
}

/** 404: no such contact, audience, company, stream or operation. */
export class NotFoundProblem extends ReachlineProblem {
  override readonly name: string = 'NotFoundProblem';
}

/** 409: the contact exists, the company is ambiguous, or the first request with an idempotency key is still running. */
export class ConflictProblem extends ReachlineProblem {
  override readonly name: string = 'ConflictProblem';
}

/** 422: `errors` lists all violated rules. */
export class ValidationProblem extends ReachlineProblem {
  override readonly name: string = 'ValidationProblem';
}

/** 429, after the last attempt. */
export class RateLimitProblem extends ReachlineProblem {
  override readonly name: string = 'RateLimitProblem';
}

/** 5xx, after the last attempt. */
export class UnavailableProblem extends ReachlineProblem {
  override readonly name: string = 'UnavailableProblem';
}

/** No complete response after the last attempt. `cause` is the error of `fetch`. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  /** As in `ReachlineProblem`. */
  outcomeUnknown = false;
}

const CLASSES: Record<number, typeof ReachlineProblem> = {
  401: AuthenticationProblem,
  402: InsufficientCreditsProblem,
  403: PermissionProblem,
  404: NotFoundProblem,
  409: ConflictProblem,
  422: ValidationProblem,
  429: RateLimitProblem,
};

/** The problem in a response with this status. */
export function problemOf(response: Response, text: string): ReachlineProblem {
  const { status } = response;
  const Class = CLASSES[status] ?? (status >= 500 ? UnavailableProblem : ReachlineProblem);
  return new Class(status, parse(text), retryAfterMs(response.headers));
}

function parse(text: string): ProblemDocument {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as ProblemDocument) : {};
  } catch {
    return {};
  }
}

/** Parses Retry-After: seconds or an HTTP date, as RFC 9110 permits. A date is relative to the clock of the server. */
export function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get('Retry-After')?.trim() ?? '';
  if (/^\d{1,12}(?:\.\d{1,12})?$/.test(text)) return Math.ceil(Number(text) * 1000);
  if (!/^[A-Z][a-z]{2,8},/.test(text)) return undefined;
  const now = Date.parse(headers.get('Date') ?? '');
  const milliseconds = Date.parse(text) - (Number.isNaN(now) ? Date.now() : now);
  return Number.isNaN(milliseconds) ? undefined : Math.max(0, milliseconds);
}
