import { isTypoCandidate } from '../../../search/typos.js';
import type { OrganizationTerms } from './fts-query.js';

/** Encodes columns of one text index for one organization, and adds words that queries may misspell to the vocabulary. */
export class TermEncoder {
  readonly terms: OrganizationTerms;
  readonly #addToVocabulary: (word: string) => void;
  readonly #knownWords = new Set<string>();
  /** Terms by field and value, for values that many rows share, such as cities. */
  readonly #cached = new Map<string, Map<string, string>>();
  #size = 0;

  constructor(terms: OrganizationTerms, addToVocabulary: (word: string) => void) {
    this.terms = terms;
    this.#addToVocabulary = addToVocabulary;
  }

  /** Cached words and values. */
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
      const terms =
        cacheKey === null ? this.#encode(wordsOf(value)) : this.#encodeCached(cacheKey, value, wordsOf);
      if (terms === '') continue;
      column = column === '' ? terms : `${column} ${this.terms.positionGap} ${terms}`;
    }
    return column;
  }

  #encodeCached(cacheKey: string, value: string, wordsOf: (value: string) => string[]): string {
    let cached = this.#cached.get(cacheKey);
    if (!cached) {
      cached = new Map();
      this.#cached.set(cacheKey, cached);
    }
    let terms = cached.get(value);
    if (terms === undefined) {
      terms = this.#encode(wordsOf(value));
      cached.set(value, terms);
      this.#size++;
    }
    return terms;
  }

  #encode(words: string[]): string {
    for (const word of words) {
      if (this.#knownWords.has(word) || !isTypoCandidate(word)) continue;
      this.#knownWords.add(word);
      this.#size++;
      this.#addToVocabulary(word);
    }
    return this.terms.words(words);
  }
}
