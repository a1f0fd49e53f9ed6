import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type FailureText, failureOf, type OperationPath, type RequestOf, type ResponseOf } from './api.js';
import { useSession } from './session.js';

/**
 * State of a request to draw. `current` is the response to the current request, which may be loading again. `old` is the last response; the
 * current request is loading, or failed with `error`. Texts about `data` (currency, range, filters, counts) must come from its request
 * `of`, never from the address.
 */
export type Answer<P extends OperationPath> = {
  /** A request is running. */
  loading: boolean;
  retry(): void;
} & (
  | { state: 'none'; error?: undefined }
  | { state: 'failed'; error: FailureText }
  | ({ state: 'current'; error?: undefined } & Shown<P>)
  | ({ state: 'old'; error?: FailureText } & Shown<P>)
);

export interface Shown<P extends OperationPath> {
  data: ResponseOf<P>;
  of: RequestOf<P>;
}

/** The last response, even an old one. The view must show `Trouble`, which says that it is old. */
export const shownOf = <P extends OperationPath>(answer: Answer<P>): Shown<P> | undefined =>
  answer.state === 'current' || answer.state === 'old' ? answer : undefined;

interface Held<P extends OperationPath> {
  shown?: Shown<P> & { request: string };
  /** Error of the last request. */
  error?: FailureText;
  /** The last request that got a response or failed. */
  ended?: string;
  attempt?: number;
}

/**
 * Sends the request whenever it changes, and aborts the request before. `null` sends nothing. `again` builds the request for a reload, such
 * as after each write here. With `onlyWhenAsked`, only `retry` reloads.
 */
export function useRequest<P extends OperationPath>(
  path: P,
  body: RequestOf<P> | null,
  again = (same: RequestOf<P>) => same,
  { onlyWhenAsked = false } = {},
): Answer<P> {
  const session = useSession();
  const [held, setHeld] = useState<Held<P>>({});
  const [attempts, setAttempt] = useState(0);
  const attempt = onlyWhenAsked ? attempts : attempts + session.writes.value;
  const request = body && `${path} ${JSON.stringify(body)}`;
  const hasEnded = held.ended === request && held.attempt === attempt;
  useEffect(() => {
    if (request === null || body === null || hasEnded) return;
    const abort = new AbortController();
    const end = { ended: request, attempt };
    session.call(path, held.shown?.request === request ? again(body) : body, { signal: abort.signal }).then(
      (data) => abort.signal.aborted || setHeld({ shown: { data, of: body, request }, ...end }),
      (error: unknown) =>
        abort.signal.aborted || setHeld(({ shown }) => ({ shown, error: failureOf(error), ...end })),
    );
    return () => abort.abort();
  }, [request, attempt]);
  const progress = {
    loading: request !== null && !hasEnded,
    retry: () => setAttempt((number) => number + 1),
  };
  // The error stays while the same request is retried.
  const error = held.ended === request ? held.error : undefined;
  // Drops the response of another operation.
  const shown = held.shown?.request.startsWith(`${path} `) ? held.shown : undefined;
  if (shown) {
    const { data, of } = shown;
    if (shown.request === request && !error) return { state: 'current', data, of, ...progress };
    return { state: 'old', error, data, of, ...progress };
  }
  return error ? { state: 'failed', error, ...progress } : { state: 'none', ...progress };
}

/** Maximum rows per request. */
const MAX_LIMIT = 1000;

export type CursorPath =
  | '/api/contacts/search'
  | '/api/audiences/contacts/search'
  | '/api/website-visits/search'
  | '/api/keys/list'
  | '/api/rejections/list'
  | '/api/contacts/erasures';

export interface Pages<Row, P extends CursorPath = CursorPath> {
  /** The response with the last page. */
  answer: ResponseOf<P> | undefined;
  /** The request that all pages belong to. */
  of: RequestOf<P> | undefined;
  /** State of the first page. */
  state: Answer<P>['state'];
  /** Each page keeps its identity, so that loading another page does not draw the others again. */
  pages: readonly (readonly Row[])[];
  total: number | undefined;
  error: FailureText | undefined;
  loading: boolean;
  hasMore: boolean;
  more(): void;
  retry(): void;
}

/** The pages after the first. */
interface Further<Row, Data> {
  first?: Data;
  pages: readonly (readonly Row[])[];
  /** The response with the last of these pages. */
  answer?: Data;
  error?: FailureText;
  loading: boolean;
}

const NO_FURTHER: Further<never, never> = { pages: [], loading: false };

/** An endless list. Loads the first page whenever the request changes, and further pages by `more`. */
export function usePages<P extends CursorPath, Row>(
  path: P,
  body: RequestOf<P> | null,
  rowsOf: (answer: ResponseOf<P>) => readonly Row[],
): Pages<Row, P> {
  const session = useSession();
  const drawn = useRef(0);
  // Reloads as many rows as before a change, so that the list does not jump.
  const first = useRequest(path, body, (same) => ({
    ...same,
    limit: Math.min(MAX_LIMIT, Math.max(drawn.current, same.limit ?? 0)),
  }));
  const { data, of } = shownOf(first) ?? {};
  const [state, setFurther] = useState<Further<Row, ResponseOf<P>>>(NO_FURTHER);
  const further = state.first === data ? state : NO_FURTHER;
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), [data]);
  const firstRows = useMemo(() => data && rowsOf(data), [data]);
  const pages = useMemo(() => (firstRows ? [firstRows, ...further.pages] : []), [firstRows, further.pages]);
  drawn.current = pages.reduce((sum, rows) => sum + rows.length, 0);
  const answer = further.answer ?? data;
  const cursor = first.state === 'current' ? (answer?.next_cursor ?? null) : null;
  const loading = first.loading || further.loading;

  function more(): void {
    if (cursor === null || loading || !of) return;
    controller.current = new AbortController();
    const { signal } = controller.current;
    setFurther({ ...further, first: data, loading: true });
    session.call(path, { ...of, cursor }, { signal }).then(
      (next) =>
        signal.aborted ||
        setFurther({ first: data, pages: [...further.pages, rowsOf(next)], answer: next, loading: false }),
      (error: unknown) =>
        signal.aborted || setFurther({ ...further, first: data, error: failureOf(error), loading: false }),
    );
  }

  return {
    answer,
    of,
    state: first.state,
    pages,
    total: answer?.total_count,
    error: first.error ?? (first.loading ? undefined : further.error),
    loading,
    hasMore: cursor !== null,
    more,
    retry: cursor === null ? first.retry : more,
  };
}
