import { computed, signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { Failure } from '../components/states.js';
import { address, href, path } from '../router.js';
import { theme, toggleTheme } from '../theme.js';
import { failure, loadReference, type Operation, reference } from './open-api.js';
import { OperationPage } from './operation.js';
import { search } from './search.js';
import { Inline } from './text.js';

/** The id of an operation; '' for the overview. */
const page = computed(() => path.value.slice(1));
const typed = signal('');
const menuOpen = signal(false);

function titleOf(name: string): string {
  return reference.value?.byId.get(name)?.summary ?? 'API operations';
}

/** The part of the address behind `#`, as it is where it cannot be decoded. */
function fragment(): string {
  const text = location.hash.slice(1);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function App() {
  const name = page.value;
  const loaded = reference.value;
  const main = useRef<HTMLElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${titleOf(name)} · Reachline`;
  }, [name, loaded]);
  // Before anything is painted, so that the page does not jump.
  useLayoutEffect(() => {
    menuOpen.value = false;
    const target = document.getElementById(fragment());
    const folded = target?.closest('details');
    if (folded) folded.open = true;
    if (target) target.scrollIntoView();
    else if (!isFirst.current) scrollTo(0, 0);
    // Of another page, readers of the screen begin at its start.
    if (!isFirst.current) main.current?.focus({ preventScroll: true });
    isFirst.current = false;
  }, [address.value, loaded]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') {
        menuOpen.value = false;
        return;
      }
      const isTyping = (event.target as Element).matches('input, textarea, select');
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      menuOpen.value = true;
      document.querySelector<HTMLInputElement>('#filter')?.focus();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <>
      <header class="top">
        <a class="brand" href={href('')}>
          Reachline API
        </a>
        <button
          type="button"
          class="menu"
          aria-expanded={menuOpen.value}
          aria-controls="navigation"
          onClick={() => {
            menuOpen.value = !menuOpen.value;
          }}
        >
          Menu
        </button>
        <span class="spring" />
        <a class="button" href="/console">
          Console
        </a>
        <button type="button" onClick={toggleTheme}>
          {theme.value === 'dark' ? 'Light' : 'Dark'}
        </button>
      </header>
      <div class="shell">
        <Navigation />
        <main ref={main} tabIndex={-1}>
          <Page name={name} />
        </main>
      </div>
    </>
  );
}

function Navigation() {
  const results = search(typed.value, reference.value);
  return (
    <div id="navigation" class={menuOpen.value ? 'side open' : 'side'}>
      <search>
        <input
          id="filter"
          type="search"
          aria-label="Search operations and fields"
          placeholder="Search ( / )"
          autocomplete="off"
          spellcheck={false}
          value={typed.value}
          onInput={({ currentTarget }) => {
            typed.value = currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') typed.value = '';
          }}
        />
      </search>
      {typed.value.trim() === '' ? (
        <nav aria-label="Reference">
          <NavGroup title="Reachline" items={[{ to: '/docs', label: 'Documentation' }]} />
          {groups().map(([tag, operations]) => (
            <NavGroup
              key={tag}
              title={tag}
              items={operations.map(({ id, summary }) => ({ to: href(`/${id}`), label: summary }))}
            />
          ))}
        </nav>
      ) : (
        <nav aria-label="Results">
          <p class="note" role="status">
            {results.length === 0 ? 'Nothing matches.' : `${results.length} found`}
          </p>
          <ul>
            {results.map(({ title, context, to }, index) => (
              <li key={`${to} ${index}`}>
                <a href={href(`/${to}`)}>
                  {title}
                  <span class="note">{context}</span>
                </a>
              </li>
            ))}
          </ul>
        </nav>
      )}
    </div>
  );
}

function groups(): [tag: string, operations: Operation[]][] {
  const operations = reference.value?.operations ?? [];
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  return tags.map((tag) => [tag, operations.filter((operation) => operation.tag === tag)]);
}

function NavGroup({ title, items }: { title: string; items: { to: string; label: string }[] }) {
  return (
    <section>
      <h2>{title}</h2>
      <ul>
        {items.map(({ to, label }) => (
          <li key={to}>
            <a
              href={to}
              aria-current={address.value.path !== '' && href(address.value.path) === to ? 'page' : undefined}
            >
              {label}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Page({ name }: { name: string }) {
  if (failure.value !== null) return <Failure error={failure.value} retry={() => void loadReference()} />;
  if (!reference.value) return <p class="note">Loading the operations …</p>;
  if (name === '') return <Overview />;
  const operation = reference.value.byId.get(name);
  if (operation) return <OperationPage operation={operation} />;
  return (
    <div class="state">
      <p>There is no such page.</p>
      <a href={href('')}>Go to the overview</a>
    </div>
  );
}

function Overview() {
  const { info } = reference.value as NonNullable<typeof reference.value>;
  return (
    <article class="doc">
      <h1>{info.title} API</h1>
      <p>
        <Inline text={info.description} />
      </p>
      <p>
        New here? Start with the <a href="/docs/quickstart">quickstart</a>. The same as data:{' '}
        <a href="/openapi.json">openapi.json</a>, and as plain text: <a href="/llms.txt">llms.txt</a>, or all
        pages at once: <a href="/llms-full.txt">llms-full.txt</a>.
      </p>
      {groups().map(([tag, operations]) => (
        <section key={tag}>
          <h2>{tag}</h2>
          <ul class="operations">
            {operations.map(({ id, method, path, summary }) => (
              <li key={id}>
                <a href={href(`/${id}`)}>{summary}</a>
                <code>
                  {method} {path}
                </code>
              </li>
            ))}
          </ul>
        </section>
      ))}
      <p class="note">Version {info.version}</p>
    </article>
  );
}
