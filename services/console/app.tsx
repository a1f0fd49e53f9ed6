import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import type { Scope } from '../http/scopes.js';
import { failureOf } from './api.js';
import { Help } from './components/help.js';
import { Logo } from './components/logo.js';
import { NoticeBar } from './components/notice-bar.js';
import { Failure } from './components/states.js';
import { ViewMenu } from './components/view-menu.js';
import { focusContent, helpOpen } from './keys.js';
import { lazyView, loadWhenIdle } from './lazy-view.js';
import { address, hasLoss, href, mayLose, navigate, param, path } from './router.js';
import {
  acceptOffer,
  askingTabs,
  currentKey,
  idOf,
  missingScopeOf,
  offeredKey,
  organizationId,
  SessionContext,
  session,
  signIn,
  signInError,
  signOut,
  unconfirmedKey,
} from './session.js';
import { theme, toggleTheme } from './theme.js';
import { COMPANY_SCOPES, SQL_SCOPES, seesCompanies } from './view-scopes.js';
import { Overview } from './views/overview.js';
import { SignIn } from './views/sign-in.js';

type Link = readonly [to: string, label: string, scopes: readonly Scope[], tab?: string];

const isShown = ([to, , , tab = '']: Link) =>
  path.value.startsWith(to) && (to !== '/operate' || param('tab') === tab);

/** Views, each with the scopes that it needs. */
const VIEWS: readonly Link[] = [
  ['/overview', 'Overview', []],
  ['/contacts', 'Contacts', ['contacts:read']],
  ['/audiences', 'Audiences', ['audiences:read']],
  ['/companies', 'Companies', COMPANY_SCOPES],
  ['/visits', 'Visits', ['visits:read']],
  ['/advertising', 'Advertising', ['advertising:read']],
  ['/import', 'Import', ['ingest:write']],
];
/** Views for those who operate the organization. */
const OPERATING_VIEWS: readonly Link[] = [
  ['/sql', 'SQL', SQL_SCOPES],
  ['/operate', 'API keys', ['keys:write']],
  ['/operate', 'Rejected records', ['ingest:write'], 'rejections'],
  ['/operate', 'Erasures', ['contacts:erase'], 'erasures'],
  ['/status', 'Status', []],
];

const adPages = () => import('./views/ad-page.js');
const Contacts = lazyView(async () => (await import('./views/contacts.js')).Contacts);
const Audiences = lazyView(async () => (await import('./views/audiences.js')).Audiences);
const AudiencePage = lazyView(async () => (await import('./views/audience.js')).AudiencePage);
const Companies = lazyView(async () => (await import('./views/companies.js')).Companies);
const CompanyPage = lazyView(async () => (await import('./views/companies.js')).CompanyPage);
const Visits = lazyView(async () => (await import('./views/visits.js')).Visits);
const Advertising = lazyView(async () => (await import('./views/advertising.js')).Advertising);
const Campaign = lazyView(async () => (await adPages()).Campaign);
const Company = lazyView(async () => (await adPages()).Company);
const Creative = lazyView(async () => (await adPages()).Creative);
const Influence = lazyView(async () => (await import('./views/influence.js')).Influence);
const Import = lazyView(async () => (await import('./views/import.js')).Import);
const Imports = lazyView(async () => (await import('./views/imports.js')).Imports);
const Sql = lazyView(async () => (await import('./views/sql.js')).Sql);
const Operate = lazyView(async () => (await import('./views/operate.js')).Operate);
const Status = lazyView(async () => (await import('./views/status.js')).Status);

const PAGES: Record<string, () => preact.JSX.Element> = {
  '/overview': Overview,
  '/contacts': Contacts,
  '/audiences': Audiences,
  '/audiences/audience': AudiencePage,
  '/visits': Visits,
  '/companies': Companies,
  '/companies/company': CompanyPage,
  // Addresses of companies from before they had pages of their own stay. The companies of a campaign are those that it reached.
  '/advertising': () =>
    param('tab') === 'companies' && param('campaign') === '' && seesCompanies() ? (
      <Companies />
    ) : (
      <Advertising />
    ),
  '/advertising/campaign': Campaign,
  '/advertising/creative': Creative,
  '/advertising/company': () => (param('domain') !== '' && seesCompanies() ? <CompanyPage /> : <Company />),
  '/advertising/influence': Influence,
  '/sql': Sql,
  '/import': Import,
  '/imports': Imports,
  '/operate': Operate,
  '/status': Status,
};

export function App() {
  const key = currentKey.value;
  if (key === '') return askingTabs.value ? null : <SignIn />;
  return (
    <SessionContext.Provider value={session.value}>
      <Shell key={key} />
    </SessionContext.Provider>
  );
}

/** Asks before a session ends while something would be lost: form input, or a running job. */
function mayEnd(): boolean {
  const titles = session.value?.jobs.value.map(({ title }) => title).join(', ') ?? '';
  return mayLose() && (titles === '' || confirm(`Still running: ${titles}. Stop?`));
}

function warnBeforeUnload(event: BeforeUnloadEvent): void {
  if (hasLoss() || (session.value?.jobs.value.length ?? 0) > 0) event.preventDefault();
}

/** Asks whether a link with another key may replace the session. */
function OfferedKey() {
  const key = offeredKey.value;
  if (key === null) return null;
  return (
    <section class="facts" role="alert" aria-label="Link with another key">
      <p>
        The link that you opened has another API key ({idOf(key) ?? 'unknown'}). With it you would see, and
        load files into, the organization of that key.
      </p>
      <div class="row">
        <button
          type="button"
          onClick={() => {
            offeredKey.value = null;
          }}
        >
          Stay signed in
        </button>
        <button type="button" class="second" onClick={() => mayEnd() && acceptOffer()}>
          Use the key of the link
        </button>
      </div>
    </section>
  );
}

/** Shown instead of a view until the server has confirmed the key. */
function Unconfirmed() {
  const retry = () => void signIn(unconfirmedKey.value ?? '');
  if (!signInError.value) return <p class="state note">Loading …</p>;
  return <Failure error={signInError.value} retry={retry} />;
}

function NoView() {
  if (path.value === '') return null;
  return (
    <div class="state">
      <p>There is no such view.</p>
      <a href={href('/overview')}>Go to the first view</a>
    </div>
  );
}

/** An error of the console replaces the view, but not the frame around it. */
function Boundary({ children }: { children: preact.ComponentChildren }) {
  const [error, reset] = useErrorBoundary();
  useEffect(reset, [address.value]);
  if (error === undefined) return <>{children}</>;
  return <Failure error={{ ...failureOf(error), canRetry: false }} retry={reset} />;
}

function ViewLink({ link }: { link: Link }) {
  const [to, label, scopes, tab] = link;
  const missing = missingScopeOf(scopes);
  return (
    <a
      href={href(to, { tab })}
      class={missing ? 'locked' : undefined}
      title={missing ? `The key lacks the scope ${missing}.` : undefined}
      aria-description={missing ? `needs ${missing}` : undefined}
      aria-current={isShown(link) ? 'page' : undefined}
    >
      {label}
    </a>
  );
}

/** Everything drawn for one key. Nothing of it remains after another key is used. */
function Shell() {
  const current = path.value;
  const View = PAGES[current];
  const title = [...VIEWS, ...OPERATING_VIEWS].find(isShown)?.[1];
  useEffect(() => {
    if (current === '') navigate(href('/overview'), { replace: true });
  }, [current]);
  useEffect(loadWhenIdle, []);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    // On narrow windows, the links scroll sideways.
    document
      .querySelector('.views [aria-current=page]')
      ?.scrollIntoView({ block: 'nearest', inline: 'center' });
    // In another view, screen readers start at its beginning.
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [current]);
  useEffect(() => {
    addEventListener('beforeunload', warnBeforeUnload);
    return () => removeEventListener('beforeunload', warnBeforeUnload);
  }, []);
  useEffect(() => {
    document.title = title ? `${title} · Reachline` : 'Reachline';
  }, [title]);
  return (
    <>
      <button type="button" class="skip" onClick={focusContent}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href={href('/overview')}>
          <Logo />
          Reachline
        </a>
        <nav aria-label="Views">
          <div class="views">
            {VIEWS.map((link) => (
              <ViewLink key={link[1]} link={link} />
            ))}
          </div>
          <ViewMenu label="Operate" isCurrent={OPERATING_VIEWS.some(isShown)}>
            {OPERATING_VIEWS.map((link) => (
              <ViewLink key={link[1]} link={link} />
            ))}
            <a href="/docs">Documentation and API</a>
          </ViewMenu>
        </nav>
        <span class="organization" title="Organization of the key">
          {organizationId}
        </span>
        <button
          type="button"
          class="second"
          aria-label="Keys"
          onClick={() => {
            helpOpen.value = true;
          }}
        >
          ?
        </button>
        <button
          type="button"
          aria-label={theme.value === 'dark' ? 'Switch to light' : 'Switch to dark'}
          onClick={toggleTheme}
        >
          {theme.value === 'dark' ? 'Light' : 'Dark'}
        </button>
        <button type="button" onClick={() => mayEnd() && signOut()}>
          Sign out
        </button>
      </header>
      {session.value && <OfferedKey />}
      <main ref={main} tabIndex={-1}>
        {session.value ? <Boundary key={current}>{View ? <View /> : <NoView />}</Boundary> : <Unconfirmed />}
      </main>
      {session.value && <NoticeBar />}
      <Help />
    </>
  );
}
