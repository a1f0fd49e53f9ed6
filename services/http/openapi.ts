/** Builds the OpenAPI 3.1 document from the schemas that validate requests. */
import type { TSchema } from 'typebox';
import { MAX_VALUES } from '../shared/json-values.js';
import { MAX_FOLDED_LENGTH, TEXT_QUERY } from '../shared/schema.js';
import { BODY_LIMIT } from './body.js';
import { type Endpoint, type MatchList, TAGS, type Tag } from './endpoint.js';
import { TOTAL_HEADER } from './export.js';
import { repetitionOf, SECRET_KEY_LENGTH } from './idempotency.js';
import { PASSING, PROBLEMS, type ProblemCode } from './problems.js';

export type Json = Record<string, unknown>;

/** Problems of every operation. */
const STANDARD_PROBLEMS: readonly ProblemCode[] = [
  'missing_api_key',
  'invalid_api_key',
  'insufficient_scope',
  'origin_not_allowed',
  'not_acceptable',
  'validation_failed',
  'rate_limited',
  'internal',
  'store_unavailable',
  'storage_full',
  'overloaded',
  'timeout',
];
/** Problems of operations with a body. */
const BODY_PROBLEMS: readonly ProblemCode[] = [
  'invalid_json',
  'invalid_body',
  'organization_mismatch',
  'request_timeout',
  'body_too_large',
  'unsupported_media_type',
];
const JSON_PROBLEMS: readonly ProblemCode[] = ['too_many_values'];
const IDEMPOTENCY_PROBLEMS: Record<'outcome' | 'answer', readonly ProblemCode[]> = {
  outcome: ['idempotency_in_progress', 'idempotency_key_reused'],
  answer: ['idempotency_in_progress', 'outcome_unknown', 'idempotency_key_reused'],
};

/** Content of the document besides the endpoints. */
export interface DocumentOptions {
  version: string;
  /** Response examples by path. */
  examples?: Json;
  /** Path items of routes that are not operations. May add schemas to the components. */
  describeRoutes(components: Json): Json;
}

export function openApiDocument(served: readonly Endpoint[], options: DocumentOptions): Json {
  const { version, examples = {}, describeRoutes } = options;
  const schemas: Json = {};
  publish(problemSchema, schemas);
  const paths: Json = {};
  for (const endpoint of served) {
    const { method = 'POST', path } = endpoint;
    paths[path] = { [method.toLowerCase()]: operationOf(endpoint, examples[path], schemas) };
  }
  Object.assign(paths, describeRoutes(schemas));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Reachline',
      version,
      description:
        'Contacts, audiences, website visits and advertising analytics of one organization. Every operation is a `POST` with a JSON body and an `X-Api-Key` header. Errors are `application/problem+json` with a stable `code`. Examples are requests and responses of the sample data.',
      contact: { name: 'The maintainers of Reachline' },
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '/', description: 'The gateway that serves this document.' }],
    security: [{ apiKey: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas,
      headers: HEADERS,
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: 'An API key of the organization, as `reachline keys create` prints it.',
        },
      },
    },
  };
}

function operationOf(endpoint: Endpoint, responseExample: unknown, schemas: Json): Json {
  const { name, path, response, list, query } = endpoint;
  const repetition = repetitionOf(endpoint);
  const hasBody = endpoint.method !== 'GET';
  const hasJsonBody = hasBody && !endpoint.source;
  const problems = [
    ...(hasBody ? BODY_PROBLEMS : []),
    ...(hasJsonBody ? JSON_PROBLEMS : []),
    ...STANDARD_PROBLEMS,
    ...(repetition ? IDEMPOTENCY_PROBLEMS[repetition] : []),
    ...(endpoint.problems ?? []),
  ];
  const headers = [
    ...KEYED_HEADERS,
    ...(hasJsonBody ? ['X-Ignored-Fields'] : []),
    'Server-Timing',
    ...(repetition ? ['Idempotency-Replayed'] : []),
    ...(list ? [TOTAL_HEADER] : []),
  ];
  const schema = publish({ $id: `${name}Response`, ...(response as Json) }, schemas);
  const example = responseExample === undefined ? {} : { example: responseExample };
  return {
    operationId: endpoint.operationId ?? camelCase(path.slice('/api/'.length)),
    summary: endpoint.summary,
    description: describe(endpoint),
    tags: [endpoint.tag],
    parameters: [
      ...parametersOf('path', endpoint.params),
      ...parametersOf('query', query, endpoint.exampleQuery as Json),
      ...(repetition ? [idempotencyParameterOf(endpoint)] : []),
      ...(hasJsonBody ? [preferParameter] : []),
    ],
    ...(hasBody ? { requestBody: requestBodyOf(endpoint, schemas) } : {}),
    responses: {
      200: {
        description: 'A successful response',
        headers: refsTo(headers),
        content: { 'application/json': { schema, ...example } },
      },
      ...problemResponses(problems),
    },
  };
}

const camelCase = (path: string) =>
  path.replaceAll(/[/_-]+(\w)/g, (_, letter: string) => letter.toUpperCase());

function requestBodyOf(endpoint: Endpoint, schemas: Json): Json {
  const { source, request, example, bodyLimit = BODY_LIMIT } = endpoint;
  if (source) {
    return { required: true, description: 'Records of the stream.', content: source.describe(schemas) };
  }
  // The schema is inlined: from a component, openapi-typescript would make every field with a default required.
  const schema = publish(request, schemas);
  return {
    required: true,
    description: `At most ${bodyLimit / 1024} KiB of JSON, and ${MAX_VALUES} values.`,
    content: { 'application/json': { schema, example } },
  };
}

/** Describes exports in words. If exports were media types of the response, generated clients would expect a response that is not JSON. */
const exportDescription = ({ pageFields, profiles = {} }: MatchList) => {
  const types = Object.keys(profiles).map((name) => `\`text/csv; profile=${name}\``);
  return [
    `With \`Accept: text/csv\` or \`application/x-ndjson\`, the response streams all matches in the same order; ${pageFields.map((name) => `\`${name}\``).join(' and ')} are then not allowed.`,
    ...(types.length > 0
      ? [`${types.join(' and ')} write the lists that network_a takes as an upload.`]
      : []),
  ].join(' ');
};

/** The description of an operation, with the scopes that it needs. */
function describe({ description, scope, list }: Endpoint): string {
  const scopes = scope.map((each) => `\`${each}\``).join(' and ');
  const access = scopes
    ? `Needs the scope${scope.length > 1 ? 's' : ''} ${scopes}.`
    : 'Every key may use it.';
  return [description, list && exportDescription(list), access].filter(Boolean).join('\n\n');
}

export function parametersOf(
  place: 'path' | 'query',
  schema: TSchema | undefined,
  sample: Json = {},
): Json[] {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, Json> };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: place,
    ...(place === 'path' ? { required: true } : {}),
    description,
    schema: publish(rest, {}),
    ...(name in sample ? { example: sample[name] } : {}),
  }));
}

const idempotencyParameterOf = ({ answersSecret = false }: Pick<Endpoint, 'answersSecret'>) => ({
  name: 'Idempotency-Key',
  in: 'header',
  description:
    'Key of this request. A repeated request with the same key gets the first response for 24 hours, and does not run again. Visible ASCII characters.',
  schema: {
    type: 'string',
    minLength: answersSecret ? SECRET_KEY_LENGTH : 1,
    maxLength: 255,
    pattern: '^[\\x21-\\x7e]+$',
  },
});

const preferParameter = {
  name: 'Prefer',
  in: 'header',
  description: '`handling=lenient` ignores unknown fields, and lists them in `X-Ignored-Fields`.',
  schema: { type: 'string' },
};

const header = (description: string, example: unknown, type = 'string') => ({
  description,
  schema: { type },
  example,
});

const HEADERS: Json = {
  'X-Request-Id': header(
    'Id of the request, also in the log. The gateway creates one if the request has none.',
    'req_06jf7k2v1csyf9x5n0r8t4m2qa',
  ),
  RateLimit: header(
    'Remaining requests of the key, and the seconds until its limit is full again.',
    '"default";r=5999;t=1',
  ),
  'RateLimit-Policy': header('Limit of the key: requests per number of seconds.', '"default";q=6000;w=60'),
  'Retry-After': header('Seconds to wait before sending the request again.', 1, 'integer'),
  'WWW-Authenticate': header('How to authenticate.', 'ApiKey realm="reachline"'),
  'Server-Timing': header('Milliseconds that the stores took for the request.', 'store;dur=3.1'),
  'X-Ignored-Fields': header(
    'With `Prefer: handling=lenient`, the unknown fields that were ignored, percent-encoded.',
    'nickname, shoe_size',
  ),
  [TOTAL_HEADER]: header('With CSV and NDJSON: the number of matches.', 1000, 'integer'),
  'Idempotency-Replayed': header(
    'Present, with the value `true`, if the first response is replayed.',
    'true',
  ),
};

const refsTo = (headers: readonly string[]): Json =>
  Object.fromEntries(headers.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const KEYED_HEADERS = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy'];

/** Response headers of routes without a key. */
export const plainHeaders = () => refsTo(['X-Request-Id']);

export function problemResponses(codes: readonly ProblemCode[]): Json {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of codes)
    byStatus.set(PROBLEMS[code][0], [...(byStatus.get(PROBLEMS[code][0]) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      {
        description: list.map((code) => `\`${code}\`: ${PROBLEMS[code][1]}.`).join(' '),
        headers: refsTo([
          ...(status === 429 ? KEYED_HEADERS : ['X-Request-Id']),
          ...(status === 401 ? ['WWW-Authenticate'] : []),
          ...(list.some((code) => PASSING.has(code)) ? ['Retry-After'] : []),
        ]),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

/** A route that needs no key and responds with `content`. */
export const plainOperation = (operation: Json, content: Json, otherResponses: Json): Json => ({
  ...operation,
  security: [],
  tags: ['Operations' satisfies Tag],
  responses: {
    200: { description: 'A successful response', headers: plainHeaders(), content },
    ...problemResponses(['origin_not_allowed']),
    ...otherResponses,
  },
});

const text = (description: string) => ({ type: 'string', description });
const integer = (description: string) => ({ type: 'integer', description });

const problemSchema = {
  $id: 'Problem',
  type: 'object',
  description:
    'An error (RFC 9457). Members after `request_id` depend on the code; further members may be added.',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'],
  properties: {
    type: { ...text('Identifies the kind of problem.'), format: 'uri' },
    title: text('Title of the kind of problem.'),
    status: integer('The HTTP status.'),
    detail: text('What is wrong with this request.'),
    instance: text('Path of the request.'),
    code: {
      ...text('Stable code of the kind of problem. New codes may be added.'),
      'x-extensible-enum': Object.keys(PROBLEMS),
    },
    request_id: text('Id of the request, also in the log.'),
    errors: {
      type: 'array',
      description: 'All violated rules.',
      items: {
        $id: 'FieldError',
        type: 'object',
        description: 'One violated rule.',
        required: ['pointer', 'code', 'detail'],
        properties: {
          pointer: text(
            'JSON Pointer into the body, `?name` for a query parameter, or `#Name` for a header.',
          ),
          code: text('Stable code of the rule.'),
          detail: text('Explanation in words.'),
          line: integer('`records_rejected`: line of the record, or its position in the array, from 1.'),
        },
      },
    },
    required_scope: text(
      '`insufficient_scope`: the first scope that the key lacks; `detail` names all of them.',
    ),
    organization_id: text(
      '`…_not_found`, `ambiguous_…`, `contact_exists`, `changed_meanwhile`: the organization of the key.',
    ),
    contact_id: text(
      '`contact_not_found`, `changed_meanwhile`: the requested contact. `contact_exists`: the existing contact.',
    ),
    contact_ids: {
      type: 'array',
      description:
        '`contact_exists`: the existing contacts, oldest first, at most 100. There are several only with `on_duplicate=update`.',
      items: text('A contact id.'),
    },
    audience_id: text('`audience_not_found`: the requested audience.'),
    key_id: text('`key_not_found`: the requested key.'),
    accepted: integer(
      '`records_rejected`, and other problems of an ingest that ended early: number of records that were accepted all the same.',
    ),
    rejected: integer(
      '`records_rejected`: number of rejected records. `errors` lists the first 100, or as many as `max_errors`.',
    ),
    required_credits: integer('`insufficient_credits`: credits that the creation costs.'),
    credit_balance: integer('`insufficient_credits`: credit balance of the organization.'),
    days: {
      type: 'array',
      description: '`missing_rates`: days without a rate for some amount, ascending.',
      items: { ...text('A day.'), format: 'date' },
    },
    candidates: {
      type: 'array',
      description: '`ambiguous_company`, `ambiguous_domain`: up to 20 matching companies.',
      items: {
        $id: 'CompanyCandidate',
        type: 'object',
        description: 'A matching company.',
        required: ['id', 'network_a_company_id', 'name'],
        properties: {
          id: text('Identifier of the company.'),
          network_a_company_id: { ...text('Identifier on network_a.'), type: ['string', 'null'] },
          name: { ...text('Name of the company.'), type: ['string', 'null'] },
        },
      },
    },
  },
};

/** Keywords of our validator that other tools do not know. */
const PRIVATE_KEYWORDS = new Set(['$id', 'formatMinimum', 'formatMaximum', MAX_FOLDED_LENGTH, TEXT_QUERY]);
const INT32_MAX = 2 ** 31 - 1;

/** A schema in the form that the document shows. Schemas with an `$id` become components, and other schemas refer to them by name. */
export function publish(schema: unknown, components: Json): unknown {
  if (Array.isArray(schema)) return schema.map((item) => publish(item, components));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $id, type } = schema as Json;
  const plain: Json = {};
  for (const [name, value] of Object.entries(schema)) {
    if (!PRIVATE_KEYWORDS.has(name)) plain[name] = publish(value, components);
  }
  const types = [type].flat();
  if (types.includes('number')) plain.format = 'double';
  if (types.includes('integer') && !(Number(plain.maximum) <= INT32_MAX)) plain.format = 'int64';
  if (Array.isArray(plain.enum) && types.includes('null')) splitNull(plain);
  if (typeof $id !== 'string') return plain;
  components[$id] = plain;
  return { $ref: `#/components/schemas/${$id}` };
}

/** Makes null an alternative beside the values: client generators turn an enum with null into several types. */
function splitNull(schema: Json): void {
  const values = (schema.enum as unknown[]).filter((value) => value !== null);
  schema.anyOf = [{ type: 'string', enum: values }, { type: 'null' }];
  delete schema.type;
  delete schema.enum;
}

/** Publishes the schema as a component with this name. */
export const publishAs = (name: string, schema: unknown, components: Json) =>
  publish({ ...(schema as Json), $id: name }, components);
