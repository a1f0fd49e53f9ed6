/**
 * The types of every operation and stream, taken from their declarations. Only this file of the client refers to the server, and only to
 * its types. The package contains the output of `declarations/` instead.
 */
import type { Static } from 'typebox';
import type { STREAMS, StreamName } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import type { DeclaredEndpoint } from '../gateway/api.js';
import type { CheckResponse } from '../gateway/ingest/check-endpoint.js';
import type { IngestQuery as IngestQuerySchema, IngestResponse } from '../gateway/ingest/result-schema.js';
import type { ProblemCode } from '../http/problems.js';

/** Request, query parameters and response of each operation, by path. */
export type Operations = {
  [Declared in DeclaredEndpoint as Declared['path']]: {
    request: Static<Declared['request']>;
    query: unknown extends Static<NonNullable<Declared['query']>>
      ? undefined
      : Static<NonNullable<Declared['query']>>;
    response: Static<Declared['response']>;
  };
};

/** The record type of each stream, by name. */
export type StreamRecords = {
  [Name in StreamName]: (typeof STREAMS)[Name] extends Stream<infer Record> ? Record : never;
};

export type IngestQuery = Static<typeof IngestQuerySchema>;
/** Responses of ingest and of its check. */
export type IngestAnswer = Static<typeof IngestResponse>;
export type CheckAnswer = Static<typeof CheckResponse>;
export type { ProblemCode };
