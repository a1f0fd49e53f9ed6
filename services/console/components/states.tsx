/** Shown by a view that has no response to show. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import type { StreamName } from '../../client/index.js';
import type { Scope } from '../../http/scopes.js';
import type { FailureText, OperationPath } from '../api.js';
import { plural } from '../format.js';
import { href, path, setParams } from '../router.js';
import { missingScopeOf } from '../session.js';
import type { Answer, Shown } from '../use-request.js';

const RECOVERY_MS = 5000;

/** If the wait is longer than this, only a click retries. */
const MAX_RECOVERY_MS = 3_600_000;

/**
 * Shows why a request failed. Retries a temporary failure some seconds after each response, and when the device is online again, but never
 * before the server's `Retry-After`.
 */
export function Failure({ error, retry }: { error: FailureText; retry?: () => void }) {
  const again = useRef(retry);
  again.current = retry;
  const { retryAfterMs = 0 } = error;
  const waitMs = Math.max(RECOVERY_MS, retryAfterMs);
  const recovers = error.isTemporary === true && retry !== undefined && waitMs <= MAX_RECOVERY_MS;
  useEffect(() => {
    if (!recovers) return;
    const earliest = Date.now() + retryAfterMs;
    const recover = () => {
      if (!document.hidden && Date.now() >= earliest) again.current?.();
    };
    const timer = setTimeout(recover, waitMs);
    addEventListener('online', recover);
    document.addEventListener('visibilitychange', recover);
    return () => {
      clearTimeout(timer);
      removeEventListener('online', recover);
      document.removeEventListener('visibilitychange', recover);
    };
  }, [recovers, error]);
  return (
    <div class="state failure" role="alert">
      <strong>{error.title}</strong>
      {error.detail !== '' && <p>{error.detail}</p>}
      {error.requestId && (
        <p class="note">
          Request <code>{error.requestId}</code>
        </p>
      )}
      {recovers && (
        <p class="note">
          {retryAfterMs > RECOVERY_MS
            ? `Trying again in ${plural(Math.ceil(waitMs / 1000), 'second')}.`
            : `Trying again every ${RECOVERY_MS / 1000} seconds.`}
        </p>
      )}
      {retry &&
        (error.canRetry ? (
          <button type="button" onClick={retry}>
            Retry
          </button>
        ) : (
          <a class="button" href={href(path.value)}>
            Reset this view
          </a>
        ))}
    </div>
  );
}

interface FailedProps {
  answer: { state: Answer<OperationPath>['state']; error?: FailureText; retry(): void };
}

/** Says that a part of the view is missing, and why. `what` names the part, such as `The credits`. */
export function Failed({ answer: { error, retry }, what }: FailedProps & { what: string }) {
  if (!error) return null;
  const detail = [error.title, error.detail].filter(Boolean).join('. ');
  return <Failure error={{ ...error, title: `${what} could not be read`, detail }} retry={retry} />;
}

interface TroubleProps extends FailedProps {
  /** Describes an old response: `These figures are for 1 Nov – 26 Nov 2026.` */
  old?: string;
}

/** Says why the current request has no response yet, and that an old response is shown. */
export function Trouble({ answer, old = 'This is the earlier response.' }: TroubleProps) {
  const { state, error } = answer;
  return (
    <>
      {error && <Failure error={error} retry={answer.retry} />}
      {state === 'old' && (
        <p class={error ? 'old' : 'old late'} role="status">
          {old}
          {!error && ' The new one is loading.'}
        </p>
      )}
    </>
  );
}

interface WhenCurrentProps<P extends OperationPath> {
  what: string;
  answer: Answer<P>;
  children(shown: Shown<P>): ComponentChildren;
}

/** Shows children only for a current response, otherwise why it is missing. */
export function WhenCurrent<P extends OperationPath>({ what, answer, children }: WhenCurrentProps<P>) {
  return answer.state === 'current' ? children(answer) : <Failed what={what} answer={answer} />;
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="state">{children}</div>;
}

/** Shown in a view without filters: says that data is missing, and the two ways to load some. */
export function NothingYet({ stream, children }: { stream: StreamName; children: ComponentChildren }) {
  return (
    <Empty>
      <p>{children}</p>
      <ScopedLink
        href={href('/import', { stream: stream === 'contacts' ? null : stream })}
        scopes={['ingest:write']}
      >
        Import a file
      </ScopedLink>
      <p class="note">
        Or by the command line: <code>reachline ingest {stream} FILE</code>
      </p>
    </Empty>
  );
}

/** `what` is a plural noun. */
export function NoMatch({ what, clear }: { what: string; clear: readonly string[] }) {
  return (
    <Empty>
      <p>No {what} match.</p>
      <button type="button" onClick={() => setParams(Object.fromEntries(clear.map((name) => [name, null])))}>
        Clear the filters
      </button>
    </Empty>
  );
}

export function NoPermission({ scope, what, verb = 'read' }: { scope: string; what: string; verb?: string }) {
  return (
    <Empty>
      <p>
        This key may not {verb} {what}.
      </p>
      <p class="note">
        It lacks the scope <code>{scope}</code>. A person with the scope <code>keys:write</code> can create a
        key with it, under Operate; so can <code>reachline keys create</code>.
      </p>
    </Empty>
  );
}

interface ScopedLinkProps {
  href: string;
  scopes: readonly Scope[];
  /** The action that most people open the view for. */
  isPrimary?: boolean;
  children: ComponentChildren;
}

/** A link to an action that needs these scopes. If the key lacks one, a disabled button that names it. */
export function ScopedLink({ href, scopes, isPrimary = false, children }: ScopedLinkProps) {
  const missing = missingScopeOf(scopes);
  if (missing !== null) return <Unpermitted scope={missing}>{children}</Unpermitted>;
  return (
    <a class={isPrimary ? 'button primary' : 'button'} href={href}>
      {children}
    </a>
  );
}

interface ScopedButtonProps {
  scopes: readonly Scope[];
  onClick(): void;
  children: ComponentChildren;
}

export function ScopedButton({ scopes, onClick, children }: ScopedButtonProps) {
  const missing = missingScopeOf(scopes);
  if (missing !== null) return <Unpermitted scope={missing}>{children}</Unpermitted>;
  return (
    <button type="button" onClick={onClick}>
      {children}
    </button>
  );
}

/** A disabled button, and the scope that the key lacks. */
export function Unpermitted({ scope, children }: { scope: Scope; children: ComponentChildren }) {
  const id = useId();
  return (
    <span class="scoped">
      <span class="note" id={id}>
        needs <code>{scope}</code>
      </span>
      <button type="button" disabled aria-describedby={id}>
        {children}
      </button>
    </span>
  );
}

/** Grey bars while rows load, so that nothing moves when they arrive. */
export function SkeletonRows({ columns }: { columns: number }) {
  return (
    <tbody aria-hidden="true">
      {Array.from({ length: 8 }, (_, row) => (
        <tr key={row}>
          {Array.from({ length: columns }, (_, column) => (
            <td key={column}>
              <span class="skeleton" />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}
