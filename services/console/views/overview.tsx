/** The first page: what happened lately. Each block loads by itself, keeps its height, and leads to the view that it comes from. */
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import type { Scope } from '../../http/scopes.js';
import type { OperationPath, RequestOf, ResponseOf } from '../api.js';
import { Bars, useVisitDays } from '../components/day-bars.js';
import { Failed, ScopedLink } from '../components/states.js';
import { Totals } from '../components/totals.js';
import { change, count, daysBefore, daysBetween, minute, plural, shortPeriod, today } from '../format.js';
import { href } from '../router.js';
import { missingScope, missingScopeOf, organizationId } from '../session.js';
import { type Answer, shownOf, useRequest } from '../use-request.js';
import { COMPANY_SCOPES } from '../view-scopes.js';

const ROWS = 5;

export function Overview() {
  const status = useRequest('/api/status', { organization_id: organizationId.value });
  const streams = shownOf(status)?.data.streams;
  const steps = STEPS.map((step) => ({ ...step, isDone: streams?.[step.stream].records !== 0 }));
  const isEmpty = steps.every(({ isDone }) => !isDone);
  return (
    <div class="view overview">
      <div class="toolbar">
        <h1>Overview</h1>
        {!isEmpty && steps.some(({ isDone }) => !isDone) && <Steps steps={steps} />}
      </div>
      {isEmpty ? (
        <FirstSteps steps={steps} />
      ) : (
        <div class="blocks">
          <Spend />
          <Visits />
          <Companies />
          <Audiences />
          <Imports />
          <Freshness answer={status} />
        </div>
      )}
    </div>
  );
}

const STEPS = [
  {
    stream: 'contacts',
    name: 'Import contacts',
    text: 'A list from your CRM, an event or a colleague: Excel, CSV or JSON, as it is.',
  },
  {
    stream: 'network-a-deliveries',
    name: 'Load ad reports',
    text: 'The report that your advertising network exports: spend, clicks and leads by day.',
  },
  {
    stream: 'website-visits',
    name: 'Send visits',
    text: 'Who came to your site, as a file or by the API, with the company if it is known.',
  },
] as const;
type Step = (typeof STEPS)[number] & { isDone: boolean };

const importHref = (stream: Step['stream']) =>
  href('/import', { stream: stream === 'contacts' ? null : stream });

/** The steps in one line, while some are done. */
const Steps = ({ steps }: { steps: readonly Step[] }) => (
  <ol class="steps" aria-label="First steps">
    {steps.map(({ stream, name, isDone }) => (
      <li key={stream}>
        {isDone ? (
          <span class="good">✓ {name}: done</span>
        ) : (
          <a href={importHref(stream)}>○ {name}: not yet</a>
        )}
      </li>
    ))}
  </ol>
);

const FirstSteps = ({ steps }: { steps: readonly Step[] }) => (
  <>
    <p class="lead">This organization has no data yet. Three steps fill this page, in any order.</p>
    <ol class="blocks" aria-label="First steps">
      {steps.map(({ stream, name, text, isDone }, index) => (
        <li key={stream} class="block">
          <h2>
            {index + 1}. {name}
          </h2>
          <p>{text}</p>
          <p class="note">{isDone ? '✓ Done' : '○ Not yet'}</p>
          <div class="row">
            <ScopedLink isPrimary={!isDone} href={importHref(stream)} scopes={['ingest:write']}>
              Choose a file
            </ScopedLink>
            <a href="/docs">By the API</a>
          </div>
        </li>
      ))}
    </ol>
  </>
);

interface BlockProps<P extends OperationPath> {
  title: string;
  /** Address of the view that the block comes from. */
  to: string;
  /** The scope that the key lacks, if any. */
  missing: Scope | null;
  /** What the response is about, such as `The visits`. */
  what: string;
  answer: Answer<P>;
  children(data: ResponseOf<P>, of: RequestOf<P>): ComponentChildren;
}

function Block<P extends OperationPath>({ title, to, missing, what, answer, children }: BlockProps<P>) {
  const id = useId();
  const shown = shownOf(answer);
  return (
    <section class="block" aria-labelledby={id} aria-busy={answer.loading}>
      <h2 id={id}>
        <a href={to}>{title}</a>
      </h2>
      {missing && (
        <p class="note">
          This key lacks the scope <code>{missing}</code>, which this block needs.
        </p>
      )}
      {answer.error && <Failed what={what} answer={answer} />}
      {shown && !answer.error && children(shown.data, shown.of)}
      {answer.state === 'none' && !missing && <Bones />}
    </section>
  );
}

const Bones = () => (
  <div class="bones" aria-hidden="true">
    {Array.from({ length: ROWS }, (_, row) => (
      <span key={row} class="skeleton" />
    ))}
  </div>
);

const CAMPAIGNS = '/api/advertising/network_a/campaigns';
const METRICS = ['ad_spend', 'leads', 'cost_per_lead'] as const;

/** This month up to yesterday, against the same days of the month before. On the first of a month, the month that ended yesterday. */
function Spend() {
  const missing = missingScope('advertising:read');
  const end_date = daysBefore(today(), 1);
  const start_date = `${end_date.slice(0, 7)}-01`;
  const body: RequestOf<typeof CAMPAIGNS> = {
    organization_id: organizationId.value,
    start_date,
    end_date,
    granularity: 'monthly',
    compare_to: 'previous_month',
    metrics: [...METRICS],
    page_size: 1,
  };
  const own = useRequest(CAMPAIGNS, missing ? null : body);
  const totals = shownOf(own)?.data.totals ?? [];
  // The currency of most campaigns is the one currency, if there are rates for the others.
  const currency =
    totals.length > 1 ? (totals.find((each) => each.currency)?.currency ?? undefined) : undefined;
  const converted = useRequest(CAMPAIGNS, currency ? { ...body, currency } : null);
  const isWithoutRates = converted.error?.code === 'missing_rates';
  const answer = currency && !isWithoutRates ? converted : own;
  return (
    <Block
      title={`Spend from ${shortPeriod(start_date)} to ${shortPeriod(end_date)}`}
      to={href('/advertising', { start: start_date, end: end_date, compare: 'previous_month', currency })}
      missing={missing}
      what="The spend"
      answer={answer}
    >
      {(data, of) => (
        <>
          {data.totals.length === 0 && <p>No ad was delivered in these days.</p>}
          {data.totals.slice(0, 2).map((total) => (
            <Totals
              key={total.currency}
              metrics={METRICS}
              answer={data}
              label={data.totals.length > 1 ? (total.currency ?? 'unknown') : undefined}
              of={total}
              before={data.previous_totals?.find(({ currency }) => currency === total.currency)}
              currency={of.currency ?? total.currency}
            />
          ))}
          {isWithoutRates && (
            <p class="note">{plural(data.totals.length, 'currency', 'currencies')}, and no exchange rates.</p>
          )}
          <p class="note">
            {data.warnings
              .filter((warning) => /^data_(?:provisional|delayed)/.test(warning))
              .map((warning) => warning.slice(warning.indexOf(': ') + 2))
              .join(' ')}
          </p>
        </>
      )}
    </Block>
  );
}

const WEEK = 7;

function Visits() {
  const missing = missingScope('visits:read');
  const filters = missing ? null : { organization_id: organizationId.value };
  // Two weeks, and today, which is not over.
  const { days, answer } = useVisitDays(filters, '', 2 * WEEK + 1);
  const sum = (from: number, to: number) =>
    days.slice(from, to).reduce((total, [, visits = 0]) => total + visits, 0);
  const [now, before] = [sum(WEEK, 2 * WEEK), sum(0, WEEK)];
  return (
    <Block title="Visits a day" to={href('/visits')} missing={missing} what="The visits" answer={answer}>
      {() => (
        <>
          <dl class="totals cards">
            <div>
              <dt>In the last {WEEK} days</dt>
              <dd>
                <strong>{count(now)}</strong>
                <span class="note">
                  {before === 0
                    ? 'none in the week before'
                    : `${change(now, before)} against the week before`}
                </span>
              </dd>
            </div>
          </dl>
          <Bars
            days={days.slice(1)}
            busy={answer.loading}
            hrefOf={(day) => href('/visits', { from: day, to: day })}
          />
        </>
      )}
    </Block>
  );
}

/** Companies whose people are counted. */
const COUNTED = 25;

/** Companies that engaged with ads in the last days and not in as many days before, and how many people are known there. */
function Companies() {
  const missing = missingScopeOf(COMPANY_SCOPES);
  const end_date = daysBefore(today(), 1);
  const range = { start_date: daysBefore(end_date, WEEK - 1), end_date };
  const ads = useRequest(
    '/api/advertising/network_a/companies',
    missing
      ? null
      : {
          organization_id: organizationId.value,
          ...range,
          granularity: 'monthly',
          compare_to: 'previous_period',
          metrics: ['engagements'],
          sort_by: 'engagements',
          page_size: 200,
        },
  );
  const items = shownOf(ads)?.data.items ?? [];
  const recent = items.filter(
    ({ engagements, previous, domain }) =>
      domain && Number(engagements) > 0 && !Number(previous?.engagements),
  );
  const domains = [...new Set(recent.map(({ domain }) => domain as string))].slice(0, COUNTED);
  const known = useRequest(
    '/api/companies/search',
    domains.length === 0
      ? null
      : { organization_id: organizationId.value, ...range, domains, page_size: COUNTED },
  );
  const companies = shownOf(known)?.data.items ?? [];
  const people = companies.reduce((sum, { contacts }) => sum + contacts.count, 0);
  const rows = companies.toSorted((one, other) => other.contacts.count - one.contacts.count).slice(0, ROWS);
  const to = { start: range.start_date, end: range.end_date };
  return (
    <Block
      title="Newly engaged companies"
      to={href('/companies', to)}
      missing={missing}
      what="The companies"
      answer={domains.length > 0 ? known : ads}
    >
      {() =>
        domains.length === 0 ? (
          <p>
            No company engaged in the last {WEEK} days that had not engaged in the {WEEK} days before.
          </p>
        ) : (
          <>
            <p>
              {plural(recent.length, 'company', 'companies')} engaged in the last {WEEK} days, and not in the{' '}
              {WEEK} before. You know{' '}
              <a href={href('/contacts', { company_domain: domains.join('\n') })}>
                {plural(people, 'person', 'people')}
              </a>{' '}
              there.
            </p>
            <ul class="rows">
              {rows.map(({ domain, name, contacts }) => (
                <li key={domain}>
                  <a href={href('/companies/company', { ...to, domain })}>{name ?? domain}</a>
                  <span>{contacts.count === 0 ? 'nobody known' : `${count(contacts.count)} known`}</span>
                </li>
              ))}
            </ul>
          </>
        )
      }
    </Block>
  );
}

function Audiences() {
  const missing = missingScope('audiences:read');
  const answer = useRequest(
    '/api/audiences/search',
    missing ? null : { organization_id: organizationId.value, include_counts: true, limit: ROWS },
  );
  return (
    <Block title="Audiences" to={href('/audiences')} missing={missing} what="The audiences" answer={answer}>
      {({ audiences, total_count }) => (
        <>
          <p>
            {total_count === 0
              ? 'There are no audiences yet.'
              : `${plural(total_count, 'audience')}${total_count > ROWS ? '; the newest are' : ''}`}
          </p>
          <ul class="rows">
            {audiences.map(({ id, name, member_count }) => (
              <li key={id}>
                <a href={href('/audiences', { audience: id })}>{name}</a>
                <span>{plural(member_count ?? 0, 'member')}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Block>
  );
}

/** The console ends the ids of its imports with the time and four letters. */
const nameOfImport = (id: string) => id.replace(/-\d{4}-\d\d-\d\dT\d{4}-\w+$/, '');

function Imports() {
  const missing = missingScope('contacts:read');
  const organization = { organization_id: organizationId.value };
  const answer = useRequest('/api/imports/list', missing ? null : organization);
  const rejected = useRequest(
    '/api/rejections/list',
    missing || missingScope('ingest:write') ? null : { ...organization, limit: 1 },
  );
  return (
    <Block title="Last imports" to={href('/imports')} missing={missing} what="The imports" answer={answer}>
      {({ imports }) => (
        <>
          <p>
            {imports.length === 0 && 'No contact was imported yet. '}
            {rejected.state === 'current' && (
              <a href={href('/operate', { tab: 'rejections' })}>
                {plural(rejected.data.total_count, 'record')} rejected in 30 days
              </a>
            )}
            {missingScope('ingest:write') && (
              <>
                This key may not read what was rejected: it lacks <code>ingest:write</code>.
              </>
            )}
          </p>
          <Failed what="What was rejected" answer={rejected} />
          <ul class="rows">
            {imports.slice(0, ROWS).map(({ import_id: id, contacts_count, imported_at }) => (
              <li key={id}>
                <a href={href('/contacts', { data_import_id: id })}>{nameOfImport(id)}</a>
                <span title={`${minute(imported_at)} UTC`}>
                  {plural(contacts_count, 'contact')}, {age(imported_at)}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Block>
  );
}

/** Days after which the newest record of a stream is stale. */
const STALE_DAYS = 2;

function age(date: string): string {
  const days = daysBetween(date.slice(0, 10), today());
  if (days <= 0) return 'today';
  return days === 1 ? 'yesterday' : `${count(days)} days ago`;
}
const isStale = (date: string) => daysBetween(date.slice(0, 10), today()) > STALE_DAYS;

function Freshness({ answer }: { answer: Answer<'/api/status'> }) {
  return (
    <Block
      title="How fresh the data is"
      to={href('/status')}
      missing={null}
      what="The status"
      answer={answer}
    >
      {({ streams, stores }) => {
        const deliveries = streams['network-a-deliveries'];
        const rows = [
          ['Contacts', streams.contacts, streams.contacts.last_accepted_at, false],
          ['Visits', streams['website-visits'], streams['website-visits'].last_created_at, true],
          ['Ads', deliveries, deliveries.last_date, true],
          ['Currency rates', streams['currency-rates'], streams['currency-rates'].last_accepted_at, false],
        ] as const;
        const away = Object.values(stores).filter((state) => state !== 'ok').length;
        const stale = rows.filter(([, , date, mayBeStale]) => date && mayBeStale && isStale(date));
        return (
          <>
            <p>
              {away > 0 && <span class="bad">{plural(away, 'store')} cannot be read now. </span>}
              {stale.length > 0 ? (
                <span class="bad">{stale.map(([label]) => label).join(' and ')} are stale.</span>
              ) : (
                away === 0 && rows.every(([, { records }]) => records !== null) && 'Nothing is stale.'
              )}
            </p>
            <ul class="rows">
              {rows.map(([label, { records }, date]) => (
                <li key={label}>
                  <span>{label}</span>
                  <span title={date ?? undefined}>
                    {date ? `newest ${age(date)}` : records === 0 ? 'none yet' : 'not known now'}
                  </span>
                </li>
              ))}
            </ul>
            {deliveries.last_date && (
              <p class="note">Figures of ads before {shortPeriod(deliveries.provisional_from)} are final.</p>
            )}
          </>
        );
      }}
    </Block>
  );
}
