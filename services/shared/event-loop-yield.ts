import { setImmediate } from 'node:timers/promises';

/** Milliseconds work on many records may hold the event loop. */
const TURN_MS = 4;
/** Bytes after which the clock is looked at, however few records they are. */
const LOOK_BYTES = 16 * 1024;

/** Lets other work run every few milliseconds. */
export class Turn {
  #began = performance.now();
  #records = 0;
  #bytes = 0;

  /** Asked after each record; `bytes` is how large it was, where records can be large. */
  isOver(bytes = 0): boolean {
    this.#bytes += bytes;
    if (++this.#records % 16 !== 0 && this.#bytes < LOOK_BYTES) return false;
    this.#bytes = 0;
    return performance.now() - this.#began > TURN_MS;
  }

  async end(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await setImmediate();
    this.#began = performance.now();
  }
}
