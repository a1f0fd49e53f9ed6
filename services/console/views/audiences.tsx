import { useEffect } from 'preact/hooks';
import type { Audience } from '../../audiences/schema.js';
import { AUDIENCE_FLAGS, AudienceForm } from '../components/audience-form.js';
import { ColumnsButton, useColumns } from '../components/columns.js';
import { FilterChips } from '../components/filters.js';
import { Pager } from '../components/pager.js';
import { Panel } from '../components/panel.js';
import { SearchBox } from '../components/search-box.js';
import { SharedFiltersButton } from '../components/shared-filters-button.js';
import { NoMatch, NoPermission, NothingYet, ScopedLink, Trouble } from '../components/states.js';
import { type Column, Table } from '../components/table.js';
import { CurlButton, ExportButton } from '../components/toolbar.js';
import { count, NONE, plural } from '../format.js';
import { Marked, queryWords } from '../highlight.js';
import { audienceHref, undoOfCreation } from '../memberships.js';
import { hrefWith, navigate, pageParam, param, stillShown } from '../router.js';
import { missingScope, organizationId, useSession } from '../session.js';
import { shownOf, useRequest } from '../use-request.js';

const PAGE = 50;
/** Maximum of `page` × `limit` (contract 3.11). */
const WINDOW = 10_000;
const columnsOf = (words: readonly string[]): readonly Column<Audience>[] => [
  {
    label: 'Name',
    cell: ({ id, name }) => (
      <a href={audienceHref(id)}>
        <Marked text={name} words={words} />
      </a>
    ),
  },
  {
    label: 'Description',
    choice: 'standard',
    class: 'second',
    cell: ({ description }) => <Marked text={description} words={words} />,
  },
  {
    label: 'UTM value',
    choice: 'standard',
    class: 'third',
    cell: ({ tracking_utm_value }) => <Marked text={tracking_utm_value} words={words} />,
  },
  {
    label: 'Networks',
    choice: 'standard',
    class: 'flag',
    cell: (audience) =>
      AUDIENCE_FLAGS.flatMap(([name, label]) => (audience[name] ? [label.slice(-1)] : [])).join(', ') || NONE,
  },
  {
    label: 'Members',
    choice: 'standard',
    class: 'figure',
    cell: ({ member_count: members }) => (members === undefined ? NONE : count(members)),
  },
];

export function Audiences() {
  const scope = missingScope('audiences:read');
  const query = param('query');
  const page = Math.min(pageParam(), WINDOW / PAGE);
  const search = query === '' ? {} : { query };
  const body = {
    organization_id: organizationId.value,
    ...search,
    include_counts: true,
    page,
    limit: PAGE,
  };
  const answer = useRequest('/api/audiences/search', scope ? null : body);
  const { data, of } = shownOf(answer) ?? {};
  const allColumns = columnsOf(queryWords(of?.query ?? ''));
  const columns = useColumns('audiences', allColumns);
  const isCreating = param('new') !== '';
  // Addresses from before audiences had pages of their own stay.
  const moved = param('audience');
  useEffect(() => {
    if (moved !== '') navigate(audienceHref(moved), { replace: true });
  }, [moved]);
  if (scope) return <NoPermission scope={scope} what="audiences" />;
  return (
    <div class={isCreating ? 'view with-panel' : 'view'}>
      <div class="list-side">
        <div class="toolbar">
          <h1 class="hidden">Audiences</h1>
          <SearchBox label="Search audiences" resets={['page']} />
          <div class="actions">
            <ScopedLink isPrimary href={hrefWith({ new: true })} scopes={['audiences:write']}>
              New audience
            </ScopedLink>
            <ColumnsButton list="audiences" columns={allColumns} />
            <SharedFiltersButton
              view="audiences"
              filterOf={() => (param('query') === '' ? {} : { query: param('query') })}
              paramsOf={({ query }) => ({ query })}
            />
            <ExportButton source={{ name: 'audiences', path: '/api/audiences/search', body }} />
            <CurlButton url="/api/audiences/search" body={body} />
          </div>
        </div>
        <FilterChips fields={[]} shown={undefined} total={data && plural(data.total_count, 'audience')} />
        <Trouble answer={answer} old="These are the earlier rows." />
        {data?.total_count === 0 && query !== '' && <NoMatch what="audiences" clear={['query']} />}
        {data?.total_count === 0 && query === '' && (
          <NothingYet stream="audiences">This organization has no audiences yet.</NothingYet>
        )}
        {(data === undefined ? answer.state === 'none' : data.total_count > 0) && (
          <Table
            label="Audiences"
            columns={columns}
            pages={data && [data.audiences]}
            keyOf={({ id }) => id}
            busy={answer.loading}
          />
        )}
        {data && of && (data.total_count > PAGE || (of.page ?? 1) > 1) && (
          <Pager
            page={of.page ?? 1}
            pageSize={PAGE}
            total={data.total_count}
            lastPage={WINDOW / PAGE}
            one="audience"
          />
        )}
      </div>
      {isCreating && <CreateAudience />}
    </div>
  );
}

function CreateAudience() {
  const session = useSession();
  return (
    <Panel label="New audience" closeHref={hrefWith({ new: null })}>
      <h2>New audience</h2>
      <AudienceForm
        submit="Create"
        onSubmit={(fields) =>
          session.perform('the audience was created', async () => {
            const isShown = stillShown('new');
            const { audience } = await session.call('/api/audiences/create', { name: '', ...fields });
            if (isShown()) navigate(audienceHref(audience.id), { replace: true });
            return {
              text: `The audience ${audience.name} was created.`,
              undo: undoOfCreation(session, audience),
            };
          })
        }
      />
    </Panel>
  );
}
