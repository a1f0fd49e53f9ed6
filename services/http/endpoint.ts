import type { Static, TSchema } from 'typebox';
import type { Json, JsonText } from '../shared/json.js';
import type { BodyLimit } from './body.js';
import type { ProblemCode } from './problems.js';
import type { Scope } from './scopes.js';

/** The groups of operations in the documentation. */
export const TAGS = {
  Contacts: 'People: create them, get one, search all.',
  Audiences: 'Named groups of contacts, and who is a member.',
  'Website visits': 'Visits to the site of the organization.',
  Advertising: 'Campaigns, creatives and companies of network_a with their figures over a range of days.',
  Ingest: 'Takes in records of every kind.',
  Operations: 'What runs, and how it is.',
};
export type Tag = keyof typeof TAGS;

/** A validated request, scoped to the organization of its key, and the services its handler uses. */
export interface HandlerContext<Body, Query, Services = unknown> {
  /** Strings trimmed; null, blank and absent fields are all absent. */
  body: Body;
  query: Query;
  organizationId: string;
  /** Id of the API key. */
  keyId: string;
  /** The stores it reads and writes, and the clock. */
  services: Services;
  /** The Idempotency-Key header, with the route and the fingerprint of the request. */
  idempotency: { route: string; key: string; fingerprint: string } | undefined;
  /** Aborted when the client leaves or the request's time is up. */
  signal: AbortSignal;
  setHeader(name: string, value: string): void;
}

/** Forms in which every match of a search or list is sent (contract 3.13). */
export type ExportFormat = 'csv' | 'ndjson';

export interface MatchPage {
  /** Objects, or JSON of them. */
  items: readonly (object | Json<object>)[];
  /** All that match; read from the first page alone. */
  total: number;
  /** Where the next page begins; null at the end. */
  next: unknown;
}

/** How every match of a search or list is read. */
export interface MatchList<Body = unknown, Services = unknown> {
  /** Schema of one match. Its scalars and lists of scalars are the columns of CSV. */
  item: TSchema;
  /** Fields of the request that choose a page, which an export has no use for. */
  pageFields: readonly string[];
  /** Reads the page that begins at `next` of the page before. CSV leaves nested fields out. */
  readPage(
    context: HandlerContext<Body, unknown, Services>,
    next: unknown,
    format: ExportFormat,
  ): Promise<MatchPage>;
}

type OrText<T> = T | JsonText<T>;

/** A response whose fields, or the items of its lists, may be JSON text already. */
export type WithText<Response> = {
  [Field in keyof Response]: Response[Field] extends (infer Item)[]
    ? OrText<Item[]> | JsonText<Item>[]
    : OrText<Response[Field]>;
};

export interface Endpoint<
  Body extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Response extends TSchema = TSchema,
  Services = unknown,
> {
  path: `/api/${string}`;
  /** Verb and noun; the document calls its schemas `<name>Request` and `<name>Response`. */
  name: string;
  summary: string;
  /** Paragraphs of the documentation, in Markdown. */
  description?: string;
  tag: Tag;
  /** Null for an operation that every key may use. */
  scope: Scope | null;
  request: Body;
  query?: Query;
  response: Response;
  /** A body that works on the sample data, however often it is sent. */
  example: Static<Body>;
  /** The query parameters of the example. */
  exampleQuery?: Static<Query>;
  /** Problems of this operation in addition to those of every operation. */
  problems?: readonly ProblemCode[];
  idempotent?: boolean;
  /** Admission slots the request takes, by its cost to the stores; default 1. */
  slots?(body: Static<Body>): number;
  /** Of a search or list: how an export reads every match. */
  list?: MatchList<Static<Body>, Services>;
  /** Maximum body size in bytes; default 1 MiB. */
  bodyLimit?: BodyLimit;
  handle(context: HandlerContext<Static<Body>, Static<Query>, Services>): Promise<WithText<Static<Response>>>;
}

/**
 * Declares an operation. Routes, validation, documentation, the types of the client and tests are generated from the declaration;
 * its type keeps the path.
 */
export type DeclareEndpoint<Services> = <
  const Path extends Endpoint['path'],
  Body extends TSchema,
  Query extends TSchema,
  Response extends TSchema,
>(
  declaration: Endpoint<Body, Query, Response, Services> & { path: Path },
) => Endpoint<Body, Query, Response, Services> & { path: Path };

/** Declares operations that use only these services. */
export function endpointsWith<Services>(): DeclareEndpoint<Services> {
  return (declaration) => declaration;
}
