import type { Static, TSchema } from 'typebox';
import type { BodyLimit } from './body.js';
import type { ProblemCode } from './problems.js';
import type { Scope } from './scopes.js';

/** One request, as a handler sees it: checked, and scoped to the organization of its key. */
export interface Call<Body, Query, Services = unknown> {
  /** Strings trimmed; null, blank and absent fields are all absent. */
  body: Body;
  query: Query;
  organizationId: string;
  /** What the operation asks for: the stores it reads and writes, the clock. */
  services: Services;
  /** The Idempotency-Key header, with the route and the fingerprint of the request. */
  idempotency: { route: string; key: string; fingerprint: string } | undefined;
  /** Aborted when the client leaves or the request's time is up. */
  signal: AbortSignal;
  setHeader(name: string, value: string): void;
}

export interface Endpoint<
  Body extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
  Services = unknown,
> {
  path: `/api/${string}`;
  summary: string;
  /** Paragraphs of the documentation, in Markdown. */
  description?: string;
  tag: 'Contacts' | 'Audiences' | 'Website visits' | 'Advertising';
  scope: Scope;
  request: Body;
  query?: Query;
  response: Answer;
  /** A body that works on the sample data. */
  example: Static<Body>;
  /** Problems of this operation beside those every operation has. */
  problems?: readonly ProblemCode[];
  idempotent?: boolean;
  /** Slots of admission it takes, by what it may cost the stores; 1 when absent. */
  slots?(body: Static<Body>): number;
  /** Bytes of a body; 1 MiB when absent. */
  bodyLimit?: BodyLimit;
  handle(call: Call<Static<Body>, Static<Query>, Services>): Promise<Static<Answer>>;
}

/** Declares an operation. The declaration is its contract: routes, validation, documentation and tests are made from it. */
export type DeclareEndpoint<Services> = <Body extends TSchema, Query extends TSchema, Answer extends TSchema>(
  declaration: Endpoint<Body, Query, Answer, Services>,
) => Endpoint<Body, Query, Answer, Services>;

/** Declares operations that use these services and no others. */
export function endpointsWith<Services>(): DeclareEndpoint<Services> {
  return (declaration) => declaration;
}
