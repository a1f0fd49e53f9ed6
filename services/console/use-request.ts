import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type FailureText, failureOf, type OperationPath, type RequestOf, type ResponseOf } from './api.js';
import { useSession } from './session.js';

/**
 * What there is to draw. `current` is the answer to what is asked now, which may be read again meanwhile. `old` is the last answer there
 * was: what is asked now is on its way, or failed with `error`. Whatever is said of `data` (its currency, range, filters, counts) is taken
 * from the request `of` that it answers, never from the address.
 */
export type Answer<P extends OperationPath> = {
  /** A request is on its way. */
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

/** The last answer, also an old one: for a view that says so by `Trouble`. */
export const shownOf = <P extends OperationPath>(answer: Answer<P>): Shown<P> | undefined =>
  answer.state === 'current' || answer.state === 'old' ? answer : undefined;

interface Held<P extends OperationPath> {
  shown?: Shown<P> & { request: string };
  /** Of what was asked last, if it failed. */
  error?: FailureText;
  /** What was asked last and answered, or failed. */
  ended?: string;
  attempt?: number;
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
  // It stays while the same request is tried again.
  const error = held.ended === request ? held.error : undefined;
  // Nothing of another operation.
  const shown = held.shown?.request.startsWith(`${path} `) ? held.shown : undefined;
  if (shown) {
    const { data, of } = shown;
    if (shown.request === request && !error) return { state: 'current', data, of, ...progress };
    return { state: 'old', error, data, of, ...progress };
  }
  return error ? { state: 'failed', error, ...progress } : { state: 'none', ...progress };
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

export interface Pages<Row, P extends CursorPath = CursorPath> {
  /** The answer with the last page. */
  answer: ResponseOf<P> | undefined;
  /** The request that all pages answer. */
  of: RequestOf<P> | undefined;
  /** Of the first page. */
  state: Answer<P>['state'];
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
interface Further<Row, Data> {
  first?: Data;
  pages: readonly (readonly Row[])[];
  /** The last one. */
  answer?: Data;
  error?: FailureText;
  loading: boolean;
}

const NO_FURTHER: Further<never, never> = { pages: [], loading: false };

/** An endless list: the first page whenever the request changes, further ones by `more`. */
export function usePages<P extends CursorPath, Row>(
  path: P,
  body: RequestOf<P> | null,
  rowsOf: (answer: ResponseOf<P>) => readonly Row[],
): Pages<Row, P> {
  const session = useSession();
  const drawn = useRef(0);
  // After a change as many rows as before, so that the list does not jump.
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
