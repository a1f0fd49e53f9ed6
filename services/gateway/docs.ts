/**
 * Serves the documentation: the site that VitePress built at /docs, the API reference at /docs/api, each page as plain text
 * (`/docs/{page}.md`), a list of all pages (`/llms.txt`), and the text of all pages (`/llms-full.txt`).
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Json } from '../http/openapi.js';
import { PROBLEM_TYPE, PROBLEMS, problemPage } from '../http/problems.js';
import { packageRoot } from '../shared/fs.js';
import type { Clock } from '../shared/time.js';
import { CONSOLE_CSP, PAGE_HEADERS } from './console.js';
import { serveText } from './serve-text.js';
import { IMMUTABLE, readFiles, type StaticFile, sendFile } from './static-files.js';

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: Json[];
  requestBody?: Json;
  responses: Record<string, { description: string }>;
}
/** A page of the site, with its Markdown. The file pages.json of the build lists the pages. */
interface Page {
  name: string;
  group: string;
  title: string;
  text: string;
}
interface OpenApi {
  info: { title: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, Json>>;
}

/**
 * Adds the routes of the documentation. If the documentation was not built completely, for example after `tsc` alone, the routes respond
 * with 404.
 */
export function addDocumentationRoutes(
  router: Router,
  document: () => Json,
  clock: Clock,
  dist = join(packageRoot, 'dist'),
): void {
  const site = join(dist, 'docs');
  const shell = join(dist, 'console/reference/index.html');
  if (!existsSync(join(site, 'pages.json')) || !existsSync(shell)) return;
  const listed = JSON.parse(readFileSync(join(site, 'pages.json'), 'utf8')) as Omit<Page, 'text'>[];
  const pages = listed.map((page) => ({
    ...page,
    text: readFileSync(join(site, `${page.name}.md`), 'utf8'),
  }));
  const api = () => document() as unknown as OpenApi;
  const files = readFiles(site);
  const pageHeaders = {
    ...PAGE_HEADERS,
    'Content-Security-Policy': sitePolicy(files),
    'Cache-Control': 'no-cache',
  };
  addSite(router, files, pageHeaders, pages, clock);
  addReference(router, api, pages, clock, readFileSync(shell, 'utf8'));
  addPlainText(router, api, pages, clock);
  const unknown = files.get('404.html');
  router.get('/docs/{*page}', (ctx, next) => {
    ctx.vary('Accept');
    // API clients get the problem; browsers get a page.
    if (!unknown || ctx.accepts('json', 'html') !== 'html') return next();
    return sendFile(ctx, unknown, pageHeaders, 404);
  });
}

/** Adds the pages that VitePress built, and their Markdown. */
function addSite(
  router: Router,
  files: ReadonlyMap<string, StaticFile>,
  headers: Record<string, string>,
  pages: readonly Page[],
  clock: Clock,
): void {
  const texts = new Map(pages.map(({ name, text }) => [`${name}.md`, serveText(clock, TEXT, () => text)]));
  router.get('/docs/assets/{*path}', (ctx, next) => {
    const asset = files.get(ctx.path.slice('/docs/'.length));
    return asset ? sendFile(ctx, asset, IMMUTABLE) : next();
  });
  router.get(['/docs', '/docs/', '/docs/:page'], (ctx, next) => {
    const { page = 'index' } = ctx.params;
    const code = page.startsWith(PROBLEM_TYPE) ? page.slice(PROBLEM_TYPE.length) : '';
    if (Object.hasOwn(PROBLEMS, code)) return ctx.redirect(problemPage(code));
    if (page === '404') return next();
    const file = files.get(`${page}.html`) ?? files.get(page);
    return file ? sendFile(ctx, file, headers) : (texts.get(page)?.(ctx) ?? next());
  });
}

/** Adds the operations, each at its address below /docs/api. */
function addReference(
  router: Router,
  api: () => OpenApi,
  pages: readonly Page[],
  clock: Clock,
  shell: string,
): void {
  const textOf = (name: string) => (name === '' ? indexText(api(), pages) : operationText(api(), name));
  let served: Map<string, (ctx: Context) => Promise<void>> | undefined;
  const find = (page: string) => {
    served ??= new Map(
      ['', ...operationsOf(api()).map(({ id }) => id)].flatMap((name) => [
        [name, serveText(clock, HTML, () => withPlainText(shell, textOf(name)), PAGE_HEADERS)],
        [`${name}.md`, serveText(clock, TEXT, () => textOf(name))],
      ]),
    );
    return served.get(page);
  };
  router.get(
    ['/docs/api', '/docs/api/', '/docs/api/:operation'],
    (ctx, next) => find(ctx.params.operation ?? '')?.(ctx) ?? next(),
  );
  // Redirects from the former addresses of operations.
  router.get('/docs/:page', (ctx, next) => {
    const { page = '' } = ctx.params;
    if (!find(page)) return next();
    ctx.status = 301;
    return ctx.redirect(`/docs/api/${page}`);
  });
}

/** Adds the routes that serve everything as plain text. */
function addPlainText(router: Router, api: () => OpenApi, pages: readonly Page[], clock: Clock): void {
  const everything = () => {
    const openApi = api();
    const operations = operationsOf(openApi).map(({ id }) => operationText(openApi, id));
    return [indexText(openApi, pages), ...pages.map(({ text }) => text), ...operations].join('\n');
  };
  router.get(
    '/llms.txt',
    serveText(clock, TEXT, () => indexText(api(), pages)),
  );
  router.get('/llms-full.txt', serveText(clock, TEXT, everything));
}

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/**
 * Content security policy of the site: the policy of the console, the inline scripts of the theme by their hashes, and icons as data:
 * images.
 */
function sitePolicy(files: ReadonlyMap<string, StaticFile>): string {
  const pages = [...files].filter(([name]) => name.endsWith('.html'));
  const scripts = pages.flatMap(([, { identity }]) =>
    [...identity.toString().matchAll(INLINE_SCRIPT)].map(([, script = '']) => script),
  );
  const hashes = [...new Set(scripts)].map(
    (script) => ` 'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
  return CONSOLE_CSP.replace("script-src 'self'", (source) => source + hashes.join('')).replace(
    "img-src 'self'",
    "img-src 'self' data:",
  );
}

const HTML = 'text/html; charset=utf-8';
const TEXT = 'text/markdown; charset=utf-8';

const operationsOf = ({ paths }: OpenApi) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );

/** The list of pages, in the form of https://llmstxt.org. */
function indexText(openApi: OpenApi, pages: readonly Page[]): string {
  const operations = operationsOf(openApi);
  const tags = [...new Set(operations.map(({ operation }) => operation.tags[0]))];
  const groups = [...new Set(pages.map(({ group }) => group))];
  const ofGroup = (of: string) =>
    pages
      .filter(({ group }) => group === of)
      .map(({ name, title, text }) => `- [${title}](/docs/${name}.md): ${openingOf(text)}`);
  const ofTag = (tag: string | undefined) =>
    operations
      .filter(({ operation }) => operation.tags[0] === tag)
      .map(
        ({ id, method, path, operation }) =>
          `- [${operation.summary}](/docs/api/${id}.md): \`${method} ${path}\``,
      );
  return [
    `# ${openApi.info.title}`,
    `> ${openApi.info.description}`,
    ...groups.flatMap((group) => [`## ${group}`, ofGroup(group).join('\n')]),
    ...tags.flatMap((tag) => [`## ${tag}`, ofTag(tag).join('\n')]),
    '## Optional',
    '- [OpenAPI 3.1 document](/openapi.json): every schema, machine-readable',
    '',
  ].join('\n\n');
}

/** The first paragraph of a page, on one line. Links are removed, because relative links would lead elsewhere from another page. */
const openingOf = (text: string) =>
  (text.split('\n\n').find((part) => /^[^#<`]/.test(part)) ?? '')
    .replaceAll('\n', ' ')
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1');

/** Text of an operation from the OpenAPI document, with references resolved. */
function operationText(openApi: OpenApi, id: string): string {
  const found = operationsOf(openApi).find((each) => each.id === id);
  if (!found) return '';
  const { method, path, operation } = found;
  const { summary, description = '', parameters, requestBody, responses } = operation;
  const { 200: answer, ...errors } = responses;
  const fields = withoutRefs({ parameters, requestBody, answer }, openApi.components);
  return [
    `# ${summary}`,
    `\`${method} ${path}\``,
    description,
    '## Request and response',
    `\`\`\`json\n${JSON.stringify(fields)}\n\`\`\``,
    '## Errors',
    Object.entries(errors)
      .map(([status, error]) => `- ${status} ${error.description}`)
      .join('\n'),
    '',
  ].join('\n\n');
}

function withoutRefs(value: unknown, components: OpenApi['components']): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutRefs(item, components));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref } = value as { $ref?: string };
  const [kind = '', name = ''] = $ref?.split('/').slice(-2) ?? [];
  const named = components[kind]?.[name];
  if (named) return withoutRefs(named, components);
  return Object.fromEntries(
    Object.entries(value).map(([field, each]) => [field, withoutRefs(each, components)]),
  );
}

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** The page with its text for readers without JavaScript. The text keeps its links. */
function withPlainText(shell: string, text: string): string {
  const linked = escapeHtml(text).replaceAll(
    /\[([^\]]+)\]\(([/\w.#-]+)\)/g,
    (_, label: string, to: string) => `<a href="${to}">${label}</a>`,
  );
  const plain = `<p><a href="/llms.txt">All pages as plain text</a></p><pre>${linked}</pre>`;
  return shell.replace('<!--plain-->', () => plain);
}
