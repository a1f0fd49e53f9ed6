/** What a view shows when it has no answer to show. */
import type { ComponentChildren } from 'preact';
import type { FailureText } from '../api.js';
import { setParams } from '../router.js';

export function Failure({ error, retry }: { error: FailureText; retry?: () => void }) {
  return (
    <div class="state failure" role="alert">
      <strong>{error.title}</strong>
      {error.detail !== '' && <p>{error.detail}</p>}
      {error.requestId && (
        <p class="note">
          Request <code>{error.requestId}</code>
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          Retry
        </button>
      )}
    </div>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="state">{children}</div>;
}

/** `what` is in the plural. */
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

export function NoPermission({ scope, what }: { scope: string; what: string }) {
  return (
    <Empty>
      <p>This key may not read {what}.</p>
      <p class="note">
        It lacks the scope <code>{scope}</code>. <code>reachline keys create --scopes</code> makes a key that
        has it.
      </p>
    </Empty>
  );
}

/** Grey bars in place of rows, so that nothing moves when the rows arrive. */
export function SkeletonRows({ columns, rows = 8 }: { columns: number; rows?: number }) {
  return (
    <tbody aria-hidden="true">
      {Array.from({ length: rows }, (_, row) => (
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
