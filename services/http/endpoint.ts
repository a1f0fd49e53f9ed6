import type { Static, TSchema } from 'typebox';
import type { BodyLimit } from './body.js';
import type { ProblemCode } from './problems.js';
import type { Scope } from './scopes.js';

/** A validated request, scoped to the organization of its key, and the services its handler uses. */
export interface HandlerContext<Body, Query, Services = unknown> {
  /** Strings trimmed; null, blank and absent fields are all absent. */
  body: Body;
  query: Query;
  organizationId: string;
  /** The stores it reads and writes, and the clock. */
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
  Response extends TSchema = TSchema,
  Services = unknown,
> {
  path: `/api/${string}`;
  summary: string;
  /** Paragraphs of the documentation, in Markdown. */
  description?: string;
  tag: 'Contacts' | 'Audiences' | 'Website visits' | 'Advertising' | 'Operations';
  /** Null for an operation that every key may use. */
  scope: Scope | null;
  request: Body;
  query?: Query;
  response: Response;
  /** A body that works on the sample data. */
  example: Static<Body>;
  /** Problems of this operation in addition to those of every operation. */
  problems?: readonly ProblemCode[];
  idempotent?: boolean;
  /** Admission slots the request takes, by its cost to the stores; default 1. */
  slots?(body: Static<Body>): number;
  /** Maximum body size in bytes; default 1 MiB. */
  bodyLimit?: BodyLimit;
  handle(context: HandlerContext<Static<Body>, Static<Query>, Services>): Promise<Static<Response>>;
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
