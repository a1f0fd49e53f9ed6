/** Serves the built console: one page for every address below /console, and the assets, whose content never changes under the same name. */
import { join } from 'node:path';
import type { Router } from '@koa/router';
import { packageRoot } from '../shared/fs.js';
import { IMMUTABLE, readFiles, sendFile } from './static-files.js';

/** Content security policy that allows nothing inline, and nothing from another host. */
export const CONSOLE_CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Headers of every page that Vite built. */
export const PAGE_HEADERS = {
  'Content-Security-Policy': CONSOLE_CSP,
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
};

/** Adds the routes of the console. If the console was not built, for example after `tsc` alone, the routes respond with 404. */
export function addConsoleRoutes(router: Router, folder = join(packageRoot, 'dist/console')): void {
  const files = readFiles(folder);
  const page = files.get('index.html');
  if (!page) return;
  router.get('/console/assets/:name', (ctx, next) => {
    const asset = files.get(`assets/${ctx.params.name}`);
    return asset ? sendFile(ctx, asset, IMMUTABLE) : next();
  });
  router.get(['/console', '/console/{*view}'], (ctx, next) => {
    if (/\.\w+$/.test(ctx.path)) return next();
    return sendFile(ctx, page, { ...PAGE_HEADERS, 'Cache-Control': 'no-cache' });
  });
  // API clients get `route_not_found` instead of a redirect.
  router.get('/', (ctx, next) => {
    ctx.vary('Accept');
    if (ctx.accepts('json', 'html') !== 'html') return next();
    ctx.redirect('/console');
  });
}
