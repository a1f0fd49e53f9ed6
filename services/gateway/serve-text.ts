import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { respond } from '../http/respond.js';
import { type Clock, utcDate } from '../shared/time.js';

/**
 * Serves text whose examples name recent dates. The text is rendered once per UTC day, with an ETag for conditional requests. `complete`
 * fills in what depends on the request.
 */
export function serveText(
  clock: Clock,
  type: string,
  render: () => string,
  headers: Record<string, string> = {},
  complete?: (text: string, ctx: Context) => string,
): (ctx: Context) => Promise<void> {
  let day = '';
  let text = '';
  let rendered = tagged(text);
  return (ctx) => {
    const today = utcDate(clock.now());
    if (today !== day) {
      text = render();
      rendered = tagged(text);
      day = today;
    }
    const { body, etag } = complete ? tagged(complete(text, ctx)) : rendered;
    // With `no-cache`, clients revalidate every time.
    return respond(ctx, { type, body, headers: { ...headers, 'Cache-Control': 'no-cache', ETag: etag } });
  };
}

/** The tag is weak, because the encodings of a text share it. */
function tagged(text: string): { body: Buffer; etag: string } {
  const body = Buffer.from(text);
  return { body, etag: `W/"${createHash('sha256').update(body).digest('base64url')}"` };
}
