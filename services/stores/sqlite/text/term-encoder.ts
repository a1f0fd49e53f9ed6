import { isTypoCandidate } from '../../../search/typos.js';
import type { OrganizationTerms } from './fts-query.js';

interface EncodedValue {
  terms: string;
  /** Its words that queries may misspell, without those known to be in the vocabulary. */
  words: readonly string[];
}

/** Encodes columns of one text index for one organization, and collects the words that queries may misspell. */
export class TermEncoder {
  readonly terms: OrganizationTerms;
  #words = new Set<string>();
  /** By field and value, for values that many rows share, such as cities. */
  readonly #cached = new Map<string, Map<string, EncodedValue>>();
  #size = 0;

  readonly #isNew: (word: string) => boolean;

  /** `isKnown` tells whether a word is in the vocabulary: such words are not collected. */
  constructor(terms: OrganizationTerms, isKnown: (word: string) => boolean = () => false) {
    this.terms = terms;
    this.#isNew = (word) => !isKnown(word);
  }

  /** Cached values. */
  get size(): number {
    return this.#size;
  }

  /** `cacheKey` groups values that have the same words for the same text; null where values are mostly unique. */
  encodeColumn(
    values: readonly string[],
    wordsOf: (value: string) => string[],
    cacheKey: string | null,
  ): string {
    let column = '';
    for (const value of values) {
      const { terms, words } =
        cacheKey === null ? this.#encode(wordsOf(value)) : this.#encodeCached(cacheKey, value, wordsOf);
      if (terms === '') continue;
      column = column === '' ? terms : `${column} ${this.terms.positionGap} ${terms}`;
      for (const word of words) this.#words.add(word);
    }
    return column;
  }

  /** The collected words of what was encoded since the last call, each once. */
  takeWords(): ReadonlySet<string> {
    const words = this.#words;
    this.#words = new Set();
    return words;
  }

  #encodeCached(cacheKey: string, value: string, wordsOf: (value: string) => string[]): EncodedValue {
    let cached = this.#cached.get(cacheKey);
    if (!cached) {
      cached = new Map();
      this.#cached.set(cacheKey, cached);
    }
    let encoded = cached.get(value);
    if (!encoded) {
      encoded = this.#encode(wordsOf(value));
      cached.set(value, encoded);
      this.#size++;
    } else if (encoded.words.length > 0) encoded.words = encoded.words.filter(this.#isNew);
    return encoded;
  }

  #encode(words: string[]): EncodedValue {
    return { terms: this.terms.words(words), words: words.filter(isTypoCandidate).filter(this.#isNew) };
  }
}
