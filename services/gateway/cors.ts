import type { Context, Next } from 'koa';
import { Problem } from '../http/problems.js';
import { respond } from '../http/respond.js';

/** Headers that scripts of other sites may send. The `Mcp-` headers belong to every MCP message. */
const ALLOWED_HEADERS =
  'Content-Type, Content-Encoding, X-Api-Key, Idempotency-Key, X-Request-Id, Prefer, Mcp-Protocol-Version, Mcp-Method, Mcp-Name';
const EXPOSED_HEADERS =
  'X-Request-Id, Idempotency-Replayed, RateLimit, RateLimit-Policy, Retry-After, Link, X-Ignored-Fields, Server-Timing, X-Total-Count';

/** Rejects cross-origin requests unless the configuration allows their origin (contract 1.6), and responds to preflights. Throws 403. */
export function createCors(origins: readonly string[]) {
  const allowed = new Set(origins);
  return async function cors(ctx: Context, next: Next): Promise<void> {
    const { origin } = ctx.req.headers;
    if (origin === undefined || isOwnOrigin(ctx, origin)) return next();
    ctx.vary('Origin');
    if (!allowed.has(origin)) {
      throw new Problem(
        'origin_not_allowed',
        'Requests from pages of this origin are rejected; REACHLINE_CORS_ORIGINS lists the allowed origins.',
      );
    }
    ctx.set('Access-Control-Allow-Origin', origin);
    ctx.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
    if (ctx.method !== 'OPTIONS' || ctx.get('Access-Control-Request-Method') === '') return next();
    ctx.set('Access-Control-Allow-Methods', 'POST, GET');
    ctx.set('Access-Control-Allow-Headers', ALLOWED_HEADERS);
    ctx.set('Access-Control-Max-Age', '600');
    await respond(ctx, { status: 204 });
  };
}

function isOwnOrigin(ctx: Context, origin: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === ctx.host;
}
