/**
 * Serves the built API reference: one page for every address below /docs, with its content as plain text for readers without
 * JavaScript; the same text alone (`/docs/{page}.md`); `/llms.txt`, which lists all of it; and `/llms-full.txt`, which is all of it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Json } from '../http/openapi.js';
import { PROBLEM_TYPE, PROBLEMS, problemPage } from '../http/problems.js';
import { packageRoot } from '../shared/fs.js';
import type { Clock } from '../shared/time.js';
import { PAGE_HEADERS } from './console.js';
import { serveText } from './serve-text.js';

interface Schema extends Json {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
}
interface Content {
  schema?: Schema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}
interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: (Schema & { name: string; in: string; schema: Schema })[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<
    string,
    { description: string; headers?: Record<string, Schema>; content?: Record<string, Content> }
  >;
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
  components: Record<string, Record<string, Schema>>;
}

/** Adds the routes of the reference. Without a build there is only a 404, as after `tsc` alone. */
export function addReferenceRoutes(
  router: Router,
  document: () => Json,
  clock: Clock,
  folder = join(packageRoot, 'dist/console'),
): void {
  const shell = readText(join(folder, 'reference/index.html'));
  if (shell === undefined) return;
  const guides = JSON.parse(readFileSync(join(folder, 'guides.json'), 'utf8')) as Guide[];
  const openApi = () => document() as unknown as OpenApi;
  const operations = new Map(operationsOf(openApi()).map(({ id }) => [id, id]));
  const index = () => indexText(openApi(), guides);
  const textOf = (name: string) => {
    if (name === '') return index();
    return guides.find((guide) => guide.name === name)?.text ?? operationText(openApi(), name);
  };
  const names = ['', ...guides.map(({ name }) => name), ...operations.keys()];
  const pages = new Map(
    names.map((name) => [
      name,
      serveText(clock, HTML, () => withPlainText(shell, textOf(name)), PAGE_HEADERS),
    ]),
  );
  const texts = new Map(names.map((name) => [`${name}.md`, serveText(clock, TEXT, () => textOf(name))]));
  router.get('/llms.txt', serveText(clock, TEXT, index));
  router.get(
    '/llms-full.txt',
    serveText(clock, TEXT, () => names.map(textOf).join('\n')),
  );
  router.get(['/docs', '/docs/'], pages.get('') as (ctx: Context) => Promise<void>);
  router.get('/docs/:page', (ctx, next) => {
    const { page = '' } = ctx.params;
    const code = page.startsWith(PROBLEM_TYPE) ? page.slice(PROBLEM_TYPE.length) : '';
    if (Object.hasOwn(PROBLEMS, code)) return ctx.redirect(problemPage(code));
    const send = pages.get(page) ?? texts.get(page);
    return send ? send(ctx) : next();
  });
}

const HTML = 'text/html; charset=utf-8';
const TEXT = 'text/markdown; charset=utf-8';

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

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

function operationText(openApi: OpenApi, id: string): string {
  const found = operationsOf(openApi).find((each) => each.id === id);
  if (!found) return '';
  const { method, path, operation } = found;
  const resolve = <T extends object>(value: T): T => {
    const [kind = '', name = ''] = (value as Schema).$ref?.split('/').slice(-2) ?? [];
    return name === '' ? value : resolve((openApi.components[kind]?.[name] ?? {}) as T);
  };
  const { parameters = [], requestBody, responses } = operation;
  const [request] = Object.entries(requestBody ? resolve(requestBody).content : {});
  const success = resolve(responses[200] ?? { description: '' });
  const [answer] = Object.values(success.content ?? {});
  const headersText = (headers: Record<string, Schema> = {}) =>
    Object.entries(headers).map(([name, header]) => `- \`${name}\`: ${resolve(header).description ?? ''}`);
  const isError = ([status]: [string, unknown]) => status !== '200';
  return [
    `# ${operation.summary}`,
    `\`${method} ${path}\``,
    operation.description ?? '',
    parameters.length > 0 ? '## Parameters' : '',
    parameters.map(resolve).map(parameterLine).join('\n'),
    ...(request ? [`## Request\n\n\`${request[0]}\``, ...contentText(request[1], resolve)] : []),
    ...(answer ? ['## Answer', ...contentText(answer, resolve)] : []),
    '## Headers of the answer',
    headersText(success.headers).join('\n'),
    '## Errors',
    Object.entries(responses)
      .filter(isError)
      .map(([status, response]) => {
        const { description, headers = {} } = resolve(response);
        const retried = 'Retry-After' in headers ? ' See [retries](/docs/rate-limits.md).' : '';
        return `- ${status} ${description}${retried}`;
      })
      .join('\n'),
    '',
  ]
    .filter((part, position, all) => part !== '' || position === all.length - 1)
    .join('\n\n');
}

type Resolve = <T extends object>(value: T) => T;

function contentText({ schema, example, examples }: Content, resolve: Resolve): string[] {
  const [first] = Object.values(examples ?? {});
  const shown = example ?? first?.value;
  return [
    schema ? fieldLines(schema, resolve).join('\n') : '',
    shown === undefined ? '' : `\`\`\`json\n${JSON.stringify(shown, null, 2)}\n\`\`\``,
  ];
}

const parameterLine = ({
  name,
  in: place,
  description,
  schema,
  required,
}: Schema & { name: string; in: string; schema: Schema }) =>
  `- \`${name}\` (${place}, ${typeOf(schema)}${required ? ', required' : ''}): ${description ?? ''}`;

const typeOf = ({ type, items, format, enum: values }: Schema): string => {
  const own = [type].flat().filter(Boolean).join(' or ');
  if (items) return `array of ${typeOf(items) || 'objects'}`;
  return `${own}${format ? ` (${format})` : ''}${Array.isArray(values) ? ` of ${values.map((value) => JSON.stringify(value)).join(', ')}` : ''}`;
};

const LIMITS = {
  minimum: 'at least',
  maximum: 'at most',
  minLength: 'characters at least',
  maxLength: 'characters at most',
  minItems: 'entries at least',
  maxItems: 'entries at most',
  default: 'default',
};

const limitsOf = (schema: Schema): string =>
  Object.entries(LIMITS)
    .filter(([name]) => (schema[name] ?? null) !== null)
    .map(([name, words]) => `, ${words} ${JSON.stringify(schema[name])}`)
    .join('');

const MAX_DEPTH = 4;

/** The fields of an object, indented by depth. */
function fieldLines(given: Schema, resolve: Resolve, depth = 0): string[] {
  const schema = resolve(given);
  if (depth > MAX_DEPTH) return [];
  if (schema.items) return fieldLines(schema.items, resolve, depth);
  const kinds = (schema.oneOf ?? schema.anyOf) as Schema[] | undefined;
  if (kinds) return kinds.flatMap((kind) => fieldLines(kind, resolve, depth));
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const flat = resolve(field);
    const required = schema.required?.includes(name) ? ', required' : '';
    const line = `${'  '.repeat(depth)}- \`${name}\` (${typeOf(flat)}${required}${limitsOf(flat)}): ${field.description ?? flat.description ?? ''}`;
    return [line, ...fieldLines(field, resolve, depth + 1)];
  });
}

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** The page with its text where readers without JavaScript find it; links stay links. */
function withPlainText(shell: string, text: string): string {
  const linked = escapeHtml(text).replaceAll(
    /\[([^\]]+)\]\(([/\w.#-]+)\)/g,
    (_, label: string, to: string) => `<a href="${to}">${label}</a>`,
  );
  const plain = `<p><a href="/llms.txt">All pages as plain text</a></p><pre>${linked}</pre>`;
  return shell.replace('<!--plain-->', () => plain);
}
