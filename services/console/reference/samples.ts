/** The same request in three languages. The key is a variable of the environment, so that a copied sample can be shown to others. */
import { type CurlRequest, curl } from '../curl.js';

export type Sample = CurlRequest;

/** JSON that is parsed and so can be shown as a literal; undefined for lines of JSON and for text that is not JSON. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

const indent = (text: string, by: string) => text.replaceAll('\n', `\n${by}`);

function javascript({ method, url, secured, headers, body }: Sample): string {
  const value = body === undefined ? undefined : parsed(body);
  const sent =
    value === undefined
      ? JSON.stringify(body)
      : `JSON.stringify(${indent(JSON.stringify(value, null, 2), '  ')})`;
  const given = [
    ...(secured ? [`    'X-Api-Key': process.env.REACHLINE_API_KEY,`] : []),
    ...Object.entries(headers).map(([name, text]) => `    '${name}': ${JSON.stringify(text)},`),
  ];
  return [
    `const response = await fetch(${JSON.stringify(url)}, {`,
    `  method: '${method}',`,
    ...(given.length > 0 ? ['  headers: {', ...given, '  },'] : []),
    ...(body === undefined ? [] : [`  body: ${sent},`]),
    '});',
    'console.log(response.status, await response.text());',
  ].join('\n');
}

/** A literal of Python. */
function literal(value: unknown, by = ''): string {
  if (value === null || value === undefined) return 'None';
  if (typeof value === 'boolean') return value ? 'True' : 'False';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = `${by}    `;
  const parts = Array.isArray(value)
    ? value.map((each) => inner + literal(each, inner))
    : Object.entries(value).map(([name, each]) => `${inner}${JSON.stringify(name)}: ${literal(each, inner)}`);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return parts.length === 0 ? `${open}${close}` : `${open}\n${parts.join(',\n')},\n${by}${close}`;
}

function python({ method, url, secured, headers, body }: Sample): string {
  const value = body === undefined ? undefined : parsed(body);
  const given = [
    ...(secured ? [`        "X-Api-Key": os.environ["REACHLINE_API_KEY"],`] : []),
    ...Object.entries(headers).map(([name, text]) => `        "${name}": ${JSON.stringify(text)},`),
  ];
  return [
    ...(value === undefined ? [] : ['import json']),
    ...(secured ? ['import os'] : []),
    'import urllib.request',
    '',
    ...(value === undefined ? [] : [`body = ${literal(value)}`]),
    'request = urllib.request.Request(',
    `    ${JSON.stringify(url)},`,
    `    method="${method}",`,
    ...(given.length > 0 ? ['    headers={', ...given, '    },'] : []),
    ...(body === undefined
      ? []
      : [`    data=${value === undefined ? JSON.stringify(body) : 'json.dumps(body)'}.encode(),`]),
    ')',
    'with urllib.request.urlopen(request) as response:',
    '    print(response.status, response.read().decode())',
  ].join('\n');
}

export const LANGUAGES = { curl, JavaScript: javascript, Python: python } as const;
export type Language = keyof typeof LANGUAGES;
