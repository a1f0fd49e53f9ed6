import { isTypoCandidate } from '../../../search/typos.js';
import { escapeTerm, type OrganizationTerms } from './fts-query.js';

interface EncodedValue {
  /** Words as terms without the key of an organization. */
  escaped: readonly string[];
  /** Its words that queries may misspell. */
  words: readonly string[];
}

/** Values that many rows share, such as cities, by field and value: one cache serves the encoders of all organizations. */
export class ValueCache {
  readonly #fields = new Map<string, Map<string, EncodedValue>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  encode(cacheKey: string, value: string, wordsOf: (value: string) => string[]): EncodedValue {
    let values = this.#fields.get(cacheKey);
    if (!values) {
      values = new Map();
      this.#fields.set(cacheKey, values);
    }
    let encoded = values.get(value);
    if (!encoded) {
      encoded = encode(wordsOf(value));
      values.set(value, encoded);
      this.#size++;
    }
    return encoded;
  }
}

/** Encodes columns of one text index for one organization, and collects the words that queries may misspell. */
export class TermEncoder {
  readonly terms: OrganizationTerms;
  readonly #cache: ValueCache;
  #words = new Set<string>();

  constructor(terms: OrganizationTerms, cache = new ValueCache()) {
    this.terms = terms;
    this.#cache = cache;
  }

  /** `cacheKey` groups values that have the same words for the same text; null where values are mostly unique. */
  encodeColumn(
    values: readonly string[],
    wordsOf: (value: string) => string[],
    cacheKey: string | null,
  ): string {
    let column = '';
    for (const value of values) {
      const encoded =
        cacheKey === null ? encode(wordsOf(value)) : this.#cache.encode(cacheKey, value, wordsOf);
      if (encoded.escaped.length === 0) continue;
      if (column !== '') column += ` ${this.terms.positionGap} `;
      column += this.terms.escapedWords(encoded.escaped);
      for (const word of encoded.words) this.#words.add(word);
    }
    return column;
  }

  /** The collected words of what was encoded since the last call, each once. */
  takeWords(): ReadonlySet<string> {
    const words = this.#words;
    this.#words = new Set();
    return words;
  }
}

function encode(words: string[]): EncodedValue {
  return { escaped: words.map(escapeTerm), words: words.filter(isTypoCandidate) };
}
