import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { respond } from '../http/respond.js';
import { type Clock, utcDate } from '../shared/time.js';

/** Serves text whose examples name recent dates: rendered once per UTC day, with an ETag for conditional requests. */
export function serveText(
  clock: Clock,
  type: string,
  render: () => string,
  headers: Record<string, string> = {},
): (ctx: Context) => Promise<void> {
  let day = '';
  let body = Buffer.alloc(0);
  let etag = '';
  return (ctx) => {
    const today = utcDate(clock.now());
    if (today !== day) {
      body = Buffer.from(render());
      // Weak, as the encodings share it.
      etag = `W/"${createHash('sha256').update(body).digest('base64url')}"`;
      day = today;
    }
    // Clients revalidate every time.
    return respond(ctx, { type, body, headers: { ...headers, 'Cache-Control': 'no-cache', ETag: etag } });
  };
}
