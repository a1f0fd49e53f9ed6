/**
 * `POST /mcp`: the Model Context Protocol over streamable HTTP, one message per request, without sessions. The route uses the keys, limits
 * and operations of the API.
 */
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { AdmittedRequest } from '../http/admission.js';
import { readBody } from '../http/body.js';
import { runOperation } from '../http/handler.js';
import type { Principal } from '../http/principal.js';
import { Problem } from '../http/problems.js';
import { propertiesOf } from '../http/request.js';
import { respond } from '../http/respond.js';
import { MissingPackageError } from '../shared/optional-package.js';
import type { ApiEndpoint, ApiServices } from './api.js';
import { toProblem } from './error-handler.js';
import type { Metrics } from './metrics.js';

/** Runs an operation for the caller and fills in the organization. Throws a Problem. */
export type CallOperation = (
  path: string,
  body: object,
  options?: { query?: object; idempotencyKey?: string },
) => Promise<unknown>;

export interface McpMessage {
  request: Request;
  body: object;
  /** The key of the caller. */
  apiKey: string;
  /** Which tools are listed: the usual ones, or all. */
  tools: 'core' | 'all';
}

/** Responds to one message. */
export type ServeMcp = (message: McpMessage, call: CallOperation) => Promise<Response>;

/** Runs the work of an authenticated caller within its rate limit and the limits of admission. Throws 401, 429, and like `Admission.run`. */
export type Admit = <T>(
  ctx: Context,
  work: (principal: Principal, admitted: AdmittedRequest) => Promise<T>,
) => Promise<T>;

export interface McpRouteDeps {
  /** Loads the handler of messages. Throws `MissingPackageError`. */
  load(): Promise<ServeMcp>;
  corsOrigins: readonly string[];
  logger: Logger;
  metrics: Pick<Metrics, 'mcpOperations' | 'problems'>;
  admit: Admit;
  servicesOf(principal: Principal): ApiServices;
}

export function addMcpRoute(
  router: Router,
  served: readonly ApiEndpoint[],
  { load, corsOrigins, logger, metrics, admit, servicesOf }: McpRouteDeps,
): void {
  const endpoints = new Map(served.map((endpoint) => [endpoint.path as string, endpoint]));
  let loading: Promise<ServeMcp> | undefined;

  function callerOf(principal: Principal, admitted: AdmittedRequest): CallOperation {
    const { organizationId } = principal;
    const services = servicesOf(principal);
    return async (path, body, { query = {}, idempotencyKey } = {}) => {
      const endpoint = endpoints.get(path) as ApiEndpoint;
      const isOwn = 'organization_id' in propertiesOf(endpoint.request);
      const sent = {
        body: { ...body, ...(isOwn && { organization_id: organizationId }) },
        query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
        idempotencyKey,
      };
      try {
        const json = await runOperation(endpoint, sent, principal, services, admitted);
        metrics.mcpOperations.inc({ operation: endpoint.path, status: 200 });
        return JSON.parse(json.toString());
      } catch (error) {
        const problem = toProblem(error);
        metrics.mcpOperations.inc({ operation: endpoint.path, status: problem.status });
        metrics.problems.inc({ code: problem.code });
        if (problem.status >= 500) logger.error({ err: error, path, code: problem.code }, 'tool failed');
        throw problem;
      }
    };
  }

  router.post('/mcp', async (ctx: Context) => {
    ctx.state.operation = '/mcp';
    requireOrigin(ctx, corsOrigins);
    const { status, type, text } = await admit(ctx, async (principal, admitted) => {
      loading ??= load().catch((error: unknown) => {
        loading = undefined;
        throw error instanceof MissingPackageError ? new Problem('mcp_unavailable', error.message) : error;
      });
      const serve = await loading;
      const body = await readBody(ctx, admitted);
      admitted.startWork(1);
      const { signal } = admitted;
      // The handler does not use the address, and the Host header may be invalid.
      const request = new Request('http://localhost/mcp', {
        method: 'POST',
        headers: headersOf(ctx),
        signal,
      });
      const apiKey = ctx.get('X-Api-Key');
      const tools = ctx.query.tools === 'all' ? 'all' : 'core';
      const response = await serve({ request, body, apiKey, tools }, callerOf(principal, admitted));
      const text = await response.text();
      admitted.countResponse(Buffer.byteLength(text), { isRead: false });
      return { status: response.status, type: response.headers.get('Content-Type'), text };
    });
    await respond(ctx, type === null ? { status } : { status, type, body: text });
  });
}

/**
 * With DNS rebinding, the origin of a foreign page looks like the origin of the gateway. So only origins of the settings are allowed.
 * Programs send no origin and pass. Throws 403.
 */
function requireOrigin(ctx: Context, corsOrigins: readonly string[]): void {
  const { origin } = ctx.req.headers;
  if (origin === undefined || corsOrigins.includes(origin)) return;
  throw new Problem(
    'origin_not_allowed',
    'Requests from pages of this origin are rejected; REACHLINE_CORS_ORIGINS lists the allowed origins.',
  );
}

const headersOf = (ctx: Context): [string, string][] =>
  Object.entries(ctx.req.headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value]] : [],
  );
