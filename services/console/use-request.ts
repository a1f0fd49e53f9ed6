import { useEffect, useRef, useState } from 'preact/hooks';
import { type FailureText, failureOf, type OperationPath, type RequestOf, type ResponseOf } from './api.js';
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
  const [state, setState] = useState<{ data?: ResponseOf<P>; error?: FailureText; of?: string }>({});
  const [attempt, setAttempt] = useState(0);
  const of = body && `${attempt} ${path} ${JSON.stringify(body)}`;
  useEffect(() => {
    if (of === null || body === null || state.of === of) return;
    const abort = new AbortController();
    call(path, body, { signal: abort.signal }).then(
      (data) => abort.signal.aborted || setState({ data, of }),
      (error: unknown) =>
        abort.signal.aborted || setState((before) => ({ ...before, error: failureOf(error), of })),
    );
    return () => abort.abort();
  }, [of]);
  return {
    data: state.data,
    error: state.of === of ? state.error : undefined,
    loading: of !== null && state.of !== of,
    retry: () => setAttempt((number) => number + 1),
  };
}

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
  of?: string;
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
  const [attempt, setAttempt] = useState(0);
  const controller = useRef<AbortController>(undefined);
  const of = body && `${attempt} ${path} ${JSON.stringify(body)}`;

  /** The page behind those there are. */
  const load = (
    request: RequestOf<P>,
    { signal }: AbortController,
    before: PagesState<Row, unknown>['pages'],
  ) =>
    call(path, request, { signal }).then(
      (answer) =>
        signal.aborted ||
        setState({
          pages: [...before, rowsOf(answer)],
          answer,
          cursor: answer.next_cursor,
          of: of ?? undefined,
          isLoadingMore: false,
        }),
      (error: unknown) =>
        signal.aborted ||
        setState((last) => ({
          ...last,
          error: failureOf(error),
          of: of ?? undefined,
          cursor: before.length === 0 ? null : last.cursor,
          isLoadingMore: false,
        })),
    );

  useEffect(() => {
    if (body === null) return;
    const abort = new AbortController();
    controller.current = abort;
    void load(body, abort, []);
    return () => abort.abort();
  }, [of]);

  function more(): void {
    const abort = controller.current;
    if (state.cursor === null || state.isLoadingMore || state.of !== of || !abort || !body) return;
    setState((before) => ({ ...before, isLoadingMore: true, error: undefined }));
    void load({ ...body, cursor: state.cursor }, abort, state.pages);
  }

  return {
    answer: state.answer,
    pages: state.pages,
    total: state.answer?.total_count,
    error: state.of === of ? state.error : undefined,
    loading: (of !== null && state.of !== of) || state.isLoadingMore,
    hasMore: state.cursor !== null,
    more,
    retry: () => (state.cursor === null ? setAttempt((number) => number + 1) : more()),
  };
}
