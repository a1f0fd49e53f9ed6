import type { Context } from 'koa';
import { Problem } from '../http/problems.js';

const ALLOWED_HEADERS = 'Content-Type, Content-Encoding, X-Api-Key, Idempotency-Key, X-Request-Id, Prefer';
const EXPOSED_HEADERS =
  'X-Request-Id, Idempotency-Replayed, RateLimit, RateLimit-Policy, Retry-After, Link, X-Ignored-Fields, Server-Timing, X-Total-Count';

/** Checks the origin of a request. False when the request is answered (a preflight). Throws 403. */
export type Cors = (ctx: Context, origin: string) => boolean;

/** Rejects cross-origin requests unless the configuration allows their origin (contract 1.6). */
export function createCors(origins: readonly string[]): Cors {
  const allowed = new Set(origins);
  return (ctx, origin) => {
    if (isOwnOrigin(ctx, origin)) return true;
    ctx.vary('Origin');
    if (!allowed.has(origin)) {
      throw new Problem(
        'origin_not_allowed',
        'Requests from pages of this origin are rejected; REACHLINE_CORS_ORIGINS lists the allowed origins.',
      );
    }
    ctx.set('Access-Control-Allow-Origin', origin);
    ctx.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
    if (ctx.method !== 'OPTIONS' || ctx.get('Access-Control-Request-Method') === '') return true;
    ctx.set('Access-Control-Allow-Methods', 'POST, GET');
    ctx.set('Access-Control-Allow-Headers', ALLOWED_HEADERS);
    ctx.set('Access-Control-Max-Age', '600');
    ctx.status = 204;
    return false;
  };
}

function isOwnOrigin(ctx: Context, origin: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === ctx.host;
}
