import { useEffect } from 'preact/hooks';
import type { ResponseOf } from '../api.js';
import { ScrollRegion } from '../components/scroll-region.js';
import { Failure, SkeletonRows } from '../components/states.js';
import { CurlButton } from '../components/toolbar.js';
import { count, minute, NONE } from '../format.js';
import { organizationId, session } from '../session.js';
import { useRequest } from '../use-request.js';

const REFRESH_MS = 10_000;

type Answer = ResponseOf<'/api/status'>;
const STREAMS: Record<keyof Answer['streams'], string> = {
  contacts: 'Contacts',
  audiences: 'Audiences',
  'website-visits': 'Visits',
  'network-a-campaigns': 'Campaigns',
  'network-a-creatives': 'Creatives',
  'network-a-companies': 'Companies',
  'network-a-deliveries': 'Deliveries',
};
const STORES: Record<keyof Answer['stores'], string> = {
  search: 'Contacts, audiences and visits',
  analytics: 'Advertising',
  intake: 'Queue of records',
};

export function Status() {
  const body = { organization_id: organizationId.value };
  const { data, error, loading, retry } = useRequest('/api/status', body);
  useEffect(() => {
    const timer = setInterval(retry, REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const scopes = session.value?.scopes ?? [];
  return (
    <div class="view">
      <div class="toolbar">
        <h1>Status</h1>
        <div class="actions">
          <button type="button" onClick={retry}>
            Refresh
          </button>
          <CurlButton url="/api/status" body={body} />
        </div>
      </div>
      {error && <Failure error={error} retry={retry} />}
      {(data || !error) && <Streams streams={data?.streams} loading={loading && !data} />}
      <section class="facts">
        <h2>Stores</h2>
        <dl>
          {Object.entries(data?.stores ?? {}).map(([name, state]) => (
            <Fact key={name} label={STORES[name as keyof Answer['stores']] ?? name}>
              <span class={state === 'ok' ? 'good' : 'bad'}>
                {state === 'ok' ? '● answers' : `○ ${state}`}
              </span>
            </Fact>
          ))}
        </dl>
        <h2>Version</h2>
        <dl>
          <Fact label="Reachline">
            <code>{data?.version}</code>
          </Fact>
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

/** What the newest record is about: the moment of a visit, the day of a delivery. */
function newestOf(stream: Answer['streams'][keyof Answer['streams']]): string {
  if ('last_created_at' in stream && stream.last_created_at) return minute(stream.last_created_at);
  if ('last_date' in stream && stream.last_date) return stream.last_date;
  return NONE;
}

function Streams({ streams, loading }: { streams: Answer['streams'] | undefined; loading: boolean }) {
  const entries = Object.entries(streams ?? {}) as [keyof Answer['streams'], Answer['streams']['contacts']][];
  const hasLag = entries.some(([, { lag }]) => lag !== undefined);
  const provisional = streams?.['network-a-deliveries'].provisional_from;
  return (
    <ScrollRegion label="Streams">
      <table class="list figures" aria-label="Streams" aria-busy={loading}>
        <thead>
          <tr>
            <th scope="col">Stream</th>
            <th scope="col" class="figure">
              Records
            </th>
            <th scope="col" class="figure">
              Newest accepted (UTC)
            </th>
            <th scope="col" class="figure">
              Newest record
            </th>
            {hasLag && (
              <th scope="col" class="figure">
                Waiting
              </th>
            )}
          </tr>
        </thead>
        {!streams && <SkeletonRows columns={4} rows={7} />}
        <tbody>
          {entries.map(([name, stream]) => (
            <tr key={name}>
              <td>{STREAMS[name] ?? name}</td>
              <td class="figure">{stream.records === null ? NONE : count(stream.records)}</td>
              <td class="figure">{stream.last_accepted_at ? minute(stream.last_accepted_at) : NONE}</td>
              <td class="figure">{newestOf(stream)}</td>
              {hasLag && (
                <td class="figure">
                  {stream.lag === undefined || stream.lag === null ? NONE : count(stream.lag)}
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
      {provisional && <p class="note">The network may still restate deliveries from {provisional} on.</p>}
    </ScrollRegion>
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
