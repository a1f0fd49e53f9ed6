/**
 * Counts bytes of responses whose requests are in flight. A response takes a few times as much memory: as text, as objects, and as text
 * again.
 */
export class InFlightBytes {
  readonly #max: number;
  readonly #onRelease: () => void;
  #bytes = 0;

  constructor(max: number, onRelease: () => void = () => undefined) {
    this.#max = max;
    this.#onRelease = onRelease;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#max;
  }

  /** Counts a response until its request ends, which aborts the signal. */
  hold(bytes: number, signal: AbortSignal | undefined): void {
    if (!signal || signal.aborted) return;
    this.#bytes += bytes;
    const release = () => {
      this.#bytes -= bytes;
      this.#onRelease();
    };
    signal.addEventListener('abort', release, { once: true });
  }
}
