/** Programs of generated clients that call every operation with the example body of the document. */
interface Operation {
  operationId: string;
  tags: [string];
  requestBody?: { content: { 'application/json'?: { example?: unknown } } };
}

interface Call {
  path: string;
  id: string;
  tag: string;
  body: string;
}

export function callsOf(document: { paths: Record<string, { post?: Operation }> }): Call[] {
  return Object.entries(document.paths).flatMap(([path, { post }]) => {
    const example = post?.requestBody?.content['application/json']?.example;
    if (!post || example === undefined) return [];
    return [{ path, id: post.operationId, tag: post.tags[0], body: JSON.stringify(example) }];
  });
}

const report = 'console.log(JSON.stringify(statuses));';
const setup = `const { REACHLINE_URL: baseUrl = '', REACHLINE_API_KEY: key = '' } = process.env;
const headers = { 'X-Api-Key': key };
const statuses: Record<string, number> = {};`;
const main = (lines: readonly string[]) =>
  `${setup}\nasync function main() {\n${lines.map((line) => `  ${line}\n`).join('')}  ${report}\n}\nvoid main();\n`;

/** Programs in TypeScript by generator. Each prints the status of each call by its operation. */
export const PROGRAMS: Record<string, (calls: readonly Call[]) => string> = {
  'openapi-typescript': (calls) =>
    `import createClient from 'openapi-fetch';\nimport type { paths } from './generated/schema';\n${main([
      'const api = createClient<paths>({ baseUrl, headers });',
      ...calls.map(
        ({ id, path, body }) =>
          `statuses.${id} = (await api.POST('${path}', { body: ${body} })).response.status;`,
      ),
    ])}`,
  'hey-api': (calls) =>
    `import { client } from './generated/client.gen';\nimport * as sdk from './generated';\n${main([
      'client.setConfig({ baseUrl, headers });',
      ...calls.map(
        ({ id, body }) => `statuses.${id} = (await sdk.${id}({ body: ${body} })).response?.status ?? 0;`,
      ),
    ])}`,
  orval: (calls) =>
    `import axios from 'axios';\nimport * as api from './generated/api';\n${main([
      'Object.assign(axios.defaults, { baseURL: baseUrl, headers });',
      ...calls.map(({ id, body }) => `statuses.${id} = (await api.${id}(${body})).status;`),
    ])}`,
  'swagger-typescript-api': (calls) =>
    `import { Api } from './generated/api';\n${main([
      'const { api } = new Api({ baseUrl, baseApiParams: { headers } });',
      ...calls.map(({ id, body }) => `statuses.${id} = (await api.${id}(${body})).status;`),
    ])}`,
};

const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const bodyClass = (id: string) => `${id.charAt(0).toUpperCase()}${id.slice(1)}Body`;

/** The same for openapi-python-client. */
export const pythonProgram = (calls: readonly Call[]): string => `import json
import os

${calls
  .map(
    ({ id, tag }) => `from generated.api.${tag.toLowerCase().replaceAll(' ', '_')} import ${snakeCase(id)}`,
  )
  .join('\n')}
from generated.client import AuthenticatedClient
from generated.models import ${calls.map(({ id }) => bodyClass(id)).join(', ')}

client = AuthenticatedClient(
    base_url=os.environ["REACHLINE_URL"],
    token=os.environ["REACHLINE_API_KEY"],
    prefix="",
    auth_header_name="X-Api-Key",
)
statuses: dict[str, int] = {}
${calls
  .map(
    ({ id, body }) =>
      `statuses["${id}"] = ${snakeCase(id)}.sync_detailed(client=client, body=${bodyClass(id)}.from_dict(json.loads(${JSON.stringify(body)}))).status_code.value`,
  )
  .join('\n')}
print(json.dumps(statuses))
`;
