/**
 * Serves the built API reference: one page for every address below /docs, with its content as plain text for readers without JavaScript.
 * `/docs/{page}.md` has only that text, `/llms.txt` lists all pages, and `/llms-full.txt` has them all.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Json } from '../http/openapi.js';
import { PROBLEM_TYPE, PROBLEMS, problemPage } from '../http/problems.js';
import { packageRoot } from '../shared/fs.js';
import type { Clock } from '../shared/time.js';
import { PAGE_HEADERS } from './console.js';
import { serveText } from './serve-text.js';

interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: Json[];
  requestBody?: Json;
  responses: Record<string, { description: string }>;
}
/** One page of guides.json, as services/console/vite.config.ts writes it. */
interface Guide {
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

/** Adds the routes of the reference. Without a build, such as after `tsc` alone, they respond with 404. */
export function addReferenceRoutes(
  router: Router,
  document: () => Json,
  clock: Clock,
  folder = join(packageRoot, 'dist/console'),
): void {
  const file = join(folder, 'reference/index.html');
  if (!existsSync(file)) return;
  const shell = readFileSync(file, 'utf8');
  const guides = JSON.parse(readFileSync(join(folder, 'guides.json'), 'utf8')) as Guide[];
  const openApi = () => document() as unknown as OpenApi;
  const index = () => indexText(openApi(), guides);
  const textOf = (name: string, api = openApi()) => {
    if (name === '') return indexText(api, guides);
    return guides.find((guide) => guide.name === name)?.text ?? operationText(api, name);
  };
  const namesOf = (api: OpenApi) => [
    '',
    ...guides.map(({ name }) => name),
    ...operationsOf(api).map(({ id }) => id),
  ];
  const fullText = () => {
    const api = openApi();
    return namesOf(api)
      .map((name) => textOf(name, api))
      .join('\n');
  };
  let pages: Map<string, (ctx: Context) => Promise<void>> | undefined;
  const findPage = (page: string) => {
    pages ??= new Map(
      namesOf(openApi()).flatMap((name) => [
        [name, serveText(clock, HTML, () => withPlainText(shell, textOf(name)), PAGE_HEADERS)],
        [`${name}.md`, serveText(clock, TEXT, () => textOf(name))],
      ]),
    );
    return pages.get(page);
  };
  router.get('/llms.txt', serveText(clock, TEXT, index));
  router.get('/llms-full.txt', serveText(clock, TEXT, fullText));
  router.get(['/docs', '/docs/'], (ctx, next) => findPage('')?.(ctx) ?? next());
  router.get('/docs/:page', (ctx, next) => {
    const { page = '' } = ctx.params;
    const code = page.startsWith(PROBLEM_TYPE) ? page.slice(PROBLEM_TYPE.length) : '';
    if (Object.hasOwn(PROBLEMS, code)) return ctx.redirect(problemPage(code));
    return findPage(page)?.(ctx) ?? next();
  });
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
function indexText(openApi: OpenApi, guides: readonly Guide[]): string {
  const operations = operationsOf(openApi);
  const tags = [...new Set(operations.map(({ operation }) => operation.tags[0]))];
  const groups = [...new Set(guides.map(({ group }) => group))];
  const ofGroup = (of: string) =>
    guides
      .filter(({ group }) => group === of)
      .map(({ name, title, text }) => `- [${title}](/docs/${name}.md): ${openingOf(text)}`);
  const ofTag = (tag: string | undefined) =>
    operations
      .filter(({ operation }) => operation.tags[0] === tag)
      .map(
        ({ id, method, path, operation }) =>
          `- [${operation.summary}](/docs/${id}.md): \`${method} ${path}\``,
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

/** The first paragraph, on one line and without links, which lead elsewhere from another page. */
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

/** The page with its text for readers without JavaScript. Links stay links. */
function withPlainText(shell: string, text: string): string {
  const linked = escapeHtml(text).replaceAll(
    /\[([^\]]+)\]\(([/\w.#-]+)\)/g,
    (_, label: string, to: string) => `<a href="${to}">${label}</a>`,
  );
  const plain = `<p><a href="/llms.txt">All pages as plain text</a></p><pre>${linked}</pre>`;
  return shell.replace('<!--plain-->', () => plain);
}
