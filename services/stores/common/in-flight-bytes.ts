/** Bytes of answers whose requests are not over: they are kept as text, as objects and as text again, a few times as much. */
export class InFlightBytes {
  readonly #most: number;
  readonly #onRelease: () => void;
  #bytes = 0;

  constructor(most: number, onRelease: () => void = () => undefined) {
    this.#most = most;
    this.#onRelease = onRelease;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#most;
  }

  /** Counts an answer until its request is over, which its signal tells. */
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
