/** Lines of progress before the response of a long operation (contract 6.3c). */
import type { Context } from 'koa';
import { EXPORT_TYPES } from './export.js';
import { endUnreadBody } from './unread-body.js';

/** Pause between two lines, in milliseconds. */
const INTERVAL_MS = 500;

/**
 * A response that consists of lines. The response begins with the first line of progress; a failure before that line gets a response with
 * its own status.
 */
export class ProgressLines {
  readonly #ctx: Context;
  #sentAt = performance.now();

  constructor(ctx: Context) {
    this.#ctx = ctx;
  }

  /** Sends a line, unless the last line was sent a moment ago, the client does not read, or the response has ended. */
  send(progress: object): void {
    const { res } = this.#ctx;
    if (res.writableEnded || res.destroyed || res.writableNeedDrain) return;
    const now = performance.now();
    if (now - this.#sentAt < INTERVAL_MS) return;
    this.#sentAt = now;
    this.#begin();
    res.write(`${JSON.stringify(progress)}\n`);
  }

  /** Sends the last line, and ends the response. */
  end(json: string | Buffer): void {
    const { req, res } = this.#ctx;
    if (res.writableEnded || res.destroyed) return;
    this.#begin();
    res.write(json);
    res.write('\n');
    if (req.complete) res.end();
    else endUnreadBody(req, res);
  }

  get isBegun(): boolean {
    return this.#ctx.res.headersSent;
  }

  #begin(): void {
    const ctx = this.#ctx;
    if (ctx.res.headersSent) return;
    ctx.respond = false;
    ctx.status = 200;
    ctx.vary('Accept');
    ctx.set('Content-Type', `${EXPORT_TYPES.ndjson}; charset=utf-8`);
    // Makes nginx pass each line on at once.
    ctx.set('X-Accel-Buffering', 'no');
  }
}
