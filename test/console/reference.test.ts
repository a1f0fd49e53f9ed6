import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { apiDocument, operations as declaredOperations } from '../../services/gateway/api.js';
import { CONSOLE_CSP } from '../../services/gateway/console.js';
import { packageRoot } from '../../services/shared/fs.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { APPEARANCES, expectAccessible, useConsole } from './browser.js';

const run = promisify(execFile);
const hasPython = () =>
  run('python3', ['--version']).then(
    () => true,
    () => false,
  );
const folder = join(packageRoot, 'dist/console');
const shell = readFileSync(join(folder, 'reference/index.html'), 'utf8');

interface Operation {
  operationId: string;
  summary: string;
}
const operations = Object.entries(
  apiDocument(declaredOperations, '1.2.3').paths as Record<string, Record<string, Operation>>,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, summary }]) => ({
    path,
    method,
    id: operationId,
    summary,
  })),
);

describe('The API reference as the gateway serves it', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway();
  });
  after(() => gateway.close());
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}${path}`, { headers });

  it('sends a page for the overview and for each operation, with its policy, and revalidates it', async () => {
    for (const path of ['/docs/api', '/docs/api/contactsCreate', '/docs/api/ingest']) {
      const response = await get(path);
      expect(response.status, path).to.equal(200);
      expect(response.headers.get('Content-Type')).to.match(/^text\/html/);
      expect(response.headers.get('Content-Security-Policy')).to.equal(CONSOLE_CSP);
      const page = await response.text();
      expect(page)
        .to.contain('<div id="reference"></div>')
        .and.match(/<noscript>[\s\S]+<\/noscript>/);
      expect(page).not.to.match(/<script>|<style|\sstyle=|\son\w+=|src="http/);
      const again = await get(path, {
        'If-None-Match': response.headers.get('ETag') as string,
        'Cache-Control': 'max-age=0',
      });
      expect(again.status, path).to.equal(304);
    }
    for (const path of ['/docs/api/none', '/docs/api/none.md', '/docs/api/%00']) {
      const response = await get(path);
      expect(response.status, path).to.equal(404);
      expect(response.headers.get('Content-Type')).to.match(/problem\+json/);
    }
  });

  it('is found where operations were before', async () => {
    for (const { id } of operations) {
      for (const page of [id, `${id}.md`]) {
        const response = await fetch(`${gateway.url}/docs/${page}`, { redirect: 'manual' });
        expect([response.status, response.headers.get('Location')]).to.deep.equal([301, `/docs/api/${page}`]);
      }
    }
  });

  it('escapes HTML in its plain text', async () => {
    const page = await (await get('/docs/api/ingest')).text();
    const [, plain = ''] = /<noscript>([\s\S]*)<\/noscript>/.exec(page) ?? [];
    expect(plain.replaceAll(/<\/?(?:p|pre|a)(?: href="[^"<>]*")?>/g, '')).not.to.match(/[<>]/);
  });

  it('weighs at most 60 kB compressed, and loads nothing of the console but what both use', () => {
    const assets = [...shell.matchAll(/(?:src|href)="\/console\/(assets\/[^"]+)"/g)].map(
      ([, path]) => path as string,
    );
    const files = ['reference/index.html', ...assets];
    expect(assets).to.have.length.above(1);
    expect(files.reduce((sum, path) => sum + statSync(join(folder, `${path}.gz`)).size, 0)).to.be.at.most(
      60_000,
    );
    const source = assets.map((path) => readFileSync(join(folder, path), 'utf8')).join('');
    expect(source).not.to.contain('Sign out');
  });
});

describe('The API reference in Chromium', function () {
  this.timeout(120_000);
  const c = useConsole();
  async function open(name: string, { width = 1280, withKey = true } = {}): Promise<void> {
    if (withKey) await c.page.addInitScript(`sessionStorage.setItem('reachline.key', '${c.key}')`);
    await c.page.setViewportSize({ width, height: 800 });
    await visit(name);
  }
  async function visit(name: string): Promise<void> {
    await c.page.goto(`${c.gateway.url}/docs/api${name === '' ? '' : `/${name}`}`);
    await c.page.getByRole('heading', { level: 1 }).waitFor();
  }
  const heading = (name: string) => c.page.getByRole('heading', { level: 1, name, exact: true });

  it('shows a page whose address ends in what cannot be decoded', async () => {
    await c.page.goto(`${c.gateway.url}/docs/api/contactsSearch#%`);
    await c.page.getByRole('heading', { level: 1 }).waitFor();
    await c.page.getByRole('link', { name: 'Reachline API' }).waitFor();
  });

  it('leads to every operation by its navigation, without loading the page again', async () => {
    await open('');
    await c.page.evaluate('window.isSame = true');
    const names = operations.map(({ id }) => id);
    // In one call within the page, because each click sent from here takes ten times as long.
    const shown = await c.page.evaluate<{ heading: string; title: string }[]>(`(async () => {
      const look = () => ({ heading: document.querySelector('h1')?.textContent, title: document.title });
      const shown = [];
      for (const name of ${JSON.stringify(names)}) {
        const before = look();
        document.querySelector('nav[aria-label=Reference] a[href="/docs/api/' + name + '"]').click();
        while (look().heading === before.heading || look().title === before.title)
          await new Promise(requestAnimationFrame);
        shown.push(look());
      }
      return shown;
    })()`);
    expect(shown).to.deep.equal(
      operations.map(({ summary }) => ({ heading: summary, title: `${summary} · Reachline` })),
    );
    await c.page.goBack();
    await c.page.waitForURL(`${c.gateway.url}/docs/api/${names.at(-2)}`);
    expect(await c.page.evaluate('window.isSame')).to.equal(true);
  });

  it('leads from the description of an operation to its guide', async () => {
    await open('querySql');
    await c.page.getByRole('main').getByRole('link', { name: 'SQL', exact: true }).click();
    await c.page.waitForURL('**/docs/sql');
  });

  it('leads to operations by a menu on a phone', async () => {
    await open('', { width: 390 });
    const menu = c.page.getByRole('button', { name: 'Menu' });
    for (const { id, summary } of [...operations.slice(-2), ...operations.slice(0, 1)]) {
      await menu.click();
      await c.page
        .getByRole('navigation', { name: 'Reference' })
        .locator(`a[href="/docs/api/${id}"]`)
        .click();
      await heading(summary).waitFor();
      await menu.and(c.page.locator('[aria-expanded=false]')).waitFor();
      expect(await c.page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(390);
    }
  });

  it('shows a request for an operation, and code in every language for it, that get an answer of 200', async () => {
    await open('');
    const shown: Record<string, string[]> = { curl: [], JavaScript: [], Python: [] };
    const navigation = c.page.getByRole('navigation', { name: 'Reference' });
    // The test takes an operation with only a body, an operation with parameters, and an operation with a path of its own.
    const some = operations.filter(({ id }) => ['contactsSearch', 'contactsCreate', 'ingest'].includes(id));
    expect(some).to.have.lengthOf(3);
    for (const { id, path, summary } of some) {
      const [route = ''] = path.split('{');
      await navigation.locator(`a[href="/docs/api/${id}"]`).click();
      await heading(summary).waitFor();
      await c.page.getByRole('button', { name: 'Send' }).click();
      const answer = c.page.locator('.received');
      await answer.waitFor();
      expect(await answer.textContent(), id).to.match(/^200 OK\s*\d+ ms/);
      for (const [language, texts] of Object.entries(shown)) {
        await c.page.getByRole('button', { name: language, exact: true }).click();
        const text = await c.page.getByRole('region', { name: `Request in ${language}` }).textContent();
        expect(text).to.contain(route);
        texts.push(text ?? '');
      }
    }
    const { curl = [], JavaScript = [], Python = [] } = shown;
    const options = { env: { ...process.env, REACHLINE_API_KEY: c.key }, maxBuffer: 1 << 26 };
    /** The beginnings of the lines that a program with all requests prints, one line per request. */
    const statusesOf = async (command: string, flags: string[], program: string) => {
      const { stdout } = await run(command, [...flags, program], options);
      return stdout
        .trim()
        .split('\n')
        .map((line) => line.slice(0, 3));
    };
    const withStatus = curl.map((text) => `${text} -o /dev/null -w '%{http_code}\\n'`);
    const expected = some.map(() => '200');
    expect(await statusesOf('bash', ['-c'], withStatus.join('\n'))).to.deep.equal(expected);
    const modules = JavaScript.map((text) => `{\n${text}\n}`).join('\n');
    expect(await statusesOf('node', ['--input-type=module', '-e'], modules)).to.deep.equal(expected);
    // Without Python, the machine has run the other two programs.
    if (!(await hasPython())) return;
    expect(await statusesOf('python3', ['-c'], Python.join('\n'))).to.deep.equal(expected);
  });

  it('shows a record of each stream that is accepted', async () => {
    await open('ingest');
    const streams = c.page.getByLabel('stream', { exact: true });
    for (const stream of await streams.locator('option').allTextContents()) {
      await streams.selectOption(stream);
      await c.page.getByRole('button', { name: 'Send' }).click();
      await c.page.getByRole('region', { name: 'Body of the answer' }).getByText(`"${stream}"`).waitFor();
      const answer = await c.page.getByRole('region', { name: 'Body of the answer' }).textContent();
      expect(answer, stream).to.contain('"accepted": 1');
    }
  });

  it('takes a key where the tab has none, and leads from a problem to its meaning', async () => {
    await open('contactsGet', { withKey: false });
    await c.page.getByRole('button', { name: 'Send' }).click();
    const link = c.page.getByRole('link', { name: 'What missing_api_key means' });
    await link.waitFor();
    c.forgetFailedRequests();
    await link.click();
    await c.page.waitForURL(`${c.gateway.url}/docs/errors#missing_api_key`);
    await c.page.goBack();
    await c.page.getByLabel('API key').fill(c.key);
    await c.page.getByRole('button', { name: 'Send' }).click();
    await c.page.getByText('200 OK').waitFor();
    await c.page.getByLabel('API key, of org_demo').waitFor();
    await c.page.reload();
    expect(await c.page.getByLabel('API key, of org_demo').inputValue()).to.equal(c.key);
    // The key belongs to the console too, in this tab and in others.
    await c.page.goto(`${c.gateway.url}/console`);
    await c.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    const other = await c.context.newPage();
    await other.goto(`${c.gateway.url}/docs/api/contactsGet`);
    await other.getByLabel('API key, of org_demo').waitFor();
  });

  it('finds operations and fields by typed text', async () => {
    await open('');
    await c.page.keyboard.press('/');
    for (const [typed, to] of [
      ['company_domain', 'contactsSearch#request-company_domain'],
      ['duplicate', 'contactsCreate#parameter-on_duplicate'],
      ['search website visits', 'websiteVisitsSearch'],
    ] as const) {
      await c.page.getByRole('searchbox').fill(typed);
      await c.page
        .getByRole('navigation', { name: 'Results' })
        .locator(`a[href="/docs/api/${to}"]`)
        .first()
        .click();
      await c.page.waitForURL(`${c.gateway.url}/docs/api/${to}`);
    }
    await c.page.getByRole('searchbox').fill('zzz');
    await c.page.getByText('Nothing matches.').waitFor();
  });

  it('has nothing serious for axe, light and dark, wide and narrow', async () => {
    await open('');
    // Each width meets each colour scheme once, with the navigation shown.
    await expectAccessible(c.page, APPEARANCES);
    for (const name of ['contactsCreate', 'ingest']) {
      await visit(name);
      await c.page.evaluate(
        "document.querySelectorAll('main details').forEach((each) => { each.open = true; })",
      );
      await c.expectAccessible();
    }
  });

  it('shows its content where scripts do not run', async () => {
    const context = await c.context.browser()?.newContext({ javaScriptEnabled: false });
    const page = (await context?.newPage()) as Page;
    await page.goto(`${c.gateway.url}/docs/api`);
    await page.getByRole('link', { name: 'Search contacts', exact: true }).click();
    await page.getByText('POST /api/contacts/search').waitFor();
    await context?.close();
  });
});
