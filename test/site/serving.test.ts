import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROBLEMS } from '../../services/http/problems.js';
import { packageRoot } from '../../services/shared/fs.js';
import { linksOf, servedPages } from '../docs/support.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';

const folder = join(packageRoot, 'dist/docs');
const guides = servedPages().map(({ name }) => name);
const pages = ['/docs', ...guides.map((name) => `/docs/${name}`)];

/** Values of these attributes in HTML. */
const attributes = (html: string, ...names: string[]) =>
  [...html.matchAll(new RegExp(`\\s(?:${names.join('|')})="([^"]*)"`, 'g'))].map(([, value = '']) =>
    value.replaceAll('&amp;', '&'),
  );

describe('The documentation as the gateway serves it', () => {
  let gateway: TestGateway;
  let operations: string[];
  before(async () => {
    gateway = await startTestGateway();
    const { paths } = (await (await get('/openapi.json')).json()) as {
      paths: Record<string, Record<string, { operationId: string }>>;
    };
    operations = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
  });
  after(() => gateway.close());
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${gateway.url}${path}`, { headers, redirect: 'manual' });

  it('sends every page with a policy that allows only the scripts of the theme, and revalidates it', async () => {
    for (const path of pages) {
      const response = await get(path);
      expect(response.status, path).to.equal(200);
      expect(response.headers.get('Content-Type')).to.match(/^text\/html/);
      expect(response.headers.get('Content-Security-Policy')).to.match(
        /^default-src 'none'; script-src 'self'(?: 'sha256-[\w+/]{43}='){2}; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      );
      const html = await response.text();
      expect(html, path).not.to.match(/<style|\sstyle=|\son\w+="/);
      const again = await get(path, {
        'If-None-Match': response.headers.get('ETag') as string,
        'Cache-Control': 'max-age=0',
      });
      expect(again.status, path).to.equal(304);
    }
  });

  it('leads every link, with its anchor, to something, and loads nothing of another host', async () => {
    const answers = new Map<string, Promise<{ status: number; ids: string[] }>>();
    const fetched = (path: string) => {
      const known = answers.get(path);
      if (known) return known;
      const answer = get(path).then(async (response) => ({
        status: response.status,
        ids: attributes(await response.text(), 'id'),
      }));
      answers.set(path, answer);
      return answer;
    };
    let anchors = 0;
    for (const path of pages) {
      const html = await (await get(path)).text();
      const loaded = [...html.matchAll(/<(?:script|link|img)\b[^>]*>/g)].map(([tag]) => tag).join('');
      expect(attributes(loaded, 'src', 'href').filter((to) => !to.startsWith('/docs/'))).to.deep.equal([]);
      for (const to of new Set(attributes(html, 'src', 'href'))) {
        const { origin, pathname, hash } = new URL(to, gateway.url + path);
        if (origin !== gateway.url) continue;
        const { status, ids } = await fetched(pathname);
        expect(status, `${to} in ${path}`).to.equal(200);
        if (hash === '') continue;
        expect(ids, `${to} in ${path}`).to.include(decodeURIComponent(hash.slice(1)));
        anchors++;
      }
    }
    expect(anchors).to.be.above(200);
  });

  it('answers an unknown page with a page in a browser, and with a problem elsewhere', async () => {
    for (const path of [
      '/docs/none',
      '/docs/none.md',
      '/docs/%00',
      '/docs/assets/none.js',
      '/docs/pages.json',
    ]) {
      const response = await get(path);
      expect(response.status, path).to.equal(404);
      expect(response.headers.get('Content-Type')).to.match(/problem\+json/);
    }
    const page = await get('/docs/none', { Accept: 'text/html,*/*;q=0.8' });
    expect(page.status).to.equal(404);
    expect(page.headers.get('Content-Type')).to.match(/^text\/html/);
    expect(await page.text()).to.contain('/docs/assets/');
  });

  it('lets assets be kept forever', async () => {
    for (const file of readdirSync(join(folder, 'assets'), { recursive: true, encoding: 'utf8' })) {
      if (!/\.(?:js|css|svg|png)$/.test(file)) continue;
      const { status, headers } = await get(`/docs/assets/${file}`);
      expect([status, headers.get('Cache-Control')], file).to.deep.equal([
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
  });

  it('names no page as an operation', () => {
    expect(guides.filter((name) => operations.includes(name) || name === 'api')).to.deep.equal([]);
    expect(new Set(guides).size).to.equal(guides.length);
  });

  it('lists every page in llms.txt, and serves each as plain text', async () => {
    const index = await (await get('/llms.txt')).text();
    expect(index).to.match(/^# Reachline\n\n> \S/);
    const linked = [...index.matchAll(/\]\((\/docs\/[^)]+)\)/g)].map(([, to]) => to as string);
    expect(linked).to.have.members([
      ...guides.map((name) => `/docs/${name}.md`),
      ...operations.map((id) => `/docs/api/${id}.md`),
    ]);
    for (const path of linked) {
      const response = await get(path);
      expect(response.status, path).to.equal(200);
      expect(response.headers.get('Content-Type')).to.match(/^text\/markdown/);
      expect(await response.text(), path).to.match(/^# \S/);
    }
  });

  it('has every page in llms-full.txt', async () => {
    const all = await (await get('/llms-full.txt')).text();
    for (const name of [...guides, ...operations.map((id) => `api/${id}`)]) {
      expect(all).to.contain(await (await get(`/docs/${name}.md`)).text());
    }
  });

  it('links from the plain text of one page to that of another', async () => {
    let links = 0;
    for (const { path, name } of servedPages()) {
      const text = await (await get(`/docs/${name}.md`)).text();
      for (const { path: to } of linksOf(path)) {
        if (to === path || !to.endsWith('.md')) continue;
        expect(text).to.contain(`](/docs/${to.split('/').at(-1)}`);
        links++;
      }
    }
    expect(links).to.be.above(30);
  });

  it('leads from every problem to its section, by its Link and by its type', async () => {
    const answer = await get('/api/key');
    expect(answer.headers.get('Link')).to.equal('</docs/errors#missing_api_key>; rel="help"');
    for (const code of Object.keys(PROBLEMS)) {
      const response = await get(`/docs/urn:reachline:problem:${code}`);
      expect(response.headers.get('Location'), code).to.equal(`/docs/errors#${code}`);
    }
    expect((await get('/docs/urn:reachline:problem:none')).status).to.equal(404);
  });

  it('weighs at most 110 kB for the first page, compressed, without its pictures', () => {
    const html = readFileSync(join(folder, 'quickstart.html'), 'utf8');
    const assets = attributes(html, 'src', 'href')
      .filter((to) => /^\/docs\/assets\/.+\.(?:js|css)$/.test(to))
      .map((to) => to.slice('/docs/'.length));
    expect(assets).to.have.length.above(3);
    const weight = [...new Set(['quickstart.html', ...assets])].reduce(
      (sum, file) => sum + statSync(join(folder, `${file}.gz`)).size,
      0,
    );
    expect(weight).to.be.at.most(110_000);
  });
});
