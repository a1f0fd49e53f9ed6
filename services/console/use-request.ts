import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
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

/**
 * Sends the request whenever it changes, and aborts the one before. `null` sends nothing. `again` is what is sent for the same one once
 * more, as after each write here; `onlyWhenAsked` sends it again by `retry` alone.
 */
export function useRequest<P extends OperationPath>(
  path: P,
  body: RequestOf<P> | null,
  again = (same: RequestOf<P>) => same,
  { onlyWhenAsked = false } = {},
): RequestState<ResponseOf<P>> {
  const [state, setState] = useState<{
    data?: ResponseOf<P>;
    error?: FailureText;
    request?: string;
    attempt?: number;
  }>({});
  const [attempts, setAttempt] = useState(0);
  const attempt = onlyWhenAsked ? attempts : attempts + writes.value;
  const request = body && `${path} ${JSON.stringify(body)}`;
  const isAnswered = state.request === request && state.attempt === attempt;
  useEffect(() => {
    if (request === null || body === null || isAnswered) return;
    const abort = new AbortController();
    const answer = { request, attempt };
    call(path, state.request === request ? again(body) : body, { signal: abort.signal }).then(
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

export type CursorPath =
  | '/api/contacts/search'
  | '/api/audiences/contacts/search'
  | '/api/website-visits/search'
  | '/api/keys/list'
  | '/api/rejections/list'
  | '/api/contacts/erasures';

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

/** The pages behind the first one. */
interface Further<Row, Answer> {
  first?: Answer;
  pages: readonly (readonly Row[])[];
  /** The last one. */
  answer?: Answer;
  error?: FailureText;
  loading: boolean;
}

const NO_FURTHER: Further<never, never> = { pages: [], loading: false };

/** An endless list: the first page whenever the request changes, further ones by `more`. */
export function usePages<P extends CursorPath, Row>(
  path: P,
  body: RequestOf<P> | null,
  rowsOf: (answer: ResponseOf<P>) => readonly Row[],
): Pages<Row, ResponseOf<P>> {
  const shown = useRef(0);
  // After a change as many rows as before, so that the list does not jump.
  const { data, ...first } = useRequest(path, body, (same) => ({
    ...same,
    limit: Math.min(MAX_LIMIT, Math.max(shown.current, same.limit ?? 0)),
  }));
  const [state, setFurther] = useState<Further<Row, ResponseOf<P>>>(NO_FURTHER);
  const further = state.first === data ? state : NO_FURTHER;
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), [data]);
  const firstRows = useMemo(() => data && rowsOf(data), [data]);
  const pages = useMemo(() => (firstRows ? [firstRows, ...further.pages] : []), [firstRows, further.pages]);
  shown.current = pages.reduce((sum, rows) => sum + rows.length, 0);
  const answer = further.answer ?? data;
  const cursor = first.error ? null : (answer?.next_cursor ?? null);
  const loading = first.loading || further.loading;

  function more(): void {
    if (cursor === null || loading || !body) return;
    controller.current = new AbortController();
    const { signal } = controller.current;
    setFurther({ ...further, first: data, loading: true });
    call(path, { ...body, cursor }, { signal }).then(
      (next) =>
        signal.aborted ||
        setFurther({ first: data, pages: [...further.pages, rowsOf(next)], answer: next, loading: false }),
      (error: unknown) =>
        signal.aborted || setFurther({ ...further, first: data, error: failureOf(error), loading: false }),
    );
  }

  return {
    answer,
    pages,
    total: answer?.total_count,
    error: first.error ?? (first.loading ? undefined : further.error),
    loading,
    hasMore: cursor !== null,
    more,
    retry: cursor === null ? first.retry : more,
  };
}
