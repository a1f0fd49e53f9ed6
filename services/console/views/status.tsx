import { useEffect, useState } from 'preact/hooks';
import { ConnectionError } from '../../client/index.js';
import { type FailureText, failureOf } from '../api.js';
import { Failure } from '../components/states.js';
import { CurlButton } from '../components/toolbar.js';
import { session } from '../session.js';

interface Readiness {
  ready: boolean;
  stopping: boolean;
  stores: Record<string, string>;
}

const REFRESH_MS = 10_000;
const STORES: Record<string, string> = {
  search: 'Contacts, audiences and visits',
  analytics: 'Advertising',
  intake: 'Ingest topics',
};

/** `/readyz` answers 503 with the same body when a store is missing, so that is no failure here. */
async function readStatus(signal: AbortSignal) {
  const readiness = await fetch('/readyz', { signal }).then(
    (response) => response.json() as Promise<Readiness>,
  );
  const version = await fetch('/version', { signal }).then(
    (response) => response.json() as Promise<Record<string, string>>,
  );
  return { readiness, version };
}

export function Status() {
  const [status, setStatus] = useState<Awaited<ReturnType<typeof readStatus>>>();
  const [error, setError] = useState<FailureText>();
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    readStatus(abort.signal).then(
      (answer) => {
        setStatus(answer);
        setError(undefined);
      },
      (reason: unknown) => {
        if (abort.signal.aborted) return;
        setError(failureOf(new ConnectionError(String(reason))));
      },
    );
    const timer = setTimeout(() => setAttempt((number) => number + 1), REFRESH_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [attempt]);
  const scopes = session.value?.scopes ?? [];
  return (
    <div class="view">
      <div class="toolbar">
        <h1>Status</h1>
        <div class="actions">
          <button type="button" onClick={() => setAttempt((number) => number + 1)}>
            Refresh
          </button>
          <CurlButton method="GET" url="/readyz" />
        </div>
      </div>
      {error && <Failure error={error} retry={() => setAttempt((number) => number + 1)} />}
      <section class="facts">
        <h2>Stores</h2>
        <dl>
          {Object.entries(status?.readiness.stores ?? {}).map(([name, state]) => (
            <Fact key={name} label={STORES[name] ?? name}>
              <span class={state === 'ok' ? 'good' : 'bad'}>
                {state === 'ok' ? '● answers' : `○ ${state}`}
              </span>
            </Fact>
          ))}
          {status?.readiness.stopping && <Fact label="Gateway">is stopping</Fact>}
        </dl>
        <h2>Version</h2>
        <dl>
          {Object.entries(status?.version ?? {}).map(([name, value]) => (
            <Fact key={name} label={name}>
              <code>{String(value)}</code>
            </Fact>
          ))}
        </dl>
        <h2>Key</h2>
        <dl>
          <Fact label="Organization">
            <code>{session.value?.organizationId}</code>
          </Fact>
          <Fact label="Key">
            <code>{session.value?.keyId}</code>
          </Fact>
          <Fact label="Scopes">{scopes.includes('*') ? 'all' : scopes.join(', ')}</Fact>
        </dl>
      </section>
    </div>
  );
}

function Fact({ label, children }: { label: string; children: preact.ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
