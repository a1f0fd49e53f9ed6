/** What followed the ads: companies that saw enough of them, and what came after. Each row opens its evidence. */
import { useMemo } from 'preact/hooks';
import type { Contact } from '../../contacts/schema.js';
import type { InfluenceSort } from '../../influence/schema.js';
import type { Visit } from '../../visits/schema.js';
import { AD_LISTS, campaignHref } from '../ad-lists.js';
import type { ResponseOf } from '../api.js';
import { Plot } from '../components/charts.js';
import { Fact } from '../components/fact.js';
import { Pager } from '../components/pager.js';
import { Panel } from '../components/panel.js';
import { ReportControls, reportOf, reportParams, Warnings } from '../components/report-controls.js';
import { SelectFilter } from '../components/search-box.js';
import { Segments } from '../components/segments.js';
import { orderOf, type SortedColumn, SortedTable } from '../components/sorted-table.js';
import { NoPermission, NothingYet, Trouble } from '../components/states.js';
import { type Column, Table } from '../components/table.js';
import { CurlButton, ExportButton } from '../components/toolbar.js';
import { count, daysBefore, fullName, minute, NONE, plural, rangeText } from '../format.js';
import { href, hrefWith, pageParam, param } from '../router.js';
import { missingScopeOf, organizationId } from '../session.js';
import { shownOf, useRequest } from '../use-request.js';

const PATH = '/api/advertising/network_a/influence';
const PAGE = 25;
const SCOPES = ['advertising:read', 'visits:read', 'contacts:read'] as const;

type Item = ResponseOf<typeof PATH>['items'][number];
type Totals = ResponseOf<typeof PATH>['totals'];

/** When a company counts as exposed. The first one is the standard of the server. */
const THRESHOLDS = [
  ['', '7 impressions', { impressions: 7 }],
  ['impressions-50', '50 impressions', { impressions: 50 }],
  ['clicks-3', '3 clicks', { clicks: 3 }],
  ['engagements-3', '3 engagements', { engagements: 3 }],
] as const;
const OUTCOME_DAYS = [
  ['', '30 days'],
  ['7', '7 days'],
  ['60', '60 days'],
  ['90', '90 days'],
  ['180', '180 days'],
] as const;

const nameOf = ({ name, domain }: Item) => name ?? domain;

const COLUMNS: readonly SortedColumn<Item, InfluenceSort>[] = [
  {
    label: 'Company',
    sort: 'name',
    cell: (item) => <a href={hrefWith({ company: item.domain })}>{nameOf(item)}</a>,
  },
  { label: 'Saw the ads', sort: 'exposed_on', class: 'second', cell: ({ exposed_on }) => exposed_on },
  {
    label: 'Impressions',
    sort: 'impressions',
    class: 'figure second',
    cell: ({ exposure }) => count(exposure.impressions),
  },
  {
    label: 'Known before',
    sort: 'newly_influenced',
    cell: ({ known_before }) => (known_before ? 'yes' : 'no'),
  },
  { label: 'Contacts after', sort: 'contacts', class: 'figure', cell: ({ contacts }) => count(contacts) },
  { label: 'Visits after', sort: 'visits', class: 'figure', cell: ({ visits }) => count(visits) },
  {
    label: 'First after',
    sort: 'first_outcome',
    class: 'second',
    cell: ({ first_outcome: first }) => (first ? `${first.kind}, ${first.at.slice(0, 10)}` : NONE),
  },
];

/** Companies by the week of their first contact or visit: new companies, and beside them companies that were known before. */
function Weeks({ weeks }: Pick<Totals, 'weeks'>) {
  const charts = useMemo(() => {
    const today = new Date().toISOString().slice(0, 10);
    const shown = weeks.filter(({ week }) => week <= today);
    const chart = (label: string, values: number[]) => ({
      ...{ label, values, kind: 'count' as const, hasBars: true },
      periods: shown.map(({ week }) => week),
      provisional: shown.map(() => false),
    });
    return [
      chart(
        'Companies not known before, per week',
        shown.map((week) => week.newly_influenced),
      ),
      chart(
        'Companies known before, per week',
        shown.map((week) => week.influenced - week.newly_influenced),
      ),
    ];
  }, [weeks]);
  return (
    <figure class="charts">
      <figcaption>
        By the week of the first contact or visit after the ads; each bar begins on a Monday.
      </figcaption>
      <div class="charts-grid">
        {charts.map((data) => (
          <Plot key={data.label} data={data} />
        ))}
      </div>
    </figure>
  );
}

export function Influence() {
  const missing = missingScopeOf(SCOPES);
  const report = reportOf();
  const [, , thresholds] = THRESHOLDS.find(([name]) => name === param('reach')) ?? THRESHOLDS[0];
  const [days] = OUTCOME_DAYS.find(([name]) => name === param('after')) ?? OUTCOME_DAYS[0];
  const order = orderOf(COLUMNS, 'newly_influenced');
  const body = {
    organization_id: organizationId.value,
    ...{ start_date: report.start_date, end_date: report.end_date, thresholds },
    ...(days !== '' && { outcome_days: Number(days) }),
    ...order,
    page: pageParam(),
    page_size: PAGE,
  };
  const answer = useRequest(PATH, missing ? null : body);
  const { data, of } = shownOf(answer) ?? {};
  if (missing) return <NoPermission scope={missing} what="what followed the ads" />;
  const outcomeDays = of?.outcome_days ?? 30;
  const opened = data?.items.find(({ domain }) => domain === param('company'));
  const totals = data?.totals;
  const list = (['campaigns', 'creatives'] as const).map(
    (tab) =>
      [
        AD_LISTS[tab].label,
        href('/advertising', { ...reportParams(), tab: tab === 'campaigns' ? null : tab }),
        false,
      ] as const,
  );
  return (
    <div class={opened ? 'view with-panel' : 'view'}>
      <div class="list-side">
        <div class="toolbar">
          <h1 class="hidden">What followed the ads</h1>
          <Segments label="Table" items={[...list, ['What followed', hrefWith({}), true]]} />
          <ReportControls report={report} withGranularity={false} />
          <div class="actions">
            <ExportButton source={{ name: 'influence', path: PATH, body }} />
            <CurlButton url={PATH} body={body} />
          </div>
        </div>
        <div class="toolbar">
          <SelectFilter
            name="reach"
            label="Saw the ads from"
            options={THRESHOLDS.map(([name, label]) => [name, label] as const)}
          />
          <SelectFilter name="after" label="Then within" options={OUTCOME_DAYS} />
        </div>
        <Trouble
          answer={answer}
          old={of && `These figures are for ${rangeText(of.start_date, of.end_date)}.`}
        />
        {/* The view shows no money. */}
        <Warnings
          warnings={(data?.warnings ?? []).filter((warning) => !warning.startsWith('mixed_currencies'))}
        />
        {totals && totals.exposed > 0 && (
          <>
            <p class="lead">
              <strong>{plural(totals.exposed, 'company', 'companies')}</strong> saw the ads. In the{' '}
              {outcomeDays} days after, <strong>{count(totals.influenced)}</strong> of them had a new contact
              or a visit. <strong>{count(totals.newly_influenced)}</strong> of these were not known before.
            </p>
            <p class="note">
              {data.complete ? '' : 'Some of these days are still to come, so the numbers may grow. '}
              The numbers say what came after the ads. They do not say that the ads were the reason.
            </p>
            <Weeks weeks={totals.weeks} />
            <p class="note">{shares(totals)}</p>
          </>
        )}
        {data?.total_count === 0 && (
          <NothingYet stream="network-a-deliveries">No company saw that many ads in this range.</NothingYet>
        )}
        {(data === undefined ? answer.state === 'none' : data.total_count > 0) && (
          <SortedTable
            label="Companies that saw the ads"
            columns={COLUMNS}
            order={of ?? order}
            rows={data?.items}
            keyOf={({ domain }) => domain}
            selected={opened?.domain}
            busy={answer.loading}
          />
        )}
        {data && of && data.total_count > 0 && (
          <Pager
            page={of.page ?? 1}
            pageSize={PAGE}
            total={data.total_count}
            one="company"
            many="companies"
          />
        )}
      </div>
      {opened && <Evidence item={opened} outcomeDays={outcomeDays} />}
    </div>
  );
}

/** How many of all contacts and visits came after, and what cannot be assigned to a company. */
function shares({ outcomes: { contacts, visits }, without_domain: without }: Totals): string {
  const unplaced = [
    without.companies > 0 && plural(without.companies, 'company', 'companies'),
    without.contacts > 0 && plural(without.contacts, 'contact'),
    without.visits > 0 && plural(without.visits, 'visit'),
  ].filter(Boolean);
  const of = `Of ${plural(contacts.all, 'new contact')}, ${count(contacts.after_exposure)} came after; of ${plural(visits.all, 'visit')}, ${count(visits.after_exposure)}.`;
  return unplaced.length === 0
    ? of
    : `${of} Without a domain, and so without a company: ${unplaced.join(', ')}.`;
}

const CAMPAIGN_COLUMNS: readonly Column<Item['evidence']['campaigns'][number]>[] = [
  { label: 'Campaign', cell: ({ campaign_id: id, name }) => <a href={campaignHref(id)}>{name ?? id}</a> },
  { label: 'Shown', class: 'figure', cell: ({ impressions }) => count(impressions) },
];
const CONTACT_COLUMNS: readonly Column<Contact>[] = [
  {
    label: 'Name',
    cell: (contact) => (
      <a href={href('/contacts', { contact: contact.contact_id })}>
        {fullName(contact) || contact.contact_id}
      </a>
    ),
  },
  { label: 'Created', cell: ({ created_at }) => created_at.slice(0, 10) },
];
const VISIT_COLUMNS: readonly Column<Visit>[] = [
  { label: 'Began (UTC)', cell: ({ createdAt }) => minute(createdAt) },
  { label: 'First page', cell: ({ startUrl }) => startUrl },
];

/** What the numbers of a company are made of: campaigns before, contacts and visits after. */
function Evidence({ item, outcomeDays }: { item: Item; outcomeDays: number }) {
  const { evidence, exposure, domain, exposed_on: exposedOn } = item;
  const organization_id = organizationId.value;
  const ids = evidence.contact_ids;
  const people = useRequest(
    '/api/contacts/get-many',
    ids.length > 0 ? { organization_id, contact_ids: ids } : null,
  );
  const contacts = shownOf(people)?.data.contacts ?? [];
  const days = { from: daysBefore(exposedOn, -1), to: daysBefore(exposedOn, -outcomeDays) };
  const found = useRequest(
    '/api/website-visits/search',
    evidence.visit_ids.length > 0
      ? {
          ...{ organization_id, company_domain: domain, limit: 10 },
          ...{
            created_after: `${days.from}T00:00:00Z`,
            created_before: `${daysBefore(days.to, -1)}T00:00:00Z`,
          },
        }
      : null,
  );
  const visits = shownOf(found)?.data.visits ?? [];
  return (
    <Panel label={nameOf(item)} closeHref={hrefWith({ company: null })}>
      <h2>{nameOf(item)}</h2>
      <dl class="facts">
        <Fact label="Domain">{domain}</Fact>
        <Fact label="Saw the ads on">{exposedOn}</Fact>
        <Fact label="Until then">
          {plural(exposure.impressions, 'impression')}, {plural(exposure.clicks, 'click')},{' '}
          {plural(exposure.engagements, 'engagement')}
        </Fact>
        <Fact label="Known before">{item.known_before ? 'yes' : 'no'}</Fact>
      </dl>
      <h3>Campaigns until then</h3>
      <Table
        label="Campaigns until then"
        columns={CAMPAIGN_COLUMNS}
        pages={[evidence.campaigns]}
        keyOf={({ campaign_id }) => campaign_id}
      />
      <h3>{plural(item.contacts, 'contact')} after</h3>
      <Trouble answer={people} />
      {contacts.length > 0 && (
        <Table
          label="Contacts after"
          columns={CONTACT_COLUMNS}
          pages={[contacts]}
          keyOf={({ contact_id }) => contact_id}
        />
      )}
      <p>
        <a href={href('/contacts', { query: `"${domain}"` })}>All people known there</a>
      </p>
      <h3>{plural(item.visits, 'visit')} after</h3>
      <Trouble answer={found} />
      {visits.length > 0 && (
        <Table
          label="Visits after"
          columns={VISIT_COLUMNS}
          pages={[visits]}
          keyOf={({ id, createdAt }) => `${id} ${createdAt}`}
        />
      )}
      {item.visits > 0 && (
        <p>
          <a href={href('/visits', { company_domain: domain, ...days })}>All visits of these days</a>
        </p>
      )}
    </Panel>
  );
}
