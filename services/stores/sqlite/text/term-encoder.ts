import { isTypoCandidate } from '../../../search/typos.js';
import type { OrganizationTerms } from './fts-query.js';

/** Makes the columns of one organization's rows in one text index, and tells of the words of letters it meets. */
export class TermEncoder {
  readonly terms: OrganizationTerms;
  readonly #addToVocabulary: (word: string) => void;
  readonly #knownWords = new Set<string>();
  /** Terms of values that many rows share, such as cities. Their words are known. */
  readonly #cached = new Map<string, Map<string, string>>();
  #size = 0;

  constructor(terms: OrganizationTerms, addToVocabulary: (word: string) => void) {
    this.terms = terms;
    this.#addToVocabulary = addToVocabulary;
  }

  /** Words and values remembered. */
  get size(): number {
    return this.#size;
  }

  /** `kind` names values with the same words for the same text; null where remembering them is no use. */
  encodeColumn(values: readonly string[], wordsOf: (value: string) => string[], kind: string | null): string {
    let column = '';
    for (const value of values) {
      const terms = kind === null ? this.#encode(wordsOf(value)) : this.#encodeCached(kind, value, wordsOf);
      if (terms === '') continue;
      column = column === '' ? terms : `${column} ${this.terms.positionGap} ${terms}`;
    }
    return column;
  }

  #encodeCached(kind: string, value: string, wordsOf: (value: string) => string[]): string {
    let cached = this.#cached.get(kind);
    if (!cached) {
      cached = new Map();
      this.#cached.set(kind, cached);
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
