import type { Audience } from '../../audiences/schema.js';
import { AUDIENCE_FLAGS, type AudienceFields, AudienceForm } from '../components/audience-form.js';
import { ColumnsButton, useColumns } from '../components/columns.js';
import { EditOrDelete } from '../components/edit-or-delete.js';
import { EndlessList } from '../components/endless-list.js';
import { Fact } from '../components/fact.js';
import { FilterChips } from '../components/filters.js';
import { Pager } from '../components/pager.js';
import { Panel } from '../components/panel.js';
import { SavedFiltersButton } from '../components/saved-filters-button.js';
import { SearchBox } from '../components/search-box.js';
import { NoMatch, NoPermission, NothingYet, ScopedLink, Trouble } from '../components/states.js';
import { type Column, Table } from '../components/table.js';
import { CurlButton, ExportButton } from '../components/toolbar.js';
import { count, fullName, NONE, plural } from '../format.js';
import { Marked, queryWords } from '../highlight.js';
import { deleteAudience, MAX_IDS, undoOfCreation } from '../memberships.js';
import type { Notice } from '../notice.js';
import { href, hrefWith, pageParam, param, whileShown } from '../router.js';
import { missingScope, organizationId, type Session, useSession } from '../session.js';
import { shownOf, usePages, useRequest } from '../use-request.js';

const PAGE = 50;
/** Maximum of `page` × `limit` (contract 3.11). */
const WINDOW = 10_000;
const columnsOf = (words: readonly string[]): readonly Column<Audience>[] => [
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
  const selected = param('audience');
  const isCreating = selected === '' && param('new') !== '';
  if (scope) return <NoPermission scope={scope} what="audiences" />;
  return (
    <div class={selected === '' && !isCreating ? 'view' : 'view with-panel'}>
      <div class="list-side">
        <div class="toolbar">
          <h1 class="hidden">Audiences</h1>
          <SearchBox label="Search audiences" resets={['page']} />
          <div class="actions">
            <ScopedLink href={hrefWith({ new: true, audience: null })} scopes={['audiences:write']}>
              New audience
            </ScopedLink>
            <ColumnsButton list="audiences" columns={allColumns} />
            <SavedFiltersButton />
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
            selected={selected}
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
      {selected !== '' && <AudienceCard key={selected} audienceId={selected} />}
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
            const settle = whileShown('audience', 'new');
            const { audience } = await session.call('/api/audiences/create', { name: '', ...fields });
            settle({ new: null, audience: audience.id });
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

/** Changes fields, unless somebody else has changed the audience since. Undo restores the previous values. */
async function updateAudience(
  session: Session,
  before: Audience,
  fields: Partial<AudienceFields>,
  done = 'was saved',
): Promise<Notice> {
  const { audience } = await session.call('/api/audiences/update', {
    audience_id: before.id,
    if_updated_at: before.updated_at,
    ...fields,
  });
  const names = Object.keys(fields) as (keyof AudienceFields)[];
  const earlier = Object.fromEntries(names.map((name) => [name, before[name]]));
  return {
    text: `The audience ${audience.name} ${done}.`,
    undo: () => updateAudience(session, audience, earlier, 'is as before'),
  };
}

function AudienceCard({ audienceId }: { audienceId: string }) {
  const session = useSession();
  const scope = missingScope('contacts:read');
  const organization = { organization_id: organizationId.value, audience_id: audienceId };
  const answer = useRequest('/api/audiences/get', organization);
  const body = { ...organization, limit: PAGE };
  const members = usePages('/api/audiences/contacts/search', scope ? null : body, ({ contacts }) => contacts);
  const audience: Audience | undefined = shownOf(answer)?.data.audience;
  return (
    <Panel label="Audience" closeHref={hrefWith({ audience: null })}>
      <Trouble answer={answer} />
      {audience && (
        <>
          <h2>{audience.name}</h2>
          <EditOrDelete
            noun="audience"
            scope="audiences:write"
            edit={(save) => (
              <AudienceForm
                audience={audience}
                submit="Save"
                onSubmit={(fields) => save(() => updateAudience(session, audience, fields))}
              />
            )}
            question={`Delete ${audience.name}? ${members.total === undefined ? 'Its members' : `Its ${plural(members.total, 'member')}`} stay as contacts. ${(members.total ?? MAX_IDS + 1) > MAX_IDS ? 'This cannot be undone.' : 'You can undo it.'}`}
            onDelete={() => deleteAudience(session, audience)}
          />
          {audience.description && <p class="lead">{audience.description}</p>}
          <dl>
            {AUDIENCE_FLAGS.map(([name, label]) => (
              <Fact key={name} label={label}>
                {audience[name] ? 'yes' : 'no'}
              </Fact>
            ))}
            {audience.tracking_utm_value && <Fact label="UTM value">{audience.tracking_utm_value}</Fact>}
            <Fact label="Id">{audience.id}</Fact>
          </dl>
          <div class="toolbar">
            <h3>{members.total === undefined ? 'Members' : plural(members.total, 'member')}</h3>
            <div class="actions">
              <ScopedLink href={href('/visits', { audience_id: audience.id })} scopes={['visits:read']}>
                View visits
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
