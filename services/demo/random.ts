/** Seeded random numbers for the sample, the tests and the benches (sfc32, seeded by FNV-1a of a text). */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string) {
    const parts = [0x811c9dc5, 0x9747b28c, 0x2545f491].map((start) => {
      let hash = start;
      for (let at = 0; at < seed.length; at++) hash = Math.imul(hash ^ seed.charCodeAt(at), 0x01000193);
      return hash | 0;
    });
    [this.#a, this.#b, this.#c] = parts as [number, number, number];
    for (let round = 0; round < 12; round++) this.next();
  }

  /** A number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter++) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** A whole number from `low` to `high`, both inclusive. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** A whole number from `low` to `high` as text with at least two digits. */
  digits(low: number, high: number): string {
    return String(this.between(low, high)).padStart(2, '0');
  }

  /** A number from `low` to `high`, more often near the middle. */
  around(low: number, high: number): number {
    return low + ((this.next() + this.next() + this.next()) / 3) * (high - low);
  }

  pick<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() * items.length)] as T;
  }

  /** A copy in random order. */
  shuffled<T>(items: readonly T[]): T[] {
    const copy = [...items];
    for (let last = copy.length - 1; last > 0; last--) {
      const other = this.between(0, last);
      [copy[last], copy[other]] = [copy[other] as T, copy[last] as T];
    }
    return copy;
  }

  /** Picks early items more often than late items. */
  pickSkewed<T>(items: readonly T[]): T {
    return items[Math.floor(this.next() ** 2 * items.length)] as T;
  }

  /** A whole number near `expected`, with about the variance of a Poisson distribution. */
  poissonLike(expected: number): number {
    const spread = (this.next() + this.next() + this.next() - 1.5) * 2;
    return Math.max(0, Math.round(expected + spread * Math.sqrt(expected)));
  }
}
