import type { Context } from 'koa';
import type { Static, TObject, TSchema } from 'typebox';
import type { SortKey, TextQuery } from '../search/query.js';
import type { ShownIdentifier } from '../shared/idempotency.js';
import type { Json, JsonText } from '../shared/json.js';
import type { WithDefault } from '../shared/schema.js';
import type { FieldError } from '../shared/validation.js';
import type { AdmittedRequest } from './admission.js';
import type { Problem, ProblemCode } from './problems.js';
import type { Scope } from './scopes.js';

/** The groups of operations in the documentation. */
export const TAGS = {
  Contacts: 'People: create them, get one, search all.',
  Audiences: 'Named groups of contacts, and who is a member.',
  'Website visits': 'Visits to the site of the organization.',
  Advertising: 'Campaigns, creatives and companies of network_a with their figures over a range of days.',
  SQL: 'Read-only SQL over all of it.',
  Ingest: 'Takes in records of every kind.',
  'Keys and credits': 'What may be done in the name of the organization, and what it may still cost.',
  Operations: 'Health, version and metrics.',
};
export type Tag = keyof typeof TAGS;

/** A request as its handler gets it: fields with a default are always present. */
export type Parsed<Schema extends TSchema> = Static<Schema> &
  (Schema extends TObject<infer Fields>
    ? {
        [Name in keyof Fields as Fields[Name] extends WithDefault ? Name : never]: NonNullable<
          Static<Fields[Name]>
        >;
      }
    : unknown);

/** A request body of records, read as it arrives. */
export interface BodySource {
  /** Media type, without parameters. */
  type: string;
  /** The header with its parameters. */
  contentType: string;
  /** The charset of the header, as it is written. */
  charset: string | undefined;
  /** The decompressed body. Throws a Problem when it is too large, ends early or is not what its encoding says. */
  chunks: AsyncIterable<Buffer>;
  /** Bytes of `chunks` where the request tells them, else NaN. */
  expectedBytes: number;
  temporarySpace: AdmittedRequest['temporarySpace'];
  /** Sets what completes the problem of a request that its deadline ends. */
  atDeadline(complete: (problem: Problem) => Problem): void;
}

/** A validated request, scoped to the organization of its key, and the services its handler uses. */
export interface HandlerContext<Body, Query, Services = unknown> {
  /** Path of the operation, as declared. */
  operation: string;
  /** Strings trimmed; null, blank and absent fields are all absent. */
  body: Body;
  query: Query;
  /** Path parameters. */
  params: Readonly<Record<string, string>>;
  /** The field of the body that is a text query, parsed. */
  textQuery?: TextQuery;
  /** The `cursor` of the body, decoded: where the page begins. */
  after?: SortKey;
  /** Body of an endpoint that declares `source`. */
  source?: BodySource;
  organizationId: string;
  /** Id of the API key. */
  keyId: string;
  /** The stores it reads and writes, and the clock. */
  services: Services;
  /** The Idempotency-Key header, with the route and the fingerprint of the request. */
  idempotency?: { route: string; key: string; fingerprint: string };
  /** Aborted when the client leaves or the request's time is up. */
  signal: AbortSignal;
  /** Says that the next call may write. An error before it leaves nothing behind, so that the request may be repeated (contract 3.4). */
  beginsToWrite(): void;
  /** Tells the client how far the work is; absent where the client does not ask for it. */
  onProgress?(progress: object): void;
  /** Headers of the response; a handler adds to them. */
  responseHeaders: Record<string, string>;
}

/** Forms in which every match of a search or list is sent (contract 3.13). */
export type ExportFormat = 'csv' | 'ndjson';

export interface MatchPage {
  /** Objects, or JSON of them. */
  items: readonly (object | Json<object>)[];
  /** All that match; read from the first page alone. */
  total: number;
  /** Beginning of the next page; null at the end. */
  next: unknown;
}

/** How every match of a search or list is read. */
export interface MatchList<Body = unknown, Services = unknown> {
  /** Schema of one match. Its scalars and lists of scalars are the columns of CSV. */
  item: TSchema;
  /** Columns of CSV, where the request narrows the fields of a match. */
  columns?(body: Body): string[];
  /** Fields of the request that are about one page: not allowed in exports, and free to change from page to page of a cursor. */
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

/** A request body that is not a JSON object. */
export interface SourceDeclaration {
  /** Throws 413 and 415 for its headers. */
  read(ctx: Context, admitted: AdmittedRequest): BodySource;
  /** Content of the OpenAPI request body; may add schemas to the components. */
  describe(components: Record<string, unknown>): Record<string, unknown>;
}

export interface Endpoint<
  Body extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Response extends TSchema = TSchema,
  Services = unknown,
> {
  /** Default POST. A GET has no body. */
  method?: 'GET';
  /** Path parameters are written `{name}`. */
  path: `/api/${string}`;
  params?: TSchema;
  /** Verb and noun; the document calls its schemas `<name>Request` and `<name>Response`. */
  name: string;
  /** Default: the words of the path. */
  operationId?: string;
  summary: string;
  /** Paragraphs of the documentation, in Markdown. */
  description?: string;
  tag: Tag;
  /** Scopes the key needs, all of them; none for an operation that every key may use. */
  scope: readonly Scope[];
  /** Further scopes that some query parameters need. */
  queryScope?(query: Parsed<Query>): readonly Scope[];
  /** Further scopes that some fields of the body need. */
  bodyScope?(body: Parsed<Body>): readonly Scope[];
  request: Body;
  query?: Query;
  response: Response;
  /** A body that works on the sample data, however often it is sent. */
  example: Static<Body>;
  /** The query parameters of the example. */
  exampleQuery?: Static<Query>;
  /** Problems of this operation, besides the problems of every operation. */
  problems?: readonly ProblemCode[];
  /** The store keeps the outcome with what it writes, and replays it. The answers of other writes are kept apart. */
  idempotent?: boolean;
  /** The answer must not be readable in the store: a key that seals it has to be unguessable. */
  answersSecret?: boolean;
  /** The persons whom an answer shows that is kept apart, so that their erasure deletes it. */
  shows?(answer: Static<Response>): readonly ShownIdentifier[];
  /** Null and blank fields clear what is stored: the body keeps them. */
  nullClears?: boolean;
  /** Rules beyond the schemas. Fields that broke their schema are absent from `body`; `sent` has all. */
  check?(body: Partial<Parsed<Body>>, sent: Readonly<Record<string, unknown>>): readonly FieldError[];
  /** Admission slots the request takes, by its cost to the stores; default 1. */
  slots?(body: Parsed<Body>): number;
  /** Of a search or list: how an export reads every match. */
  list?: MatchList<Parsed<Body>, Services>;
  /** The body is this instead of a JSON object. */
  source?: SourceDeclaration;
  /** Whether the handler tells its progress to clients that accept lines of JSON. */
  hasProgress?: boolean;
  /** Maximum size of a JSON body in bytes; default 1 MiB. */
  bodyLimit?: number;
  handle(context: HandlerContext<Parsed<Body>, Parsed<Query>, Services>): Promise<WithText<Static<Response>>>;
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
