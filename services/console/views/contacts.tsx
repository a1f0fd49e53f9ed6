import { untracked } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Contact } from '../../contacts/schema.js';
import { ContactCard } from '../components/contact-card.js';
import { CreateContact } from '../components/create-contact.js';
import { EndlessList } from '../components/endless-list.js';
import { Facets } from '../components/facets.js';
import { Filters } from '../components/filters.js';
import { SavedFiltersButton } from '../components/saved-filters-button.js';
import { SearchBox, TextFilter } from '../components/search-box.js';
import { Empty, NoMatch, NoPermission, ScopedLink } from '../components/states.js';
import type { Column } from '../components/table.js';
import { CurlButton, ExportButton } from '../components/toolbar.js';
import { plural } from '../format.js';
import { Marked, queryWords } from '../highlight.js';
import { hasParam, hrefWith, param } from '../router.js';
import { missingScope, organizationId } from '../session.js';
import { usePages } from '../use-request.js';

const PAGE = 100;
const FILTERS = [
  ['job_title', 'Job title'],
  ['company_name', 'Company'],
  ['company_domain', 'Domain'],
  ['email', 'Email'],
  ['city', 'City'],
  ['country', 'Country'],
] as const;
const FILTER_NAMES = FILTERS.map(([name]) => name);

export const fullName = ({ first_name, last_name }: Contact) =>
  [first_name, last_name].filter(Boolean).join(' ') || 'Without a name';

/** Columns of a list of contacts; `words` are marked. */
function contactColumns(words: readonly string[]): Column<Contact>[] {
  return [
    {
      label: 'Name',
      cell: (contact) => (
        // Untracked, so that opening a card does not draw every row again.
        <a href={untracked(() => hrefWith({ contact: contact.contact_id }))}>
          <Marked text={fullName(contact)} words={words} />
        </a>
      ),
    },
    { label: 'Job title', cell: ({ job_title }) => <Marked text={job_title} words={words} /> },
    {
      label: 'Company',
      class: 'second',
      cell: ({ company_name }) => <Marked text={company_name} words={words} />,
    },
    {
      label: 'Department',
      class: 'third',
      cell: ({ functional_area }) => <Marked text={functional_area} words={words} />,
    },
    {
      label: 'Email',
      class: 'third',
      cell: ({ work_emails }) => <Marked text={work_emails[0] ?? null} words={words} />,
    },
    {
      label: 'Place',
      class: 'third',
      cell: ({ city, country }) => <Marked text={[city, country].filter(Boolean).join(', ')} words={words} />,
    },
  ];
}

export function Contacts() {
  const scope = missingScope('contacts:read');
  const query = param('query');
  const filters = Object.fromEntries(
    FILTER_NAMES.filter((name) => param(name) !== '').map((name) => [name, param(name)]),
  );
  const filtered = {
    organization_id: organizationId.value,
    ...(query === '' ? {} : { query }),
    ...filters,
  };
  const body = { ...filtered, limit: PAGE };
  const pages = usePages('/api/contacts/search', scope ? null : body, ({ contacts }) => contacts);
  const columns = useMemo(() => contactColumns(queryWords(query)), [query]);
  const selected = param('contact');
  const isCreating = selected === '' && param('new') !== '';
  if (scope) return <NoPermission scope={scope} what="contacts" />;
  return (
    <div class={selected === '' && !isCreating ? 'view' : 'view with-panel'}>
      <div class="list-side">
        <div class="toolbar">
          <h1 class="hidden">Contacts</h1>
          <SearchBox label="Search contacts" />
          <Filters names={FILTER_NAMES}>
            {FILTERS.map(([name, label]) => (
              <TextFilter key={name} name={name} label={label} />
            ))}
          </Filters>
          <output class="total">{pages.total !== undefined && plural(pages.total, 'contact')}</output>
          <div class="actions">
            <ScopedLink
              href={hrefWith({ new: true, contact: null })}
              scopes={['contacts:write', 'audiences:read']}
            >
              New contact
            </ScopedLink>
            <SavedFiltersButton />
            <ExportButton source={{ name: 'contacts', path: '/api/contacts/search', body }} />
            <CurlButton url="/api/contacts/search" body={body} />
          </div>
        </div>
        {pages.total !== 0 && <Facets filters={pages.loading ? null : filtered} />}
        <EndlessList
          label="Contacts"
          columns={columns}
          pages={pages}
          keyOf={({ contact_id }) => contact_id}
          selected={selected}
          empty={
            hasParam('query', ...FILTER_NAMES) ? (
              <NoMatch what="contacts" clear={['query', ...FILTER_NAMES]} />
            ) : (
              <Empty>
                <p>This organization has no contacts yet.</p>
                <p class="note">
                  Bring some in:{' '}
                  <code>reachline ingest contacts people.csv --organization {organizationId}</code>
                </p>
              </Empty>
            )
          }
        />
      </div>
      {isCreating && <CreateContact closeHref={hrefWith({ new: null })} />}
      {selected !== '' && (
        <ContactCard key={selected} contactId={selected} closeHref={hrefWith({ contact: null })} />
      )}
    </div>
  );
}
