/** The OpenAPI document as one page of HTML that can be read without a script and asks nothing of other servers. */
import { createHash } from 'node:crypto';

interface Schema {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  oneOf?: Schema[];
  enum?: unknown[];
  examples?: unknown[];
  default?: unknown;
  format?: string;
  $ref?: string;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxLength?: number;
}
interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}
type Content = Record<string, { schema: Schema; example?: unknown }>;
interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { description: string; content?: Content }>;
}
interface Document {
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}
interface Route {
  path: string;
  method: string;
  operation: Operation;
}

const STYLE = `*{box-sizing:border-box}body{margin:0;font:16px/1.5 system-ui,sans-serif;color:#1b1f24;background:#fff}
nav{padding:1rem;background:#f6f8fa}nav ul{margin:0;padding-left:1rem}nav summary{font-weight:600;padding:.3rem 0}
main{padding:0 1rem;min-width:0;max-width:60rem}section{border-top:1px solid #d0d7de;padding:1rem 0}
h2{margin:.3rem 0;overflow-wrap:anywhere}a{color:#0550ae}code,pre,textarea{font:13px/1.5 ui-monospace,monospace}
pre,.scroll{overflow:auto;max-height:32rem}pre{background:#f6f8fa;padding:.7rem;border-radius:6px}
table{border-collapse:collapse;width:100%;font-size:14px}td,th{border:1px solid #d0d7de;padding:.3rem .5rem;text-align:left;vertical-align:top}
label{display:block;margin:.5rem 0}input,textarea,select{width:100%;padding:.4rem;font-size:16px}textarea{min-height:8rem}
button{padding:.5rem 1.2rem;font-size:16px}.method{font-size:13px;border:1px solid;border-radius:4px;padding:0 .4rem}
@media(min-width:60rem){body{display:grid;grid-template-columns:17rem 1fr}nav{position:sticky;top:0;height:100vh;overflow:auto}}
@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}nav,pre{background:#161b22}a{color:#79c0ff}td,th,section{border-color:#30363d}}`;

/** Sends what is in a form. The key stays in its field: it is kept nowhere. */
const SCRIPT = `for (const form of document.forms) form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const output = form.querySelector('output');
  const headers = { 'X-Api-Key': document.getElementById('key').value, 'Content-Type': form.dataset.type };
  const query = new URLSearchParams();
  let path = form.dataset.path;
  for (const field of form.querySelectorAll('[data-in]')) {
    if (field.dataset.in === 'path') path = path.replace('{' + field.name + '}', encodeURIComponent(field.value));
    else if (field.value !== '' && field.dataset.in === 'query') query.append(field.name, field.value);
    else if (field.value !== '') headers[field.name] = field.value;
  }
  output.textContent = 'Waiting for the answer …';
  try {
    const url = path + (query.size > 0 ? '?' + query : '');
    const answer = await fetch(url, { method: 'POST', headers, body: form.querySelector('textarea').value });
    const text = await answer.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch {}
    output.textContent = answer.status + ' ' + answer.statusText + '\\n\\n' + shown;
  } catch (error) { output.textContent = String(error); }
});`;

const hashOf = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Nothing but this page's own style and script, by their hashes, and requests to where it came from. */
export const DOCS_CSP = `default-src 'none'; script-src ${hashOf(SCRIPT)}; style-src ${hashOf(STYLE)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function renderDocs(openApi: object): string {
  const { info, paths, components } = openApi as Document;
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): Route => ({ path, method, operation })),
  );
  const tags = [...new Set(routes.flatMap(({ operation }) => operation.tags))];
  const groups = tags.map((tag) => {
    const tagged = routes.filter(({ operation }) => operation.tags.includes(tag));
    const links = tagged.map(
      ({ operation }) => `<li><a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a></li>`,
    );
    return `<details open><summary>${escapeHtml(tag)}</summary><ul>${links.join('')}</ul></details>`;
  });
  const schemas = Object.entries(components.schemas);
  const schemaLinks = schemas.map(([name]) => `<li><a href="#schema-${name}">${name}</a></li>`).join('');
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escapeHtml(info.title)} API</title><style>${STYLE}</style></head>
<body><nav aria-label="Operations"><strong>${escapeHtml(info.title)} ${escapeHtml(info.version)}</strong>
${groups.join('\n')}<details><summary>Schemas</summary><ul>${schemaLinks}</ul></details></nav>
<main><h1>${escapeHtml(info.title)} API</h1>${markdown(info.description)}
<p>The same as data: <a href="/openapi.json">openapi.json</a>.</p>
<label>API key for the requests below<input id="key" type="password" autocomplete="off" spellcheck="false"></label>
${routes.map((route) => renderRoute(route, components.schemas)).join('\n')}
${schemas.map(([name, schema]) => `<section id="schema-${name}"><h2>${name}</h2>${renderSchema(schema)}</section>`).join('\n')}
</main><script>${SCRIPT}</script></body></html>
`;
}

function renderRoute({ path, method, operation }: Route, schemas: Record<string, Schema>): string {
  const { operationId, summary, description = '', parameters = [], requestBody, responses } = operation;
  const [success] = Object.values(responses[200]?.content ?? {});
  const rows = Object.entries(responses).map(
    ([status, response]) => `<tr><td>${status}</td><td>${inline(response.description)}</td></tr>`,
  );
  const fields = parameters.map((parameter) => ({
    name: `${parameter.name} (${parameter.in})`,
    schema: { ...parameter.schema, description: parameter.description },
    required: parameter.required ?? false,
  }));
  const answer = success && escapeHtml(json(success.example ?? sample(success.schema, schemas)));
  return `<section id="${operationId}"><h2>${escapeHtml(summary)}</h2>
<p><span class="method">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code></p>${markdown(description)}
${fields.length === 0 ? '' : `<h3>Parameters</h3>${renderFields(fields)}`}
${requestBody ? renderRequest(path, parameters, requestBody.content, schemas) : ''}
${success ? `<h3>Answer</h3>${renderSchema(success.schema)}<details><summary>Example of an answer</summary><pre>${answer}</pre></details>` : ''}
<details><summary>Every status</summary><div class="scroll"><table>${rows.join('')}</table></div></details></section>`;
}

function renderRequest(
  path: string,
  parameters: Parameter[],
  content: Content,
  schemas: Record<string, Schema>,
): string {
  const [[type, { schema, example }]] = Object.entries(content) as [[string, Content[string]]];
  const value = example ?? sample(schema, schemas);
  const body = escapeHtml(type.endsWith('ndjson') ? JSON.stringify(value) : json(value));
  const fields = parameters.map(({ name, in: place, schema: { enum: values } }) => {
    const data = `name="${escapeHtml(name)}" data-in="${place}"`;
    const options = (values ?? []).map((each) => `<option>${escapeHtml(String(each))}</option>`).join('');
    const none = place === 'path' ? '' : '<option></option>';
    return `<label>${escapeHtml(name)}${values ? `<select ${data}>${none}${options}</select>` : `<input ${data}>`}</label>`;
  });
  return `<h3>Request</h3>${renderSchema(schema)}<h4>Example, to be tried</h4>
<form data-path="${escapeHtml(path)}" data-type="${type}"><label>Body (${type})<textarea spellcheck="false">${body}</textarea></label>
${fields.length === 0 ? '' : `<details><summary>Parameters</summary>${fields.join('')}</details>`}
<p><button>Send</button></p><pre><output></output></pre></form>`;
}

function renderSchema(schema: Schema): string {
  if (!schema.properties) return `<p>${typeOf(schema)}</p>`;
  const required = new Set(schema.required);
  return renderFields(
    Object.entries(schema.properties).map(([name, field]) => ({
      name,
      schema: field,
      required: required.has(name),
    })),
  );
}

function renderFields(fields: { name: string; schema: Schema; required: boolean }[]): string {
  const rows = fields.map(
    ({ name, schema, required }) =>
      `<tr><td><code>${escapeHtml(name)}</code>${required ? ' <strong title="required">*</strong>' : ''}</td><td>${typeOf(schema)}</td><td>${inline(schema.description ?? '')}${limits(schema)}</td></tr>`,
  );
  return `<div class="scroll"><table><tr><th>Name (* required)</th><th>Type</th><th>Meaning</th></tr>${rows.join('')}</table></div>`;
}

function typeOf({ $ref, type, items, oneOf, format, properties }: Schema): string {
  if ($ref) return `<a href="#schema-${nameOf($ref)}">${nameOf($ref)}</a>`;
  if (oneOf) return `one of ${oneOf.map(typeOf).join(', ')}`;
  if (items) return `${[type].flat().includes('null') ? 'null or ' : ''}array of ${typeOf(items)}`;
  const fields = properties ? ` of ${Object.keys(properties).join(', ')}` : '';
  return escapeHtml([type].flat().join(' or ') + (format ? ` (${format})` : '') + fields);
}

const LIMITS = ['minimum', 'maximum', 'minItems', 'maxItems', 'maxLength', 'default'] as const;

function limits(schema: Schema): string {
  const parts = LIMITS.filter(
    (name) => schema[name] !== undefined && Math.abs(Number(schema[name])) !== Number.MAX_SAFE_INTEGER,
  ).map((name) => `${name} ${JSON.stringify(schema[name])}`);
  if (schema.enum) parts.unshift(`one of ${schema.enum.map((value) => JSON.stringify(value)).join(', ')}`);
  return parts.length === 0 ? '' : `<br><small>${escapeHtml(parts.join('; '))}</small>`;
}

/** A value of the schema, from its examples where it has some. */
function sample(schema: Schema, schemas: Record<string, Schema>): unknown {
  if (schema.$ref) return sample(schemas[nameOf(schema.$ref)] ?? {}, schemas);
  const given = schema.examples?.[0] ?? schema.default ?? schema.enum?.[0];
  if (given !== undefined) return given;
  if (schema.oneOf) return sample(schema.oneOf[0] ?? {}, schemas);
  if (schema.items) return [sample(schema.items, schemas)];
  if (schema.properties) {
    return Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [name, sample(field, schemas)]),
    );
  }
  const types = [schema.type].flat();
  if (types.includes('null')) return null;
  if (schema.format === 'date') return '2026-08-31';
  if (schema.format === 'date-time') return '2026-08-31T12:00:00.000Z';
  if (types.includes('boolean')) return false;
  return types.includes('string') ? 'text' : (schema.minimum ?? 0);
}

const json = (value: unknown) => JSON.stringify(value, null, 2);
const nameOf = (ref: string) => ref.slice(ref.lastIndexOf('/') + 1);
const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
const inline = (text: string) => escapeHtml(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>');
const markdown = (text: string) =>
  text === ''
    ? ''
    : text
        .split('\n\n')
        .map((paragraph) => `<p>${inline(paragraph)}</p>`)
        .join('');
