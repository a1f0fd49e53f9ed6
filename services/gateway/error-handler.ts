import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import { PROBLEM_TYPE, PROBLEMS, Problem, problemPage } from '../http/problems.js';
import { respond } from '../http/respond.js';
import { loggedPath } from '../shared/logger.js';
import {
  DiskFullError,
  OverloadedError,
  StoreTimeoutError,
  StoreUnavailableError,
} from '../shared/store-errors.js';
import type { RequestState } from './request-context.js';

/** The only writer of error bodies: responds with `application/problem+json`, never with a message of a store. */
export function answerErrors(logger: Logger) {
  const warnOfOverload = createOverloadWarning(logger);
  return async function errors(ctx: Context, next: Next): Promise<void> {
    const state = ctx.state as RequestState;
    try {
      await next();
    } catch (error) {
      const problem = toProblem(error);
      const line = { request_id: state.requestId, path: loggedPath(ctx.path), code: problem.code };
      if (state.lines?.isBegun && !ctx.res.destroyed) {
        state.problem = problem.code;
        if (problem.status >= 500) logger.error({ ...line, err: error }, 'request failed');
        state.lines.end(problemText(problem, state.requestId, ctx.path));
      } else if (ctx.res.headersSent && !isClientGone(error)) {
        // The rest of the export is missing. The client notices, because the last chunk is absent.
        ctx.respond = false;
        ctx.res.destroy();
        state.problem = problem.code;
        state.cutOffStatus = problem.status;
        logger.error({ ...line, err: error }, 'export cut off');
      } else if (ctx.res.destroyed) {
        // The client disconnected, so the abort of its work is not a failure. The request is logged as 499.
        ctx.respond = false;
        logger.debug({ ...line, err: error }, 'aborted: the client disconnected');
      } else {
        if (problem.code === 'overloaded') warnOfOverload();
        else if (problem.status >= 500) {
          const reason =
            error instanceof Problem && !error.cause ? { detail: error.message } : { err: error };
          logger.error({ ...line, ...reason }, 'request failed');
        }
        await writeProblem(ctx, problem);
      }
    }
  };
}

/** Whether a response ended because its client disconnected. */
function isClientGone(error: unknown): boolean {
  const { name, code } = error as NodeJS.ErrnoException;
  return (
    name === 'AbortError' ||
    code === 'ERR_STREAM_PREMATURE_CLOSE' ||
    code === 'EPIPE' ||
    code === 'ECONNRESET'
  );
}

const OVERLOAD_WARNING_MS = 1000;

/** Logs one line per second with a count: during an overload, a line per request would add load. */
function createOverloadWarning(logger: Logger): () => void {
  let rejected = 0;
  return () => {
    if (rejected++ > 0) return;
    const warn = () => {
      logger.warn({ code: 'overloaded', rejected }, 'requests rejected: overloaded');
      rejected = 0;
    };
    setTimeout(warn, OVERLOAD_WARNING_MS).unref();
  };
}

/** Maps any error to a problem. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof DiskFullError) {
    return new Problem(
      'storage_full',
      `The disk of the ${error.store} store is full, so nothing can be written. Try again once an operator has made room.`,
    );
  }
  if (error instanceof StoreUnavailableError) {
    return new Problem(
      'store_unavailable',
      `The ${error.store} store cannot be reached right now. Nothing was lost; try again shortly.`,
    );
  }
  if (error instanceof OverloadedError) {
    return new Problem(
      'overloaded',
      error.store === 'intake'
        ? 'The ingest queue is full. None of these records was accepted; send them again shortly.'
        : `The queue of the ${error.store} store is full; try again shortly.`,
    );
  }
  if (error instanceof StoreTimeoutError) {
    return new Problem('timeout', 'The data store took too long. Narrow the request.');
  }
  return new Problem('internal', 'An unexpected error happened. Quote the request id when you report it.');
}

async function writeProblem(ctx: Context, problem: Problem): Promise<void> {
  ctx.state.problem = problem.code;
  await respond(ctx, {
    status: problem.status,
    headers: { ...problem.headers, Link: `<${problemPage(problem.code)}>; rel="help"` },
    type: 'application/problem+json; charset=utf-8',
    body: problemText(problem, ctx.state.requestId as string, ctx.path),
  });
}

export function problemText(problem: Problem, requestId: string, instance: string): string {
  return JSON.stringify({
    type: PROBLEM_TYPE + problem.code,
    title: PROBLEMS[problem.code][1],
    status: problem.status,
    detail: problem.message,
    instance,
    code: problem.code,
    request_id: requestId,
    ...problem.extras,
  });
}
