import { FairQueue } from './fair-queue.js';

/** Limits concurrent work. Waiting organizations take turns. */
export class FairSemaphore {
  readonly waiting = new FairQueue<() => void>();
  #free: number;

  constructor(size: number) {
    this.#free = size;
  }

  /** Runs `work` once there is room. Rejects with the reason of the signal if the signal is aborted before that. */
  async run<T>(organizationId: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    signal?.throwIfAborted();
    if (this.#free > 0) this.#free--;
    else await this.#turn(organizationId, signal);
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }

  #turn(organizationId: string, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = () => {
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this.waiting.remove(organizationId, enter);
        reject(signal?.reason);
      };
      this.waiting.push(organizationId, enter);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}
