/** The baseline: Koa with body parser, a router of the same routes, and gzip. Sends its address to its parent. */
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Router } from '@koa/router';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { endpoints } from '../../services/gateway/api.js';

/** Stringified for every request. */
const answer = JSON.parse(process.argv[2] as string) as object;

const router = new Router();
for (const { path } of endpoints) {
  router.post(path, (ctx) => {
    ctx.set('Content-Encoding', 'gzip');
    ctx.type = 'application/json';
    ctx.body = gzipSync(JSON.stringify(answer), { level: 1 });
  });
}
const server = new Koa()
  .use(bodyParser())
  .use(router.routes())
  .listen(0, '127.0.0.1', () => {
    process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: '' });
  });
