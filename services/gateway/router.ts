import { type MatchResult, Router } from '@koa/router';

/** A router that remembers what matches the path of an operation, which would else be tested against every route. */
export class OperationRouter extends Router {
  readonly #operations = new Map<string, MatchResult>();

  override match(path: string, method: string): MatchResult {
    const known = method === 'POST' ? this.#operations.get(path) : undefined;
    if (known) return known;
    const result = super.match(path, method);
    // Only paths as they are declared, so that there are no more entries than routes.
    if (method === 'POST' && result.pathAndMethod[0]?.path === path) this.#operations.set(path, result);
    return result;
  }
}
