import { useEffect } from 'preact/hooks';
import { href, navigate, path } from './router.js';
import { missingScope, organizationId, session, signOut } from './session.js';
import { theme, toggleTheme } from './theme.js';
import { Advertising } from './views/advertising.js';
import { Audiences } from './views/audiences.js';
import { Company } from './views/company.js';
import { Contacts } from './views/contacts.js';
import { SignIn } from './views/sign-in.js';
import { Status } from './views/status.js';
import { Visits } from './views/visits.js';

/** Each with the scope that reads it. */
const VIEWS = [
  ['/contacts', 'Contacts', 'contacts:read'],
  ['/audiences', 'Audiences', 'audiences:read'],
  ['/visits', 'Visits', 'visits:read'],
  ['/advertising', 'Advertising', 'advertising:read'],
  ['/status', 'Status', null],
] as const;

const PAGES: Record<string, () => preact.JSX.Element> = {
  '/contacts': Contacts,
  '/audiences': Audiences,
  '/visits': Visits,
  '/advertising': Advertising,
  '/advertising/company': Company,
  '/status': Status,
};

export function App() {
  return session.value ? <Shell /> : <SignIn />;
}

function Shell() {
  const current = path.value;
  const View = PAGES[current];
  const title = VIEWS.find(([to]) => current.startsWith(to))?.[1];
  useEffect(() => {
    if (current === '') navigate(href('/contacts'), { replace: true });
  }, [current]);
  useEffect(() => {
    document.title = title ? `${title} · Reachline` : 'Reachline';
  }, [title]);
  return (
    <>
      <header class="top">
        <a class="brand" href={href('/contacts')}>
          Reachline
        </a>
        <nav aria-label="Views">
          {VIEWS.map(([to, label, scope]) => {
            const missing = scope && missingScope(scope);
            return (
              <a
                key={to}
                href={href(to)}
                class={missing ? 'locked' : undefined}
                title={missing ? `The key lacks the scope ${missing}.` : undefined}
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
        <button type="button" onClick={toggleTheme}>
          {theme.value === 'dark' ? 'Light' : 'Dark'}
        </button>
        <button type="button" onClick={() => signOut()}>
          Sign out
        </button>
      </header>
      <main>
        {View ? (
          <View key={current} />
        ) : (
          current !== '' && (
            <div class="state">
              <p>There is no such view.</p>
              <a href={href('/contacts')}>Go to the first view</a>
            </div>
          )
        )}
      </main>
    </>
  );
}
