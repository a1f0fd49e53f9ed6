/** Serves the built console: one page for every address below /console, and its assets, whose content never changes under the same name. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { respond } from '../http/respond.js';
import { packageRoot } from '../shared/fs.js';

/** Allows nothing inline, and nothing from another host. */
export const CONSOLE_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Headers of every page that Vite built. */
export const PAGE_HEADERS = {
  'Content-Security-Policy': CONSOLE_CSP,
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};
/** Encodings in order of preference, with the file suffix that the build uses. */
const ENCODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

interface Asset {
  type: string;
  etag: string;
  identity: Buffer;
  encoded: Partial<Record<string, Buffer>>;
}

/** Adds the routes of the console. Without a build, such as after `tsc` alone, they respond with 404. */
export function addConsoleRoutes(router: Router, folder = join(packageRoot, 'dist/console')): void {
  const page = readAsset(folder, 'index.html');
  if (!page) return;
  const assets = new Map(
    readdirSync(join(folder, 'assets')).map((name) => [name, readAsset(join(folder, 'assets'), name)]),
  );
  router.get('/console/assets/:name', (ctx, next) => {
    const asset = assets.get(ctx.params.name ?? '');
    if (!asset) return next();
    return send(ctx, asset, { 'Cache-Control': 'public, max-age=31536000, immutable' });
  });
  router.get(['/console', '/console/{*view}'], (ctx, next) => {
    if (/\.\w+$/.test(ctx.path)) return next();
    return send(ctx, page, { ...PAGE_HEADERS, 'Cache-Control': 'no-cache' });
  });
  // API clients get `route_not_found` instead of a redirect.
  router.get('/', (ctx, next) => {
    ctx.vary('Accept');
    if (ctx.accepts('json', 'html') !== 'html') return next();
    ctx.redirect('/console');
  });
}

function readAsset(folder: string, name: string): Asset | undefined {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  const file = join(folder, name);
  if (!type || !existsSync(file)) return undefined;
  const identity = readFileSync(file);
  const encoded = ENCODINGS.filter(([, suffix]) => existsSync(file + suffix)).map(
    ([encoding, suffix]) => [encoding, readFileSync(file + suffix)] as const,
  );
  const etag = createHash('sha256').update(identity).digest('base64url');
  return { type, etag, identity, encoded: Object.fromEntries(encoded) };
}

function send(ctx: Context, { type, etag, identity, encoded }: Asset, headers: Record<string, string>) {
  ctx.vary('Accept-Encoding');
  const [encoding] = ENCODINGS.find(([name]) => encoded[name] && ctx.acceptsEncodings(name) === name) ?? [];
  if (encoding) ctx.set('Content-Encoding', encoding);
  return respond(ctx, {
    type,
    // The tag is weak, because the encodings of one file share it.
    headers: { ...headers, ETag: `W/"${etag}"` },
    body: (encoding && encoded[encoding]) ?? identity,
  });
}
