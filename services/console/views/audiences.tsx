import type { Audience } from '../../audiences/schema.js';
import { EndlessList } from '../components/endless-list.js';
import { Pager } from '../components/pager.js';
import { Panel } from '../components/panel.js';
import { SavedFiltersButton } from '../components/saved-filters-button.js';
import { SearchBox } from '../components/search-box.js';
import { Empty, Failure, NoMatch, NoPermission, ScopedLink } from '../components/states.js';
import { type Column, Table } from '../components/table.js';
import { CurlButton, ExportButton } from '../components/toolbar.js';
import { NONE, plural } from '../format.js';
import { Marked, queryWords } from '../highlight.js';
import { href, hrefWith, pageParam, param } from '../router.js';
import { missingScope, organizationId } from '../session.js';
import { usePages, useRequest } from '../use-request.js';
import { fullName } from './contacts.js';

const PAGE = 50;
/** `page` × `limit` may not exceed this (contract 3.11). */
const WINDOW = 10_000;
const FLAGS = [
  ['network_a', 'Network A'],
  ['network_b', 'Network B'],
  ['network_c', 'Network C'],
] as const;

const columnsOf = (words: readonly string[]): Column<Audience>[] => [
  {
    label: 'Name',
    cell: ({ id, name }) => (
      <a href={hrefWith({ audience: id })}>
        <Marked text={name} words={words} />
      </a>
    ),
  },
  {
    label: 'Description',
    class: 'second',
    cell: ({ description }) => <Marked text={description} words={words} />,
  },
  {
    label: 'UTM value',
    class: 'third',
    cell: ({ tracking_utm_value }) => <Marked text={tracking_utm_value} words={words} />,
  },
  ...FLAGS.map(
    ([name, label]): Column<Audience> => ({
      label,
      class: 'flag',
      cell: (audience) => (audience[name] ? 'yes' : NONE),
    }),
  ),
];

export function Audiences() {
  const scope = missingScope('audiences:read');
  const query = param('query');
  const page = Math.min(pageParam(), WINDOW / PAGE);
  const search = query === '' ? {} : { query };
  const body = { organization_id: organizationId.value, ...search, page, limit: PAGE };
  const { data, error, loading, retry } = useRequest('/api/audiences/search', scope ? null : body);
  const selected = param('audience');
  if (scope) return <NoPermission scope={scope} what="audiences" />;
  return (
    <div class={selected === '' ? 'view' : 'view with-panel'}>
      <div class="list-side">
        <div class="toolbar">
          <h1 class="hidden">Audiences</h1>
          <SearchBox label="Search audiences" resets={['page']} />
          <output class="total">{data && plural(data.total_count, 'audience')}</output>
          <div class="actions">
            <SavedFiltersButton />
            <ExportButton source={{ name: 'audiences', path: '/api/audiences/search', body }} />
            <CurlButton url="/api/audiences/search" body={body} />
          </div>
        </div>
        {error && <Failure error={error} retry={retry} />}
        {data?.total_count === 0 && query !== '' && <NoMatch what="audiences" clear={['query']} />}
        {data?.total_count === 0 && query === '' && (
          <Empty>
            <p>This organization has no audiences yet.</p>
            <p class="note">
              Make one:{' '}
              <code>reachline audiences create --organization {organizationId} --name Customers</code>
            </p>
          </Empty>
        )}
        {(data === undefined ? !error : data.total_count > 0) && (
          <Table
            label="Audiences"
            columns={columnsOf(queryWords(query))}
            pages={data && [data.audiences]}
            keyOf={({ id }) => id}
            selected={selected}
            busy={loading}
          />
        )}
        {data && (data.total_count > PAGE || page > 1) && (
          <Pager
            page={page}
            pageSize={PAGE}
            total={data.total_count}
            lastPage={WINDOW / PAGE}
            one="audience"
          />
        )}
      </div>
      {selected !== '' && <AudienceCard key={selected} audienceId={selected} />}
    </div>
  );
}

function AudienceCard({ audienceId }: { audienceId: string }) {
  const scope = missingScope('contacts:read');
  const organization = { organization_id: organizationId.value, audience_id: audienceId };
  const { data, error, retry } = useRequest('/api/audiences/get', organization);
  const body = { ...organization, limit: PAGE };
  const members = usePages('/api/audiences/contacts/search', scope ? null : body, ({ contacts }) => contacts);
  const audience: Audience | undefined = data?.audience;
  return (
    <Panel label="Audience" closeHref={hrefWith({ audience: null })}>
      {error && <Failure error={error} retry={retry} />}
      {audience && (
        <>
          <h2>{audience.name}</h2>
          {audience.description && <p class="lead">{audience.description}</p>}
          <dl>
            {FLAGS.map(([name, label]) => (
              <div key={name}>
                <dt>{label}</dt>
                <dd>{audience[name] ? 'yes' : 'no'}</dd>
              </div>
            ))}
            {audience.tracking_utm_value && (
              <div>
                <dt>UTM value</dt>
                <dd>{audience.tracking_utm_value}</dd>
              </div>
            )}
            <div>
              <dt>Id</dt>
              <dd>{audience.id}</dd>
            </div>
          </dl>
          <div class="toolbar">
            <h3>{members.total === undefined ? 'Members' : plural(members.total, 'member')}</h3>
            <div class="actions">
              <ScopedLink href={href('/visits', { audience_id: audience.id })} scopes={['visits:read']}>
                What they visited
              </ScopedLink>
              <CurlButton url="/api/audiences/contacts/search" body={body} />
            </div>
          </div>
          {scope ? (
            <NoPermission scope={scope} what="contacts" />
          ) : (
            <EndlessList
              label="Members"
              columns={[
                {
                  label: 'Name',
                  cell: (contact) => (
                    <a href={href('/contacts', { contact: contact.contact_id })}>{fullName(contact)}</a>
                  ),
                },
                { label: 'Company', cell: ({ company_name }) => company_name },
              ]}
              pages={members}
              keyOf={({ contact_id }) => contact_id}
              empty={<p class="note">Nobody is in this audience.</p>}
            />
          )}
        </>
      )}
    </Panel>
  );
}
