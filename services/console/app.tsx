import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import type { Scope } from '../http/scopes.js';
import { COMPANY_SCOPES, seesCompanies } from './ad-lists.js';
import { type FailureText, failureOf } from './api.js';
import { Help } from './components/help.js';
import { NoticeBar } from './components/notice-bar.js';
import { Failure } from './components/states.js';
import { focusContent, helpOpen } from './keys.js';
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
import { Campaign, Company, Creative } from './views/ad-page.js';
import { Advertising } from './views/advertising.js';
import { Audiences } from './views/audiences.js';
import { Contacts } from './views/contacts.js';
import { Operate } from './views/operate.js';
import { SignIn } from './views/sign-in.js';
import { SQL_SCOPES, Sql } from './views/sql.js';
import { Status } from './views/status.js';
import { Visits } from './views/visits.js';

/** Views, each with the scopes that it needs. */
const VIEWS: readonly (readonly [path: string, label: string, scopes: readonly Scope[]])[] = [
  ['/contacts', 'Contacts', ['contacts:read']],
  ['/audiences', 'Audiences', ['audiences:read']],
  ['/visits', 'Visits', ['visits:read']],
  ['/companies', 'Companies', COMPANY_SCOPES],
  ['/advertising', 'Advertising', ['advertising:read']],
  ['/sql', 'SQL', SQL_SCOPES],
  ['/import', 'Import', ['ingest:write']],
  ['/operate', 'Operate', []],
  ['/status', 'Status', []],
];

/** A view whose code is loaded when it is opened. */
const loaded = (read: () => Promise<() => preact.JSX.Element>) =>
  function Loaded() {
    const [View, setView] = useState<() => preact.JSX.Element>();
    const [error, setError] = useState<FailureText>();
    const load = () => {
      setError(undefined);
      read().then(
        (found) => setView(() => found),
        (reason: unknown) => setError(failureOf(reason)),
      );
    };
    useEffect(load, []);
    if (error) return <Failure error={error} retry={load} />;
    return View ? <View /> : <p class="note">Loading …</p>;
  };

const Import = loaded(async () => (await import('./views/import.js')).Import);
const Imports = loaded(async () => (await import('./views/imports.js')).Imports);
const Companies = loaded(async () => (await import('./views/companies.js')).Companies);
const Influence = loaded(async () => (await import('./views/influence.js')).Influence);
const CompanyPage = loaded(async () => (await import('./views/companies.js')).CompanyPage);

const PAGES: Record<string, () => preact.JSX.Element> = {
  '/contacts': Contacts,
  '/audiences': Audiences,
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
      <a href={href('/contacts')}>Go to the first view</a>
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

/** Everything drawn for one key. Nothing of it remains after another key is used. */
function Shell() {
  const current = path.value;
  const View = PAGES[current];
  const title = VIEWS.find(([to]) => current.startsWith(to))?.[1];
  useEffect(() => {
    if (current === '') navigate(href('/contacts'), { replace: true });
  }, [current]);
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    // On narrow windows, the links scroll sideways.
    document.querySelector('nav [aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
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
        <a class="brand" href={href('/contacts')}>
          Reachline
        </a>
        <nav aria-label="Views">
          {VIEWS.map(([to, label, scopes]) => {
            const missing = missingScopeOf(scopes);
            return (
              <a
                key={to}
                href={href(to)}
                class={missing ? 'locked' : undefined}
                title={missing ? `The key lacks the scope ${missing}.` : undefined}
                aria-description={missing ? `needs ${missing}` : undefined}
                aria-current={current.startsWith(to) ? 'page' : undefined}
              >
                {label}
              </a>
            );
          })}
        </nav>
        <span class="organization" title="Organization of the key">
          {organizationId}
        </span>
        <a class="button" href="/docs">
          API
        </a>
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
