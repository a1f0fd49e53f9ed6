interface Waiting<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

/**
 * Runs all calls of one turn of the event loop as one batch. Many requests continue in the same turn, when the request they wait for is
 * answered.
 */
export class Gathered<Item, Result> {
  readonly #run: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>;
  readonly #most: number;
  #waiting: Waiting<Item, Result>[] = [];

  /** `run` resolves with the result or the error of each item. An error that it throws is the error of every item. */
  constructor(most: number, run: (items: readonly Item[]) => Promise<readonly (Result | Error)[]>) {
    this.#most = most;
    this.#run = run;
  }

  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ item, resolve, reject }) === 1) setImmediate(() => this.#begin());
    });
  }

  #begin(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let start = 0; start < waiting.length; start += this.#most)
      void this.#runAll(waiting.slice(start, start + this.#most));
  }

  async #runAll(waiting: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await this.#run(waiting.map(({ item }) => item));
      waiting.forEach(({ resolve, reject }, index) => {
        const result = results[index] as Result | Error;
        if (result instanceof Error) reject(result);
        else resolve(result);
      });
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
