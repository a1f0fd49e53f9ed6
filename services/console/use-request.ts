import { useEffect, useRef, useState } from 'preact/hooks';
import { type FailureText, failureOf, type OperationPath, type RequestOf, type ResponseOf } from './api.js';
import { writes } from './notice.js';
import { call } from './session.js';

export interface RequestState<T> {
  /** The last answer; it stays while the next one is on its way, and when that fails. */
  data: T | undefined;
  error: FailureText | undefined;
  loading: boolean;
  retry(): void;
}

/** Sends the request whenever it changes, and aborts the one before. `null` sends nothing. */
export function useRequest<P extends OperationPath>(
  path: P,
  body: RequestOf<P> | null,
): RequestState<ResponseOf<P>> {
  const [state, setState] = useState<{
    data?: ResponseOf<P>;
    error?: FailureText;
    request?: string;
    attempt?: number;
  }>({});
  const [attempts, setAttempt] = useState(0);
  const attempt = attempts + writes.value;
  const request = body && `${path} ${JSON.stringify(body)}`;
  const isAnswered = state.request === request && state.attempt === attempt;
  useEffect(() => {
    if (request === null || body === null || isAnswered) return;
    const abort = new AbortController();
    const answer = { request, attempt };
    call(path, body, { signal: abort.signal }).then(
      (data) => abort.signal.aborted || setState({ data, ...answer }),
      (error: unknown) =>
        abort.signal.aborted || setState((before) => ({ ...before, error: failureOf(error), ...answer })),
    );
    return () => abort.abort();
  }, [request, attempt]);
  return {
    // Not that of another operation.
    data: state.request?.startsWith(`${path} `) ? state.data : undefined,
    // It stays while the same request is tried again.
    error: state.request === request ? state.error : undefined,
    loading: request !== null && !isAnswered,
    retry: () => setAttempt((number) => number + 1),
  };
}

/** Rows of one request. */
const MAX_LIMIT = 1000;

type CursorPath = '/api/contacts/search' | '/api/audiences/contacts/search' | '/api/website-visits/search';

export interface Pages<Row, Answer = unknown> {
  /** The answer with the last page. */
  answer: Answer | undefined;
  /** Each page keeps its identity, so that a further one does not draw the others again. */
  pages: readonly (readonly Row[])[];
  total: number | undefined;
  error: FailureText | undefined;
  loading: boolean;
  hasMore: boolean;
  more(): void;
  retry(): void;
}

interface PagesState<Row, Answer> {
  pages: (readonly Row[])[];
  answer?: Answer;
  cursor: string | null;
  request?: string;
  attempt?: number;
  error?: FailureText;
  isLoadingMore: boolean;
}

/** An endless list: the first page whenever the request changes, further ones by `more`. */
export function usePages<P extends CursorPath, Row>(
  path: P,
  body: RequestOf<P> | null,
  rowsOf: (answer: ResponseOf<P>) => readonly Row[],
): Pages<Row, ResponseOf<P>> {
  const [state, setState] = useState<PagesState<Row, ResponseOf<P>>>({
    pages: [],
    cursor: null,
    isLoadingMore: false,
  });
  const [attempts, setAttempt] = useState(0);
  const attempt = attempts + writes.value;
  const controller = useRef<AbortController>(undefined);
  const request = body === null ? null : `${path} ${JSON.stringify(body)}`;
  const isAnswered = state.request === request && state.attempt === attempt;

  /** The page behind those there are. */
  const load = (
    body: RequestOf<P>,
    { signal }: AbortController,
    before: PagesState<Row, unknown>['pages'],
  ) => {
    const answered = { request: request ?? undefined, attempt, isLoadingMore: false };
    return call(path, body, { signal }).then(
      (answer) =>
        signal.aborted ||
        setState({ pages: [...before, rowsOf(answer)], answer, cursor: answer.next_cursor, ...answered }),
      (error: unknown) =>
        signal.aborted ||
        setState((last) => ({
          ...last,
          error: failureOf(error),
          cursor: before.length === 0 ? null : last.cursor,
          ...answered,
        })),
    );
  };

  useEffect(() => {
    if (body === null) return;
    const abort = new AbortController();
    controller.current = abort;
    // After a change as many rows as before, so that the list does not jump.
    const shown = state.request === request ? state.pages.reduce((sum, rows) => sum + rows.length, 0) : 0;
    const limit = Math.min(MAX_LIMIT, Math.max(shown, body.limit ?? 0));
    void load({ ...body, limit }, abort, []);
    return () => abort.abort();
  }, [request, attempt]);

  function more(): void {
    const abort = controller.current;
    if (state.cursor === null || state.isLoadingMore || !isAnswered || !abort || !body) return;
    setState((before) => ({ ...before, isLoadingMore: true }));
    void load({ ...body, cursor: state.cursor }, abort, state.pages);
  }

  return {
    answer: state.answer,
    pages: state.pages,
    total: state.answer?.total_count,
    // It stays while the same request is tried again.
    error: state.request === request ? state.error : undefined,
    loading: (request !== null && !isAnswered) || state.isLoadingMore,
    hasMore: state.cursor !== null,
    more,
    retry: () => (state.cursor === null ? setAttempt((number) => number + 1) : more()),
  };
}
