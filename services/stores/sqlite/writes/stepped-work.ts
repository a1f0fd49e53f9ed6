/**
 * Work over many rows, in steps that each fit into a transaction. The writer commits between two steps, and other organizations take their
 * turns.
 */
import { type Json, toJson } from '../../../shared/json.js';
import type { IsTimeUp } from './write-batch.js';

export interface SteppedWork<Result> {
  /**
   * Writes at least one row and stops when time is up. May change its own state only in `commit`, because a failed transaction is written
   * again.
   */
  step(isTimeUp: IsTimeUp): Step<Result>;
}

export interface Step<Result> {
  /** Called once the transaction is committed. */
  commit?(): void;
  /** Result of the work; absent while work is left. */
  result?: Json<Result>;
}

/** Writes each item, and builds the result from the returned values, in order. */
export function forEachStepped<Item, Outcome, Result>(
  items: readonly Item[],
  write: (item: Item) => Outcome,
  toResult: (outcomes: Outcome[]) => Result,
): SteppedWork<Result> {
  let committed: Outcome[] = [];
  return {
    step(isTimeUp) {
      const outcomes = [...committed];
      while (outcomes.length < items.length) {
        outcomes.push(write(items[outcomes.length] as Item));
        if (isTimeUp()) break;
      }
      return {
        commit: () => {
          committed = outcomes;
        },
        ...(outcomes.length === items.length && { result: toJson(toResult(outcomes)) }),
      };
    },
  };
}

/** Passes a state from one write to the next. `resultOf` returns undefined while work is left. */
export function steppedFrom<State, Result>(
  initial: State,
  write: (state: State) => State,
  resultOf: (state: State) => Result | undefined,
): SteppedWork<Result> {
  let committed = initial;
  return {
    step(isTimeUp) {
      let state = committed;
      let result = resultOf(state);
      while (result === undefined) {
        state = write(state);
        result = resultOf(state);
        if (isTimeUp()) break;
      }
      return {
        commit: () => {
          committed = state;
        },
        ...(result !== undefined && { result: toJson(result) }),
      };
    },
  };
}

/** Work of a single step, whose result tells the caller whether work is left. */
export const oneStep = <Result>(write: (isTimeUp: IsTimeUp) => Result): SteppedWork<Result> => ({
  step: (isTimeUp) => ({ result: toJson(write(isTimeUp)) }),
});
