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
  Contacts: 'People: create, get, search, update and delete contacts.',
  Audiences: 'Named groups of contacts, and their members.',
  'Saved filters': 'Filters of lists under a name, which everybody in the organization sees.',
  'Website visits': 'Visits to the site of the organization.',
  Advertising: 'Campaigns, creatives and companies of network_a, with their metrics over a range of days.',
  Companies: 'Companies by domain: what ads reached, who visited the site, and whom you know there.',
  SQL: 'Read-only SQL over contacts, audiences, visits and advertising.',
  Ingest: 'Loads records of every stream.',
  'Keys and credits': 'API keys and the credit balance.',
  Operations: 'Health, version and metrics.',
};
export type Tag = keyof typeof TAGS;

/** A parsed body as its handler gets it. Fields with a default are always present. */
export type ParsedBody<Schema extends TSchema> = Static<Schema> &
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
  /** The `Content-Type` header with its parameters. */
  contentType: string;
  /** The charset of the `Content-Type` header, as the client wrote it. */
  charset: string | undefined;
  /** The decompressed body. Throws a Problem if it is too large, ends early, or does not match its encoding. */
  chunks: AsyncIterable<Buffer>;
  /** Number of bytes of `chunks` if the request states it, otherwise NaN. */
  expectedBytes: number;
  temporarySpace: AdmittedRequest['temporarySpace'];
  /** Registers a function that adds details to the problem that the deadline of the request causes. */
  atDeadline(complete: (problem: Problem) => Problem): void;
}

/** A validated request, scoped to the organization of its key, and the services its handler uses. */
export interface HandlerContext<Body, Query, Services = unknown> {
  /** Path of the operation, as declared. */
  operation: string;
  /** Strings are trimmed. Null and blank fields are absent. */
  body: Body;
  query: Query;
  /** Path parameters. */
  params: Readonly<Record<string, string>>;
  /** The parsed text query, if a field of the body is one. */
  textQuery?: TextQuery;
  /** The decoded `cursor` of the body: where the page begins. */
  after?: SortKey;
  /** Body of the request, if the endpoint declares `source`. */
  source?: BodySource;
  organizationId: string;
  /** Id of the API key. */
  keyId: string;
  /** The stores and the clock that the handler uses. */
  services: Services;
  /** The Idempotency-Key header, with the route and the fingerprint of the request. */
  idempotency?: { route: string; key: string; fingerprint: string };
  /** Aborted if the client disconnects or the deadline of the request passes. */
  signal: AbortSignal;
  /**
   * Declares that the next call may write. An error before that call left nothing behind, so that the client may repeat the request
   * (contract 3.4).
   */
  beginsToWrite(): void;
  /** Reports progress to the client; absent if the client does not request progress. */
  onProgress?(progress: object): void;
  /** Headers of the response. A handler may add headers. */
  responseHeaders: Record<string, string>;
}

/** Formats of an export (contract 3.13). */
export type ExportFormat = 'csv' | 'ndjson';

/** CSV in the form of another tool. A client requests it with `Accept: text/csv; profile=<name>`. */
export interface CsvProfile {
  columns: readonly string[];
  /** Begins an export. The returned function makes the rows of one match. */
  begin(): (match: object) => readonly object[];
}

export interface MatchPage {
  /** Matches as objects, or as JSON text. */
  items: readonly (object | Json<object>)[];
  /** Number of all matches; only the first page needs it. */
  total: number;
  /** Cursor position at which the next page begins; null after the last page. */
  next: unknown;
}

/** Declares how to read all matches of a search or list. */
export interface MatchList<Body = unknown, Services = unknown> {
  /** Schema of one match. Its scalars and lists of scalars are the columns of CSV. */
  item: TSchema;
  /** Columns of CSV, if the request limits the fields of a match. */
  columns?(body: Body): string[];
  /** Other forms of the CSV, by their names. */
  profiles?: Readonly<Record<string, CsvProfile>>;
  /** Request fields that affect only one page. Exports reject them, and they may change between the pages of a cursor. */
  pageFields: readonly string[];
  /** Reads the page that begins at `next` of the page before. CSV leaves nested fields out. */
  readPage(
    context: HandlerContext<Body, unknown, Services>,
    next: unknown,
    format: ExportFormat,
  ): Promise<MatchPage>;
}

type OrText<T> = T | JsonText<T>;

/** A response whose fields, or the items of whose lists, may be JSON text already. */
export type WithText<Response> = {
  [Field in keyof Response]: Response[Field] extends (infer Item)[]
    ? OrText<Item[]> | JsonText<Item>[]
    : OrText<Response[Field]>;
};

/** Declares a request body that is not a JSON object. */
export interface SourceDeclaration {
  /** Validates the headers and returns the body. Throws 413 and 415. */
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
  /** Method of the operation; default: POST. A GET request has no body. */
  method?: 'GET';
  /** Path parameters are written `{name}`. */
  path: `/api/${string}`;
  params?: TSchema;
  /** Verb and noun. Schemas of the OpenAPI document are named `<name>Request` and `<name>Response`. */
  name: string;
  /** Id of the operation in the OpenAPI document; default: the words of the path. */
  operationId?: string;
  summary: string;
  /** Paragraphs of the documentation, in Markdown. */
  description?: string;
  tag: Tag;
  /** Scopes that the key needs; the key needs all of them. Empty for an operation that every key may use. */
  scope: readonly Scope[];
  /** Further scopes that some query parameters need. */
  queryScope?(query: ParsedBody<Query>): readonly Scope[];
  /** Further scopes that some fields of the body need. */
  bodyScope?(body: ParsedBody<Body>): readonly Scope[];
  request: Body;
  query?: Query;
  response: Response;
  /** An example body that works on the sample data, however often it is sent. */
  example: Static<Body>;
  /** The query parameters of the example. */
  exampleQuery?: Static<Query>;
  /** Problems of this operation, besides the problems of every operation. */
  problems?: readonly ProblemCode[];
  /**
   * Whether the store keeps the outcome with the write and returns it for a repeated request. Responses of other writes are stored
   * separately.
   */
  idempotent?: boolean;
  /**
   * Whether the response holds a secret, so that the store must not be able to read it. The idempotency key that encrypts the response must
   * then be unguessable.
   */
  answersSecret?: boolean;
  /** The persons that a separately stored response shows, so that the erasure of such a person deletes the response. */
  shows?(answer: Static<Response>): readonly ShownIdentifier[];
  /** Whether null and blank fields clear stored values, so that the parsed body keeps these fields. */
  nullClears?: boolean;
  /** Checks rules beyond the schemas. `body` lacks fields that violate their schema; `sent` has all fields. */
  check?(body: Partial<ParsedBody<Body>>, sent: Readonly<Record<string, unknown>>): readonly FieldError[];
  /** Admission slots that the request takes, by its cost for the stores; default 1. */
  slots?(body: ParsedBody<Body>): number;
  /** How an export reads all matches of a search or list. */
  list?: MatchList<ParsedBody<Body>, Services>;
  /** Declares a body that replaces the JSON object. */
  source?: SourceDeclaration;
  /** Whether the handler reports progress to clients that accept lines of JSON. */
  hasProgress?: boolean;
  /** Maximum size of a JSON body in bytes; default 1 MiB. */
  bodyLimit?: number;
  handle(
    context: HandlerContext<ParsedBody<Body>, ParsedBody<Query>, Services>,
  ): Promise<WithText<Static<Response>>>;
}

/**
 * Declares an operation. Routes, validation, documentation, client types and tests are generated from the declaration. The declared type
 * keeps the literal path.
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
