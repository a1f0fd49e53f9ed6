import type { Context } from 'koa';
import type { Logger } from 'pino';
import { PROBLEM_TYPE, PROBLEMS, Problem, problemPage } from '../http/problems.js';
import { loggedPath } from '../shared/logger.js';
import { OverloadedError, StoreTimeoutError, StoreUnavailableError } from '../shared/store-errors.js';
import type { RequestState } from './request-state.js';
import { answerUnreadBody } from './unread-body.js';

const RETRY_AFTER_SECONDS = '1';

/** Answers a request with the problem of an error. */
export type ErrorWriter = (ctx: Context, error: unknown) => void;

/** The only writer of error bodies: `application/problem+json`, never with the message of a store. */
export function createErrorWriter(logger: Logger): ErrorWriter {
  const warnOfOverload = createOverloadWarning(logger);
  return (ctx, error) => {
    if (ctx.res.headersSent && !isClientGone(error)) {
      // The rest of an export is missing: without its last chunk the client sees that.
      ctx.respond = false;
      ctx.res.destroy();
      const { code, status } = toProblem(error);
      ctx.state.problem = code;
      ctx.state.cutOffStatus = status;
      logger.error(
        { request_id: ctx.state.requestId, path: loggedPath(ctx.path), code, err: error },
        'export cut off',
      );
      return;
    }
    if (ctx.res.destroyed) {
      // The client disconnected: aborting its work is not a failure. The request is logged as 499.
      ctx.respond = false;
      logger.debug({ request_id: ctx.state.requestId, err: error }, 'aborted: the client disconnected');
      return;
    }
    const problem = toProblem(error);
    if (problem.code === 'overloaded') warnOfOverload();
    else if (problem.status >= 500) {
      const { requestId } = ctx.state as RequestState;
      const reason = error instanceof Problem ? { detail: error.message } : { err: error };
      logger.error(
        { request_id: requestId, path: loggedPath(ctx.path), code: problem.code, ...reason },
        'request failed',
      );
    }
    writeProblem(ctx, problem);
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

/** Logs one line per second with a count: a line per request would add load during an overload. */
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
function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof StoreUnavailableError) {
    return new Problem(
      'store_unavailable',
      `The ${error.store} store cannot be reached right now. Nothing was lost; try again shortly.`,
      {},
      { 'Retry-After': RETRY_AFTER_SECONDS },
    );
  }
  if (error instanceof OverloadedError) {
    return new Problem(
      'overloaded',
      error.store === 'intake'
        ? 'The ingest queue is full. None of these records was accepted; send them again shortly.'
        : `The queue of the ${error.store} store is full; try again shortly.`,
      {},
      { 'Retry-After': RETRY_AFTER_SECONDS },
    );
  }
  if (error instanceof StoreTimeoutError) {
    return new Problem(
      'timeout',
      'The data store took too long. Narrow the request or try again.',
      {},
      { 'Retry-After': RETRY_AFTER_SECONDS },
    );
  }
  return new Problem('internal', 'An unexpected error happened. Quote the request id when you report it.');
}

/** Reads the rest of an unfinished body for a bounded time, so that the client can read the response. */
function writeProblem(ctx: Context, problem: Problem): void {
  ctx.status = problem.status;
  ctx.set(problem.headers);
  ctx.set('Content-Type', 'application/problem+json; charset=utf-8');
  ctx.set('Link', `<${problemPage(problem.code)}>; rel="help"`);
  ctx.state.problem = problem.code;
  const body = problemText(problem, ctx.state.requestId as string, ctx.path);
  if (ctx.req.complete) ctx.body = body;
  else {
    ctx.respond = false;
    answerUnreadBody(ctx.req, ctx.res, body);
  }
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
