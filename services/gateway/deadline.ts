import type { Context } from 'koa';
import { Problem } from './problems.js';

/** Operations under way at once; more are turned away rather than queued without end. */
const MAX_IN_FLIGHT = 1000;
const RETRY = { 'Retry-After': '1' };

/** Runs an operation; its signal is made only when asked for. */
export type WithDeadline = (ctx: Context, run: (signal: () => AbortSignal) => Promise<void>) => Promise<void>;

/**
 * Lets an operation run until it answers, its time is up (504), or the process has too much to do (503). Its signal is aborted
 * when the time is up or the client has left.
 */
export function createDeadline(milliseconds: number): WithDeadline {
  let inFlight = 0;
  return function withDeadline(ctx, run) {
    if (inFlight >= MAX_IN_FLIGHT) {
      throw new Problem('overloaded', 'Too many requests are under way; try again shortly.', {}, RETRY);
    }
    inFlight++;
    let controller: AbortController | undefined;
    const signal = () => {
      if (!controller) {
        const made = new AbortController();
        controller = made;
        ctx.res.once('close', () => made.abort());
      }
      return controller.signal;
    };
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        controller?.abort();
        reject(new Problem('timeout', `The request took longer than ${milliseconds / 1000} s.`, {}, RETRY));
      }, milliseconds);
      const end = () => {
        clearTimeout(timer);
        inFlight--;
      };
      run(signal).then(
        () => {
          end();
          resolve();
        },
        (error: unknown) => {
          end();
          reject(error);
        },
      );
    });
  };
}
