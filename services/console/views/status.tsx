import { useEffect } from 'preact/hooks';
import type { ResponseOf } from '../api.js';
import { Fact } from '../components/fact.js';
import { Trouble } from '../components/states.js';
import { type Column, FigureTable } from '../components/table.js';
import { CurlButton } from '../components/toolbar.js';
import { count, minute, NONE } from '../format.js';
import { currentKey, idOf, organizationId, session } from '../session.js';
import { shownOf, useRequest } from '../use-request.js';

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
  'currency-rates': 'Currency rates',
};
const STORES: Record<keyof Answer['stores'], string> = {
  records: 'Contacts, audiences and visits',
  analytics: 'Advertising',
  intake: 'Queue of records',
};

export function Status() {
  const body = { organization_id: organizationId.value };
  const answer = useRequest('/api/status', body);
  const { retry } = answer;
  const { data } = shownOf(answer) ?? {};
  useEffect(() => {
    const timer = setInterval(() => document.hidden || retry(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const scopes = session.value?.scopes ?? [];
  return (
    <div class="view status">
      <div class="toolbar">
        <h1>Status</h1>
        <div class="actions">
          <button type="button" onClick={retry}>
            Refresh
          </button>
          <CurlButton url="/api/status" body={body} />
        </div>
      </div>
      <Trouble answer={answer} />
      {answer.state !== 'failed' && <Streams streams={data?.streams} loading={answer.state === 'none'} />}
      <section class="facts">
        <h2>Stores</h2>
        <dl>
          {Object.entries(data?.stores ?? {}).map(([name, state]) => (
            <Fact key={name} label={STORES[name as keyof Answer['stores']] ?? name}>
              <span class={state === 'ok' ? 'good' : 'bad'}>
                {state === 'ok' ? '● healthy' : `○ ${state}`}
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
            <code>{idOf(currentKey.value)}</code>
          </Fact>
          <Fact label="Scopes">{scopes.includes('*') ? 'all' : scopes.join(', ')}</Fact>
        </dl>
      </section>
    </div>
  );
}

/** Time of the newest record: the moment of a visit, or the day of a delivery. */
function newestOf(stream: Answer['streams'][keyof Answer['streams']]): string {
  if ('last_created_at' in stream && stream.last_created_at) return minute(stream.last_created_at);
  if ('last_date' in stream && stream.last_date) return stream.last_date;
  return NONE;
}

type StreamName = keyof Answer['streams'];
type Stream = [name: StreamName, figures: Answer['streams']['contacts']];

const COLUMNS: readonly Column<Stream>[] = [
  { label: 'Stream', cell: ([name]) => STREAMS[name] ?? name },
  {
    label: 'Records',
    class: 'figure',
    cell: ([, { records, approximate }]) =>
      records === null ? NONE : `${approximate ? '≈ ' : ''}${count(records)}`,
  },
  {
    label: 'Newest accepted (UTC)',
    class: 'figure',
    cell: ([, { last_accepted_at }]) => (last_accepted_at ? minute(last_accepted_at) : NONE),
  },
  { label: 'Newest record', class: 'figure', cell: ([, stream]) => newestOf(stream) },
];
const WAITING: Column<Stream> = {
  label: 'Waiting',
  class: 'figure',
  cell: ([, { lag }]) => (lag === undefined || lag === null ? NONE : count(lag)),
};

function Streams({ streams, loading }: { streams: Answer['streams'] | undefined; loading: boolean }) {
  const entries = Object.entries(streams ?? {}) as Stream[];
  const hasLag = entries.some(([, { lag }]) => lag !== undefined);
  const provisional = streams?.['network-a-deliveries'].provisional_from;
  return (
    <>
      <FigureTable
        label="Streams"
        columns={hasLag ? [...COLUMNS, WAITING] : COLUMNS}
        rows={streams && entries}
        keyOf={([name]) => name}
        busy={loading}
      />
      {provisional && <p class="note">The network may still restate deliveries from {provisional} on.</p>}
    </>
  );
}
