import { setImmediate } from 'node:timers/promises';

/** Milliseconds work on many records may hold the event loop. */
const TURN_MS = 4;

/** Lets other work run every few milliseconds. */
export class Turn {
  #began = performance.now();
  #records = 0;

  isOver(): boolean {
    return ++this.#records % 16 === 0 && performance.now() - this.#began > TURN_MS;
  }

  async end(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await setImmediate();
    this.#began = performance.now();
  }
}
