/** What the OpenAPI document says of routes that are not declared as endpoints. */
import { STREAM_NAMES, STREAMS } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import {
  describe,
  type Json,
  keyedHeaders,
  otherOperation,
  plainHeaders,
  publish,
  publishAs,
  queryParameters,
  STANDARD_PROBLEMS,
} from '../http/openapi.js';
import { SCOPES } from '../http/scopes.js';
import { RECORD_EXAMPLES, RESPONSE_EXAMPLES } from './examples.js';
import { IngestQuery } from './ingest-endpoint.js';

export const KEY_PATH = '/api/key';
export const INGEST_PATH = '/api/ingest/{stream}';

/** Path items of the other routes; adds their schemas to the components. */
export function describeOthers(schemas: Json): Json {
  return {
    [INGEST_PATH]: { post: ingestOperation(schemas) },
    [KEY_PATH]: { get: keyOperation(schemas) },
    ...operationalPaths(schemas),
  };
}

const text = (description: string) => ({ type: 'string', description });
const json = (schema: unknown, path?: string) => {
  const example = path === undefined ? undefined : RESPONSE_EXAMPLES[path];
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
};

function keyOperation(schemas: Json): Json {
  const key = {
    $id: 'Key',
    type: 'object',
    description: 'An API key, without its secret.',
    required: ['key_id', 'organization_id', 'scopes'],
    properties: {
      key_id: text('Public id of the key, as in logs and `keys list`.'),
      organization_id: text('Organization the key belongs to.'),
      scopes: {
        type: 'array',
        description: 'What the key allows; `*` is everything.',
        items: { ...text('A scope.'), 'x-extensible-enum': ['*', ...SCOPES] },
      },
    },
  };
  return otherOperation(
    {
      operationId: 'describeKey',
      tag: 'Operations',
      summary: 'Describe the key in use',
      description: describe('Its organization and scopes.', null),
    },
    keyedHeaders(),
    json(publish(key, schemas)),
    [
      'missing_api_key',
      'invalid_api_key',
      'origin_not_allowed',
      'rate_limited',
      'internal',
      'store_unavailable',
      'overloaded',
      'timeout',
    ],
  );
}

/** Over HTTP the organization is that of the key where a record names none. */
function recordSchema({ schema, organizationField }: Stream): Json {
  const { required = [], ...rest } = schema as { required?: string[] };
  return { ...rest, required: required.filter((field) => field !== organizationField) };
}

function ingestOperation(schemas: Json): Json {
  const records = Object.values(STREAMS).map((stream) =>
    publishAs(`${stream.name}-record`, recordSchema(stream as Stream), schemas),
  );
  const record = publish(
    { $id: 'IngestRecord', description: 'A record of the stream that the path names.', anyOf: records },
    schemas,
  );
  const examples = Object.fromEntries(
    Object.values(STREAMS).map(({ name, summary }) => [name, { summary, value: [RECORD_EXAMPLES[name]] }]),
  );
  return otherOperation(
    {
      operationId: 'ingest',
      tag: 'Ingest',
      summary: 'Take in records of a stream',
      description: describe(
        'One JSON record per line, a JSON array or one object, or CSV; at most 16 MiB, gzip and zstd accepted. Good records are durable when the answer comes; rejected ones are named by line, and stop the others only with `on_reject=fail`.',
        'ingest:write',
      ),
      parameters: [
        {
          name: 'stream',
          in: 'path',
          required: true,
          description: 'Stream of the records.',
          schema: { type: 'string', enum: STREAM_NAMES },
          example: 'contacts',
        },
        ...queryParameters(IngestQuery),
      ],
      requestBody: {
        required: true,
        description: 'Records of the stream.',
        content: {
          'application/json': { schema: { type: 'array', items: record }, examples },
          // Without a schema, which would be of the text as a whole: orval then sends JSON.
          'application/x-ndjson': { example: `${JSON.stringify(RECORD_EXAMPLES.contacts)}\n` },
          'text/csv': { example: 'contact_id,first_name,work_emails\ncon_1,Ada,ada@acme.example\n' },
        },
      },
    },
    keyedHeaders(),
    json(publish(ingestResponse, schemas), INGEST_PATH),
    [...STANDARD_PROBLEMS, 'stream_not_found', 'records_rejected'],
  );
}

const ingestResponse = {
  $id: 'IngestResponse',
  type: 'object',
  description: 'What became of the records.',
  required: ['stream', 'accepted', 'rejected', 'skipped', 'rounded', 'suppressed', 'errors'],
  properties: {
    stream: text('Stream the records went to.'),
    dry_run: { type: 'boolean', description: 'True where nothing was written; absent otherwise.' },
    records: {
      type: 'array',
      description: 'The first 3 accepted records as a dry run would write them; absent otherwise.',
      items: {
        type: 'object',
        required: ['line', 'record'],
        properties: {
          line: { type: 'integer', description: 'Line, or position in the array, from 1.' },
          record: { type: 'object', description: 'The record of the stream.' },
        },
      },
    },
    accepted: { type: 'integer', description: 'Records that are now durable, or would be.' },
    rejected: { type: 'integer', description: 'Records that were rejected.' },
    skipped: { type: 'integer', description: 'Records that the mapping of `map` leaves out.' },
    rounded: {
      type: 'integer',
      description: 'Accepted records with money of more than 12 digits after the point, rounded half-even.',
    },
    ignored: {
      type: 'integer',
      description:
        'Accepted records whose unknown fields were left out; absent where unknown fields are rejected.',
    },
    suppressed: {
      type: 'integer',
      description: 'Accepted contacts that were left out, because the person was erased.',
    },
    errors: {
      type: 'array',
      description: 'Why, for the first 100 rejected records.',
      items: {
        $id: 'RecordError',
        type: 'object',
        description: 'Why a record was rejected.',
        required: ['line', 'code', 'pointer', 'detail'],
        properties: {
          line: { type: 'integer', description: 'Line, or position in the array, from 1.' },
          code: text('Stable code.'),
          pointer: text('JSON Pointer into the record.'),
          detail: text('What is wrong.'),
        },
      },
    },
  },
};

const storeState = { ...text('`ok` or `unavailable`.'), 'x-extensible-enum': ['ok', 'unavailable'] };
const readiness = {
  $id: 'Readiness',
  type: 'object',
  description: 'Whether requests can be served.',
  required: ['ready', 'stopping', 'stores'],
  properties: {
    ready: { type: 'boolean', description: 'Whether every store answers and the process is not stopping.' },
    stopping: { type: 'boolean', description: 'Whether the process is shutting down.' },
    stores: {
      type: 'object',
      description: 'State by store: `search`, `analytics`, and `intake` where records go to Kafka.',
      additionalProperties: storeState,
    },
  },
};
const version = {
  $id: 'Version',
  type: 'object',
  description: 'What runs.',
  required: ['name', 'version', 'node'],
  properties: {
    name: text('Name of the program.'),
    version: text('Version of the program.'),
    node: text('Version of Node.js.'),
  },
};
const liveness = {
  $id: 'Liveness',
  type: 'object',
  description: 'The process runs.',
  required: ['status'],
  properties: { status: text('`ok`.') },
};

/** Endpoints without a key, for operators and tools. */
function operationalPaths(schemas: Json): Json {
  const ready = json(publish(readiness, schemas));
  const contents: Record<string, [summary: string, description: string, content: Json]> = {
    '/livez': ['Whether the process runs', 'Touches no store.', json(publish(liveness, schemas))],
    '/readyz': [
      'Whether every store answers',
      'The stores are asked once a second at most. 503 while one does not answer, or during shutdown.',
      ready,
    ],
    '/metrics': [
      'Metrics in the Prometheus text format',
      'Not served where `REACHLINE_METRICS_PORT` gives them a port of their own.',
      { 'text/plain': { schema: text('Metrics, one a line.') } },
    ],
    '/version': [
      'Name and version of what runs',
      'Of the program and of Node.js.',
      json(publish(version, schemas)),
    ],
    '/openapi.json': [
      'This document',
      'Examples name recent days, so it changes once a day; `ETag` and `If-None-Match` save sending it again.',
      json({ type: 'object', description: 'An OpenAPI 3.1 document.' }),
    ],
  };
  const paths: Record<string, { get: { responses: Json } }> = {};
  for (const [path, [summary, description, content]] of Object.entries(contents)) {
    const get = otherOperation(
      {
        operationId: path.slice(1).replace('.json', ''),
        tag: 'Operations',
        summary,
        description,
        security: [],
      },
      plainHeaders(),
      content,
      ['origin_not_allowed'],
    );
    paths[path] = { get: get as { responses: Json } };
  }
  const { responses } = (paths['/readyz'] as { get: { responses: Json } }).get;
  responses[503] = { description: 'Not ready', headers: plainHeaders(), content: ready };
  return paths;
}
