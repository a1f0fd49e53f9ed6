import { untracked, useComputed } from '@preact/signals';
import { type ComponentChildren, Fragment } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Contact } from '../../contacts/schema.js';
import type { ResponseOf } from '../api.js';
import { ColumnsButton, useColumns } from '../components/columns.js';
import { ContactCard } from '../components/contact-card.js';
import { CreateContact } from '../components/create-contact.js';
import { EndlessList } from '../components/endless-list.js';
import { FilterButton, FilterChips, type FilterField, namesOf } from '../components/filters.js';
import { SearchBox, SelectFilter } from '../components/search-box.js';
import { SelectionBar } from '../components/selection-bar.js';
import { SharedFiltersButton } from '../components/shared-filters-button.js';
import { Empty, NoMatch, NoPermission, NothingYet, ScopedLink } from '../components/states.js';
import type { Column } from '../components/table.js';
import { CurlButton, ExportButton } from '../components/toolbar.js';
import { classLabel, fullName, minute, plural } from '../format.js';
import { Marked, wordsOf } from '../highlight.js';
import type { AudienceName } from '../memberships.js';
import { hasParam, href, hrefWith, param } from '../router.js';
import { segmentOf, valuesOf } from '../segment.js';
import { missingScope, organizationId, useSession } from '../session.js';
import { shownOf, usePages, useRequest } from '../use-request.js';

const PAGE = 100;
const PRESENCE = [
  ['work_emails', 'work email'],
  ['personal_emails', 'personal email'],
  ['phones', 'phone'],
  ['network_a_url', 'profile'],
  ['company_domain', 'domain'],
] as const;
const FILTERS: readonly FilterField[] = [
  { name: 'country', label: 'Country', facet: 'whole', values: 'any' },
  { name: 'job_title', label: 'Job title', facet: 'words', values: 'any' },
  { name: 'seniority', label: 'Seniority', facet: 'closed', show: classLabel, values: 'any' },
  { name: 'department', label: 'Department', facet: 'closed', show: classLabel, values: 'any' },
  { name: 'functional_area', label: 'Functional area', facet: 'words', values: 'any' },
  { name: 'company_name', label: 'Company', facet: 'words', values: 'any' },
  { name: 'company_domain', label: 'Domain', facet: 'whole', values: 'any' },
  { name: 'company_industry', label: 'Industry', facet: 'words', values: 'any' },
  { name: 'city', label: 'City', facet: 'words', values: 'any' },
  { name: 'state_region', label: 'State or region', facet: 'words', values: 'any' },
  { name: 'postal_code', label: 'Postal code', values: 'any' },
  { name: 'email', label: 'Email', values: 'any' },
  {
    name: 'audience_id',
    label: 'Audience',
    facet: 'audiences',
    show: (id) => <AudienceTitle id={id} />,
    values: 'any',
  },
  { name: 'has', label: 'Has', options: PRESENCE, values: 'all' },
  { name: 'lacks', label: 'Lacks', options: PRESENCE, values: 'all' },
  { name: 'created_after', label: 'Created from (UTC)', type: 'date' },
  { name: 'created_before', label: 'Created before (UTC)', type: 'date' },
  { name: 'data_import_id', label: 'Import', values: 'any' },
];
/** The name of an audience, or its id until the name is known. */
function AudienceTitle({ id }: { id: string }) {
  const answer = useRequest(
    '/api/audiences/get',
    missingScope('audiences:read') ? null : { audience_id: id },
  );
  return <>{shownOf(answer)?.data.audience.name ?? id}</>;
}

/** Orders, each with its fields of the request. */
const SORTS = [
  ['', 'newest', { sort_by: undefined, sort_direction: undefined }],
  ['oldest', 'oldest', { sort_by: 'created_at', sort_direction: 'asc' }],
  ['changed', 'last changed', { sort_by: 'updated_at', sort_direction: 'desc' }],
  ['name', 'last name', { sort_by: 'last_name', sort_direction: 'asc' }],
  ['company', 'company', { sort_by: 'company_name', sort_direction: 'asc' }],
] as const;
const FILTER_NAMES = namesOf(FILTERS);

type SearchResponse = ResponseOf<'/api/contacts/search'>;
type Match = NonNullable<SearchResponse['explanations']>[number]['words'][number];

/** A contact, and why it matched. */
interface FoundContact {
  contact: Contact;
  matches: readonly Match[];
}

const foundContacts = ({ contacts, explanations }: SearchResponse): FoundContact[] =>
  contacts.map((contact, index) => ({ contact, matches: explanations?.[index]?.words ?? [] }));

/** The words of these fields that the query matched. */
const wordsIn = (matches: readonly Match[], ...fields: Match['field'][]): string[] =>
  matches.flatMap(({ field, text }) => (fields.includes(field) ? wordsOf(text) : []));

function RowCheckbox({ contact }: { contact: Contact }) {
  const { selection } = useSession();
  const { contact_id: id } = contact;
  const checked = useComputed(() => selection.has(id));
  return (
    <input
      type="checkbox"
      aria-label={`Select ${fullName(contact)}`}
      checked={checked}
      onClick={(event) => selection.toggle(id, event.shiftKey)}
    />
  );
}

function HeadCheckbox() {
  const { selection } = useSession();
  return (
    <th class="check">
      <input
        type="checkbox"
        aria-label="Select the rows that are loaded"
        checked={selection.isEveryRow.value}
        disabled={selection.rows.value.length === 0}
        onClick={() => selection.toggleRows()}
      />
    </th>
  );
}

const extra = (label: string, cell: (contact: Contact) => ComponentChildren): Column<FoundContact> => ({
  label,
  choice: 'extra',
  class: 'third',
  cell: ({ contact }) => cell(contact),
});

const COLUMNS: readonly Column<FoundContact>[] = [
  {
    label: 'Select',
    class: 'check',
    heading: <HeadCheckbox key="Select" />,
    cell: ({ contact }) => <RowCheckbox contact={contact} />,
  },
  {
    label: 'Name',
    cell: ({ contact, matches }) => (
      // Read untracked, so that opening a card does not draw every row again.
      <a href={untracked(() => hrefWith({ contact: contact.contact_id }))}>
        <Marked text={fullName(contact)} words={wordsIn(matches, 'first_name', 'last_name', 'full_name')} />
      </a>
    ),
  },
  {
    label: 'Job title',
    choice: 'standard',
    cell: ({ contact, matches }) => {
      const department = wordsIn(matches, 'functional_area');
      return (
        <>
          <Marked text={contact.job_title} words={wordsIn(matches, 'job_title')} />
          {department.length > 0 && (
            <>
              {' · '}
              <Marked text={contact.functional_area} words={department} />
            </>
          )}
        </>
      );
    },
  },
  {
    label: 'Company',
    choice: 'standard',
    class: 'second',
    cell: ({ contact, matches }) => (
      <Marked text={contact.company_name} words={wordsIn(matches, 'company_name')} />
    ),
  },
  {
    label: 'Email',
    choice: 'standard',
    class: 'third email',
    cell: ({ contact: { work_emails: emails }, matches }) =>
      emails[0] && (
        <a href={`mailto:${emails[0]}`}>
          <Marked text={emails[0]} words={wordsIn(matches, 'work_emails')} />
        </a>
      ),
  },
  {
    label: 'Place',
    choice: 'standard',
    class: 'third',
    cell: ({ contact: { city, country }, matches }) => (
      <Marked text={[city, country].filter(Boolean).join(', ')} words={wordsIn(matches, 'city', 'country')} />
    ),
  },
  extra('Seniority', ({ seniority }) => seniority && classLabel(seniority)),
  extra('Department', ({ department }) => department && classLabel(department)),
  extra('Domain', ({ company_domain }) => company_domain),
  extra('Industry', ({ company_industry }) => company_industry),
  extra('Phone', ({ phones: [phone] }) => phone && <a href={`tel:${phone}`}>{phone}</a>),
  extra('Created', ({ created_at }) => minute(created_at)),
  extra('Updated', ({ updated_at }) => minute(updated_at)),
];

/** Names the words of the query that nobody matches, and says who is shown instead. */
function PartialNote({ answer }: { answer: SearchResponse | undefined }) {
  const { partial, unmatched_words: unmatched = partial?.unmatched_words ?? [] } = answer ?? {};
  if (!partial && unmatched.length === 0) return <output class="note partial" />;
  const words = unmatched.map((word, index) => (
    <Fragment key={word}>
      {index > 0 && ', '}
      <em>{word}</em>
    </Fragment>
  ));
  return (
    <output class="note partial">
      Nobody matches {unmatched.length > 0 ? words : 'every word'}
      {partial &&
        (unmatched.length === partial.words - partial.matched
          ? '; showing people who match the rest'
          : `; showing people who match ${partial.matched} of ${partial.words} words`)}
      .
    </output>
  );
}

/** Query and filters of the address, except those of one field. */
function filtersOf(except?: string, list?: { audience_id: string }) {
  const query = param('query');
  return { ...(query === '' ? {} : { query }), ...segmentOf(FILTERS, except, list) };
}

/** Order of the address. A search with a query has an order of its own. */
function orderOf() {
  const [, , order] = SORTS.find(([name]) => name === param('sort')) ?? SORTS[0];
  return param('query') === '' ? order : {};
}

export const Contacts = () => <ContactList />;

interface ContactListProps {
  /** Lists only the members of this audience. */
  audience?: AudienceName;
  /** Shown above the list. */
  head?: ComponentChildren;
}

export function ContactList({ audience, head }: ContactListProps) {
  const scope = missingScope('contacts:read');
  const query = param('query');
  const within = (field?: string) => ({
    organization_id: organizationId.value,
    ...filtersOf(field, audience && { audience_id: audience.id }),
  });
  const filtered = within();
  const body = { ...filtered, ...orderOf(), limit: PAGE };
  const explained = query === '' ? body : { ...body, explain: true };
  const pages = usePages('/api/contacts/search', scope ? null : explained, foundContacts);
  const columns = useColumns('contacts', COLUMNS);
  const { selection } = useSession();
  const { organization_id: _, ...filter } = filtered;
  const isWhole = pages.state === 'current' && !pages.answer?.partial;
  const everything = {
    kind: 'all',
    filter,
    total: isWhole ? (pages.total ?? 0) : 0,
    source: { name: audience?.name ?? 'contacts', path: '/api/contacts/search', body },
  } as const;
  const answered = JSON.stringify(pages.of);
  useEffect(() => {
    const contacts = pages.pages.flatMap((rows) => rows.map(({ contact }) => contact));
    selection.show(answered, contacts, pages.total ?? 0);
  }, [pages.pages, answered]);
  useEffect(() => () => selection.clear(), []);
  const selected = param('contact');
  const isCreating = selected === '' && param('new') !== '';
  if (scope)
    return (
      <div class="view">
        {head}
        <NoPermission scope={scope} what="contacts" />
      </div>
    );
  return (
    <div class={selected === '' && !isCreating ? 'view' : 'view with-panel'}>
      <div class="list-side">
        {head ?? <h1 class="hidden">Contacts</h1>}
        <div class="toolbar">
          <SearchBox label={audience ? 'Search members' : 'Search contacts'} />
          <FilterButton fields={FILTERS} within={within} />
          <SelectFilter
            name="sort"
            label="Sort"
            options={SORTS.map(([name, label]) => [name, label] as const)}
            fixed={query === '' ? undefined : 'best match'}
          />
          <div class="actions">
            <ScopedLink
              isPrimary
              href={hrefWith({ new: true, contact: null })}
              scopes={['contacts:write', 'audiences:read']}
            >
              New contact
            </ScopedLink>
            <ColumnsButton list="contacts" columns={COLUMNS} />
            {!audience && (
              <SharedFiltersButton
                view="contacts"
                filterOf={() => ({ ...filtersOf(), ...orderOf() })}
                paramsOf={({ query, sort_by: by, sort_direction: direction, ...filters }) => ({
                  query,
                  sort: SORTS.find(
                    ([, , order]) => order.sort_by === by && order.sort_direction === direction,
                  )?.[0],
                  ...valuesOf(FILTERS, filters),
                })}
              />
            )}
            <ExportButton source={everything.source} />
            <CurlButton url="/api/contacts/search" body={body} />
          </div>
        </div>
        <FilterChips
          fields={FILTERS}
          shown={pages.of && valuesOf(FILTERS, audience ? { ...pages.of, audience_id: null } : pages.of)}
          total={pages.total === undefined ? undefined : plural(pages.total, audience ? 'member' : 'contact')}
        />
        <PartialNote answer={pages.answer} />
        <EndlessList
          label={audience ? 'Members' : 'Contacts'}
          columns={columns}
          pages={pages}
          keyOf={({ contact }) => contact.contact_id}
          selected={selected}
          empty={
            hasParam('query', ...FILTER_NAMES) ? (
              <NoMatch what="contacts" clear={['query', ...FILTER_NAMES]} />
            ) : audience ? (
              <Empty>
                <p>Nobody is in this audience.</p>
                <p>
                  Select people in <a href={href('/contacts')}>Contacts</a>, and choose Add to audience.
                </p>
              </Empty>
            ) : (
              <NothingYet stream="contacts">This organization has no contacts yet.</NothingYet>
            )
          }
        />
        <SelectionBar everything={everything} audience={audience} />
      </div>
      {isCreating && <CreateContact audience={audience} closeHref={hrefWith({ new: null })} />}
      {selected !== '' && (
        <ContactCard key={selected} contactId={selected} closeHref={hrefWith({ contact: null })} />
      )}
    </div>
  );
}
