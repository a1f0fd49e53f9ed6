import type { TSchema } from 'typebox';
import { BODY_LIMIT } from './body.js';
import type { Endpoint, MatchList } from './endpoint.js';
import { EXPORT_TYPES, TOTAL_HEADER } from './export.js';
import { PROBLEMS, type ProblemCode } from './problems.js';

export type Json = Record<string, unknown>;

/** Problems every operation can answer with. */
export const STANDARD_PROBLEMS: readonly ProblemCode[] = [
  'invalid_json',
  'invalid_body',
  'missing_api_key',
  'invalid_api_key',
  'organization_mismatch',
  'insufficient_scope',
  'not_acceptable',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
  'validation_failed',
  'rate_limited',
  'internal',
  'store_unavailable',
  'overloaded',
  'timeout',
];
const IDEMPOTENCY_PROBLEMS: readonly ProblemCode[] = ['idempotency_in_progress', 'idempotency_key_reused'];

/**
 * The OpenAPI 3.1 document of the operations, made from the schemas that validate them. `describeOthers` answers path items that
 * are not declared as endpoints, and may add schemas to the components.
 */
export function openApiDocument(
  served: readonly Endpoint[],
  version: string,
  describeOthers: (components: Json) => Json = () => ({}),
): Json {
  const components: Json = { Problem: problemSchema };
  const paths: Json = {};
  for (const endpoint of served) paths[endpoint.path] = { post: operationOf(endpoint, components) };
  Object.assign(paths, describeOthers(components));
  for (const [path, summary] of Object.entries(OPERATIONAL)) {
    paths[path] = {
      get: {
        summary,
        tags: ['Operations'],
        security: [],
        operationId: path.slice(1).replace('.json', ''),
        responses: { 200: { description: summary } },
      },
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Reachline',
      version,
      description:
        'Contacts, audiences, website visits and advertising analytics of one organization. Every operation is a `POST` with a JSON body and an `X-Api-Key` header; errors are `application/problem+json` with a stable `code`.',
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths,
    components: {
      schemas: components,
      securitySchemes: { apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } },
    },
  };
}

const OPERATIONAL: Record<string, string> = {
  '/livez': 'Whether the process runs',
  '/readyz': 'Whether every store answers',
  '/metrics': 'Metrics in the Prometheus text format',
  '/version': 'Name and version of what runs',
  '/openapi.json': 'This document',
};

function operationOf(endpoint: Endpoint, components: Json): Json {
  const problems = [
    ...STANDARD_PROBLEMS,
    ...(endpoint.idempotent ? IDEMPOTENCY_PROBLEMS : []),
    ...(endpoint.problems ?? []),
  ];
  return {
    operationId: endpoint.path
      .slice('/api/'.length)
      .replaceAll(/[/_-]+(\w)/g, (_, letter: string) => letter.toUpperCase()),
    summary: endpoint.summary,
    description: [
      endpoint.description,
      endpoint.list && exportDescription(endpoint.list),
      endpoint.scope ? `Needs the scope \`${endpoint.scope}\`.` : 'Every key may ask.',
    ]
      .filter(Boolean)
      .join('\n\n'),
    tags: [endpoint.tag],
    parameters: [
      ...queryParameters(endpoint.query),
      ...(endpoint.idempotent ? [idempotencyParameter] : []),
      preferParameter,
    ],
    requestBody: {
      required: true,
      description: `At most ${(endpoint.bodyLimit ?? BODY_LIMIT) / 1024} KiB of JSON.`,
      content: {
        'application/json': {
          schema: extractComponents(endpoint.request, components),
          example: endpoint.example,
        },
      },
    },
    responses: {
      200: {
        description: 'A successful response',
        ...(endpoint.list ? { headers: { [TOTAL_HEADER]: totalHeader } } : {}),
        content: {
          'application/json': { schema: extractComponents(endpoint.response, components) },
          ...(endpoint.list ? exportContent(endpoint.list, components) : {}),
        },
      },
      ...problemResponses(problems),
    },
  };
}

const exportDescription = ({ pageFields }: MatchList) =>
  `With \`Accept: text/csv\` or \`application/x-ndjson\` the answer is every match, in the same order, as one stream; ${pageFields.map((name) => `\`${name}\``).join(' and ')} are then not allowed.`;

const exportContent = ({ item }: MatchList, components: Json): Json => ({
  [EXPORT_TYPES.csv]: {
    schema: { type: 'string', description: 'A line of column names, then one line a match.' },
  },
  [EXPORT_TYPES.ndjson]: { schema: extractComponents(item, components) },
});

const totalHeader = {
  description: 'How many match, of CSV and NDJSON.',
  schema: { type: 'integer', minimum: 0 },
};

export function queryParameters(query: TSchema | undefined): Json[] {
  const properties = (query as { properties?: Record<string, Json> } | undefined)?.properties ?? {};
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    description: schema.description,
    schema,
  }));
}

const idempotencyParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Repeating a request with its key replays the first answer for 24 hours instead of doing it again.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

const preferParameter = {
  name: 'Prefer',
  in: 'header',
  description: '`handling=lenient` ignores unknown fields, and lists them in `X-Ignored-Fields`.',
  schema: { type: 'string' },
};

export function problemResponses(codes: readonly ProblemCode[]): Json {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes)
    byStatus.set(PROBLEMS[code][0], [...(byStatus.get(PROBLEMS[code][0]) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      {
        description: list.map((code) => `\`${code}\`: ${PROBLEMS[code][1]}.`).join(' '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

const problemSchema = {
  type: 'object',
  description: 'An error (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'],
  properties: {
    type: { type: 'string', format: 'uri', description: 'Identifies the kind of problem.' },
    title: { type: 'string', description: 'The kind of problem in words.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'What is wrong with this request.' },
    instance: { type: 'string', description: 'Path of the request.' },
    code: { type: 'string', enum: Object.keys(PROBLEMS), description: 'Stable code.' },
    request_id: { type: 'string', description: 'Id of the request, also in the log.' },
    errors: {
      type: 'array',
      description: 'Every broken rule.',
      items: {
        type: 'object',
        required: ['pointer', 'code', 'detail'],
        properties: {
          pointer: {
            type: 'string',
            description: 'JSON Pointer into the body, `?name` for a query parameter, `#Name` for a header.',
          },
          code: { type: 'string', description: 'Stable code of the rule.' },
          detail: { type: 'string', description: 'What is wrong, in words.' },
        },
      },
    },
  },
};

/** A schema for the document: those with an `$id` become components, referred to by name. */
export function extractComponents(schema: unknown, components: Json): unknown {
  if (Array.isArray(schema)) return schema.map((item) => extractComponents(item, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $id, ...rest } = schema as Json;
  const plain = Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, extractComponents(value, components)]),
  );
  if (typeof $id !== 'string') return plain;
  components[$id] = plain;
  return { $ref: `#/components/schemas/${$id}` };
}
