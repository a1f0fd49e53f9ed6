import type { Context } from 'koa';
import type { Logger } from 'pino';
import { PROBLEMS, Problem } from '../http/problems.js';
import { loggedPath } from '../shared/logger.js';
import { OverloadedError, StoreTimeoutError, StoreUnavailableError } from '../shared/store-errors.js';
import type { RequestState } from './request-state.js';
import { answerUnreadBody } from './unread-body.js';

const RETRY_AFTER_SECONDS = '1';

/** Answers a request with what went wrong. */
export type ErrorWriter = (ctx: Context, error: unknown) => void;

/** The only writer of error bodies: `application/problem+json`, never with a store's own words. */
export function createErrorWriter(logger: Logger): ErrorWriter {
  const warnOfOverload = createOverloadWarning(logger);
  return (ctx, error) => {
    if (ctx.res.destroyed) {
      // The client has left: nobody is answered, and whatever was given up for it is no failure. Its request is logged as 499.
      ctx.respond = false;
      logger.debug({ request_id: ctx.state.requestId, err: error }, 'given up, as the client left');
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

const OVERLOAD_WARNING_MS = 1000;

/** One line a second with a count: a line for each would be more work while there is too much of it. */
function createOverloadWarning(logger: Logger): () => void {
  let refused = 0;
  return () => {
    if (refused++ > 0) return;
    const warn = () => {
      logger.warn({ code: 'overloaded', refused }, 'requests were refused, as too many are under way');
      refused = 0;
    };
    setTimeout(warn, OVERLOAD_WARNING_MS).unref();
  };
}

/** What a client is told of an error, whatever it was. */
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
        ? 'Too many records wait to be taken in. None of these was lost: send them again shortly.'
        : `Too much waits for the ${error.store} store already; try again shortly.`,
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

function writeProblem(ctx: Context, problem: Problem): void {
  ctx.status = problem.status;
  ctx.set(problem.headers);
  ctx.set('Content-Type', 'application/problem+json; charset=utf-8');
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
    type: `urn:reachline:problem:${problem.code}`,
    title: PROBLEMS[problem.code][1],
    status: problem.status,
    detail: problem.message,
    instance,
    code: problem.code,
    request_id: requestId,
    ...problem.extras,
  });
}
