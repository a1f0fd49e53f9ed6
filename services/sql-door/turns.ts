import { CODE, DbException } from './exceptions.js';

/** Lets a few run at a time and a limited number wait, first come first served. */
export class Turns {
  readonly #size: number;
  readonly #line: number;
  readonly #waiting: (() => void)[] = [];
  #busy = 0;

  constructor(size: number, line: number) {
    this.#size = size;
    this.#line = line;
  }

  /** Throws code 202 when too many wait already. A signal that aborts while waiting gives the place up. */
  async take<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#busy >= this.#size) await this.#wait(signal);
    else this.#busy++;
    try {
      return await run();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#busy--;
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#waiting.length >= this.#line) {
      throw new DbException(CODE.tooManySimultaneousQueries, 'Too many simultaneous queries');
    }
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(enter), 1);
        reject(signal.reason);
      };
      this.#waiting.push(enter);
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}
