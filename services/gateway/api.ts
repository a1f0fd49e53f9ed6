/** The list of operations, the services they use, and their OpenAPI document. */
import type { TSchema } from 'typebox';
import { STREAM_NAMES, STREAMS } from '../../ingest/streams/index.js';
import { type AdvertisingServices, advertisingEndpoints } from '../advertising/endpoints.js';
import { type AudienceServices, audienceEndpoints } from '../audiences/endpoints.js';
import { type ContactServices, contactEndpoints } from '../contacts/endpoints.js';
import type { Endpoint } from '../http/endpoint.js';
import {
  extractComponents,
  type Json,
  openApiDocument,
  problemResponses,
  queryParameters,
  STANDARD_PROBLEMS,
} from '../http/openapi.js';
import { type StatusServices, statusEndpoints } from '../status/endpoints.js';
import { type VisitServices, visitEndpoints } from '../visits/endpoints.js';
import { IngestQuery } from './ingest-endpoint.js';

export type ApiServices = ContactServices &
  AudienceServices &
  VisitServices &
  AdvertisingServices &
  StatusServices;
export type ApiEndpoint = Endpoint<TSchema, TSchema, TSchema, ApiServices>;

const declaredEndpoints = [
  ...contactEndpoints,
  ...audienceEndpoints,
  ...visitEndpoints,
  ...advertisingEndpoints,
  ...statusEndpoints,
];
/** Every operation with the types of its declaration. */
export type DeclaredEndpoint = (typeof declaredEndpoints)[number];

/** The operations, in the order the documentation shows them. */
export const endpoints = declaredEndpoints as unknown as readonly ApiEndpoint[];

/** The OpenAPI 3.1 document of these operations and of ingest. */
export function apiDocument(served: readonly ApiEndpoint[], version: string): Json {
  return openApiDocument(served, version, (components) => ({
    '/api/ingest/{stream}': { post: ingestOperation(components) },
    [KEY_PATH]: { get: keyOperation() },
  }));
}

export const KEY_PATH = '/api/key';

function keyOperation(): Json {
  const schema = {
    type: 'object',
    required: ['key_id', 'organization_id', 'scopes'],
    properties: {
      key_id: { type: 'string', description: 'Public id of the key, as in logs and `keys list`.' },
      organization_id: { type: 'string', description: 'Organization the key belongs to.' },
      scopes: {
        type: 'array',
        description: 'What the key allows; `*` is everything.',
        items: { type: 'string', description: 'A scope.' },
      },
    },
  };
  return {
    operationId: 'describeKey',
    summary: 'Describe the key in use',
    description: 'Its organization and scopes. Every key may ask.',
    tags: ['Operations'],
    responses: {
      200: { description: 'A successful response', content: { 'application/json': { schema } } },
      ...problemResponses([
        'missing_api_key',
        'invalid_api_key',
        'rate_limited',
        'internal',
        'store_unavailable',
        'timeout',
      ]),
    },
  };
}

function ingestOperation(components: Json): Json {
  const records = Object.fromEntries(
    Object.values(STREAMS).map(({ name, schema }) => {
      components[`${name}-record`] = extractComponents(schema, components);
      return [name, { $ref: `#/components/schemas/${name}-record` }];
    }),
  );
  const line = { oneOf: Object.values(records) };
  return {
    operationId: 'ingest',
    summary: 'Take in records of a stream',
    description:
      'One JSON record a line, or a JSON array; at most 16 MiB, gzip accepted. Good records are durable when the answer comes; rejected ones are named by line and never stop the others.\n\nNeeds the scope `ingest:write`.',
    tags: ['Ingest'],
    parameters: [
      {
        name: 'stream',
        in: 'path',
        required: true,
        description: 'Stream of the records.',
        schema: { type: 'string', enum: STREAM_NAMES },
      },
      ...queryParameters(IngestQuery),
    ],
    requestBody: {
      required: true,
      content: {
        'application/x-ndjson': { schema: line },
        'application/json': { schema: { type: 'array', items: line } },
      },
    },
    responses: {
      200: {
        description: 'A successful response',
        content: { 'application/json': { schema: ingestResponse } },
      },
      ...problemResponses([...STANDARD_PROBLEMS, 'stream_not_found']),
    },
  };
}

const ingestResponse = {
  type: 'object',
  required: ['stream', 'accepted', 'rejected', 'errors'],
  properties: {
    stream: { type: 'string', description: 'Stream the records went to.' },
    dry_run: { type: 'boolean', description: 'True where nothing was written; absent otherwise.' },
    accepted: { type: 'integer', description: 'Records that are now durable, or would be.' },
    rejected: { type: 'integer', description: 'Records that were rejected.' },
    errors: {
      type: 'array',
      description: 'Why, for the first 100 rejected records.',
      items: {
        type: 'object',
        required: ['line', 'code', 'pointer', 'detail'],
        properties: {
          line: { type: 'integer', description: 'Line, or position in the array, from 1.' },
          code: { type: 'string', description: 'Stable code.' },
          pointer: { type: 'string', description: 'JSON Pointer into the record.' },
          detail: { type: 'string', description: 'What is wrong.' },
        },
      },
    },
  },
};
