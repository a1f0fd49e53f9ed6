import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { StreamName } from '../../client/index.js';
import type { Scope } from '../../http/scopes.js';
import type { ResponseOf } from '../api.js';
import { CodeBlock } from '../components/code.js';
import { EndlessList } from '../components/endless-list.js';
import { Fact } from '../components/fact.js';
import { BusyForm, TextField, UNSAVED } from '../components/form.js';
import { Panel } from '../components/panel.js';
import { Segments } from '../components/segments.js';
import { Empty, NoPermission, ScopedLink, WhenCurrent } from '../components/states.js';
import type { Column } from '../components/table.js';
import { CurlButton, ExportButton } from '../components/toolbar.js';
import { count, fieldLabel, minute, NONE, plural } from '../format.js';
import { hrefWith, navigate, param, useLoss } from '../router.js';
import { currentKey, idOf, missingScope, organizationId, useSession } from '../session.js';
import { STREAMS } from '../streams.js';
import { usePages, useRequest } from '../use-request.js';

type ApiKey = ResponseOf<'/api/keys/list'>['keys'][number];
type Rejection = ResponseOf<'/api/rejections/list'>['rejections'][number];
type Erasure = ResponseOf<'/api/contacts/erasures'>['erasures'][number];

const SCOPE_LABELS: Record<Scope, string> = {
  'contacts:read': 'Read contacts',
  'contacts:write': 'Create, change and delete contacts',
  'contacts:erase': 'Erase persons',
  'audiences:read': 'Read audiences',
  'audiences:write': 'Change audiences and their members',
  'visits:read': 'Read visits',
  'advertising:read': 'Read advertising',
  'ingest:write': 'Send records',
  'keys:write': 'Create and revoke keys',
};
const SCOPES = Object.entries(SCOPE_LABELS) as [Scope, string][];

const TABS = [
  ['keys', 'Keys'],
  ['rejections', 'Rejected records'],
  ['erasures', 'Erasures'],
] as const;

const when = (moment: string | null) => (moment === null ? NONE : minute(moment));

export function Operate() {
  const tab = TABS.find(([name]) => name === param('tab'))?.[0] ?? 'keys';
  const credits = useRequest('/api/credits/get', {});
  const tabs = (
    <>
      <h1 class="hidden">Operate</h1>
      <Segments
        label="Part"
        items={TABS.map(([name, label]) => [
          label,
          hrefWith({ tab: name === 'keys' ? null : name, key: null, new: null }),
          name === tab,
        ])}
      />
      <output class="total">
        <WhenCurrent what="The credits" answer={credits}>
          {({ data: { credit_balance: balance } }) =>
            balance === null ? 'Not metered' : `${plural(balance, 'credit')} left`
          }
        </WhenCurrent>
      </output>
    </>
  );
  if (tab === 'rejections') return <Rejections tabs={tabs} />;
  if (tab === 'erasures') return <Erasures tabs={tabs} />;
  return <Keys tabs={tabs} />;
}

interface PartProps {
  tabs: JSX.Element;
}

const KEY_COLUMNS: readonly Column<ApiKey>[] = [
  {
    label: 'Name',
    cell: ({ key_id, name }) => <a href={hrefWith({ key: key_id, new: null })}>{name ?? 'Unnamed'}</a>,
  },
  { label: 'Id', cell: ({ key_id }) => <code>{key_id}</code> },
  { label: 'State', cell: (key) => stateOf(key) },
  { label: 'Created (UTC)', class: 'second', cell: ({ created_at }) => minute(created_at) },
  { label: 'Last used (UTC)', class: 'second', cell: ({ last_used_at }) => when(last_used_at) },
  { label: 'Scopes', class: 'third', cell: ({ scopes }) => scopesOf(scopes) },
];

const scopesOf = (scopes: readonly string[]) => (scopes.includes('*') ? 'all' : scopes.join(', '));

function stateOf({ key_id, revoked_at, expires_at }: ApiKey): string {
  if (revoked_at !== null) return 'revoked';
  if (expires_at !== null && Date.parse(expires_at) <= Date.now()) return 'expired';
  return key_id === idOf(currentKey.value) ? 'in use here' : 'works';
}

function Keys({ tabs }: PartProps) {
  const scope = missingScope('keys:write');
  const body = { organization_id: organizationId.value, limit: 100 };
  const pages = usePages('/api/keys/list', scope ? null : body, ({ keys }) => keys);
  const selected = pages.pages.flat().find(({ key_id }) => key_id === param('key'));
  const isCreating = param('new') !== '';
  return (
    <div class={selected || isCreating ? 'view with-panel' : 'view'}>
      <div class="list-side">
        <div class="toolbar">
          {tabs}
          <div class="actions">
            <ScopedLink isPrimary href={hrefWith({ new: true, key: null })} scopes={['keys:write']}>
              New key
            </ScopedLink>
            <CurlButton url="/api/keys/list" body={body} />
          </div>
        </div>
        {scope ? (
          <NoPermission scope={scope} what="keys" />
        ) : (
          <EndlessList
            label="Keys"
            columns={KEY_COLUMNS}
            pages={pages}
            keyOf={({ key_id }) => key_id}
            selected={selected?.key_id}
            empty={<Empty>There are no keys.</Empty>}
          />
        )}
      </div>
      {isCreating && !scope && <CreateKey />}
      {selected && !isCreating && <KeyCard key={selected.key_id} shown={selected} />}
    </div>
  );
}

function CreateKey() {
  const session = useSession();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly Scope[]>([]);
  const [lastDay, setLastDay] = useState('');
  const [made, setMade] = useState<ResponseOf<'/api/keys/create'>>();
  const create = () =>
    session.perform('the key was created', async () => {
      const expires_at = lastDay === '' ? undefined : `${lastDay}T23:59:59Z`;
      const answer = await session.call('/api/keys/create', { name, scopes: [...scopes], expires_at });
      setMade(answer);
      return { text: `The key ${answer.api_key.name ?? answer.api_key.key_id} was created.` };
    });
  const isTyped = name !== '' || scopes.length > 0 || lastDay !== '';
  useLoss(made ? 'The key will not be shown again. Close it?' : isTyped ? UNSAVED : null);
  const toggle = (scope: Scope, isOn: boolean) =>
    setScopes(isOn ? [...scopes, scope] : scopes.filter((each) => each !== scope));
  return (
    <Panel label="New key" closeHref={hrefWith({ new: null })}>
      <h2>New key</h2>
      {made ? (
        <>
          <p>Store this key now: it is shown only once.</p>
          <CodeBlock label="The key" language="text" text={made.key} />
          <button type="button" onClick={() => navigate(hrefWith({ new: null }))}>
            I have stored it
          </button>
        </>
      ) : (
        <BusyForm onSubmit={create}>
          <TextField label="What it is for" required pattern=".*\S.*" value={name} onText={setName} />
          {SCOPES.map(([scope, label]) => {
            const missing = missingScope(scope) !== null;
            return (
              <label key={scope} class="field inline">
                <input
                  type="checkbox"
                  disabled={missing}
                  checked={scopes.includes(scope)}
                  onChange={(event) => toggle(scope, event.currentTarget.checked)}
                />
                <span>
                  {label} <code>{scope}</code>
                  {missing && ' (this key lacks it)'}
                </span>
              </label>
            );
          })}
          <label class="field">
            <span>Last day (UTC); empty means no expiry</span>
            <input type="date" value={lastDay} onInput={(event) => setLastDay(event.currentTarget.value)} />
          </label>
          <button type="submit" class="primary" disabled={scopes.length === 0}>
            Create the key
          </button>
        </BusyForm>
      )}
    </Panel>
  );
}

function KeyCard({ shown }: { shown: ApiKey }) {
  const { key_id, name, scopes, created_at, expires_at, revoked_at, last_used_at } = shown;
  const session = useSession();
  const [isAsking, setAsking] = useState(false);
  const isOwn = key_id === idOf(currentKey.value);
  const revoke = () =>
    session.perform('the key was revoked', async () => {
      await session.call('/api/keys/revoke', { key_id });
      return { text: `The key ${name ?? key_id} is revoked.` };
    });
  return (
    <Panel label="Key" closeHref={hrefWith({ key: null })}>
      <h2>{name ?? 'Unnamed'}</h2>
      <dl class="facts">
        <Fact label="Id">
          <code>{key_id}</code>
        </Fact>
        <Fact label="State">{stateOf(shown)}</Fact>
        <Fact label="Scopes">{scopesOf(scopes)}</Fact>
        <Fact label="Created (UTC)">{minute(created_at)}</Fact>
        <Fact label="Last used (UTC)">{when(last_used_at)}</Fact>
        <Fact label="Expires (UTC)">{when(expires_at)}</Fact>
        {revoked_at && <Fact label="Revoked (UTC)">{minute(revoked_at)}</Fact>}
      </dl>
      {isOwn && (
        <p class="note">This is the key you are signed in with. Sign in with another to revoke it.</p>
      )}
      {revoked_at === null && !isOwn && (
        <button type="button" onClick={() => setAsking(true)}>
          Revoke
        </button>
      )}
      {isAsking && revoked_at === null && (
        <div class="warnings">
          <p>What uses this key stops working within seconds. This cannot be undone.</p>
          <div class="row">
            <button type="button" onClick={() => void revoke()}>
              Revoke the key
            </button>
            <button type="button" onClick={() => setAsking(false)}>
              Keep it
            </button>
          </div>
        </div>
      )}
    </Panel>
  );
}

const REJECTION_COLUMNS: readonly Column<Rejection>[] = [
  { label: 'Rejected (UTC)', class: 'second', cell: ({ rejected_at }) => minute(rejected_at) },
  { label: 'Stream', cell: ({ stream }) => STREAMS[stream as StreamName]?.[0] ?? stream },
  { label: 'Line', class: 'figure', cell: ({ line }) => count(line) },
  { label: 'Field', cell: ({ pointer }) => fieldLabel(pointer.split('/')[1] ?? '') || 'the whole record' },
  { label: 'Why', cell: ({ code }) => fieldLabel(code) },
  { label: 'Record', class: 'second', cell: ({ record_id }) => record_id ?? NONE },
];

function Rejections({ tabs }: PartProps) {
  const missing = missingScope('ingest:write');
  const body = { organization_id: organizationId.value, limit: 100 };
  const pages = usePages('/api/rejections/list', missing ? null : body, ({ rejections }) => rejections);
  return (
    <Part tabs={tabs} missing={missing} what="rejected records" path="/api/rejections/list" body={body}>
      <EndlessList
        label="Rejected records"
        columns={REJECTION_COLUMNS}
        pages={pages}
        keyOf={({ id }) => id}
        empty={<Empty>No record was rejected in the last 30 days.</Empty>}
      />
    </Part>
  );
}

const ERASURE_COLUMNS: readonly Column<Erasure>[] = [
  { label: 'Proof', cell: ({ proof_id }) => <code>{proof_id}</code> },
  { label: 'Requested (UTC)', cell: ({ requested_at }) => minute(requested_at) },
  {
    label: 'Completed (UTC)',
    cell: ({ completed_at }) => (completed_at === null ? 'not yet' : minute(completed_at)),
  },
  { label: 'Contacts', class: 'figure', cell: ({ removed }) => count(removed.contacts) },
  { label: 'Memberships', class: 'figure second', cell: ({ removed }) => count(removed.memberships) },
  { label: 'By key', class: 'third', cell: ({ key_id }) => <code>{key_id}</code> },
];

function Erasures({ tabs }: PartProps) {
  const missing = missingScope('contacts:erase');
  const body = { organization_id: organizationId.value, limit: 100 };
  const pages = usePages('/api/contacts/erasures', missing ? null : body, ({ erasures }) => erasures);
  return (
    <Part tabs={tabs} missing={missing} what="erasures" path="/api/contacts/erasures" body={body}>
      <EndlessList
        label="Erasures"
        columns={ERASURE_COLUMNS}
        pages={pages}
        keyOf={({ proof_id }) => proof_id}
        empty={<Empty>No person was erased yet.</Empty>}
      />
    </Part>
  );
}

interface ListPartProps extends PartProps {
  /** The scope that the key lacks, if any. */
  missing: Scope | null;
  what: string;
  path: '/api/rejections/list' | '/api/contacts/erasures';
  body: { organization_id: string; limit: number };
  children: ComponentChildren;
}

const Part = ({ tabs, missing, what, path, body, children }: ListPartProps) => (
  <div class="view">
    <div class="toolbar">
      {tabs}
      <div class="actions">
        {missing === null && <ExportButton source={{ name: what.replace(' ', '-'), path, body }} />}
        <CurlButton url={path} body={body} />
      </div>
    </div>
    {missing === null ? children : <NoPermission scope={missing} what={what} />}
  </div>
);
