import { isTypoCandidate } from '../../../search/typos.js';
import { escapeTerm, OrganizationTerms } from './fts-query.js';

/** The words of a value: the part that is the same for every organization. */
export interface EncodedValue {
  /** The words as parts of terms, in order. */
  escaped: readonly string[];
  /** The words that queries may misspell. */
  typoCandidates: readonly string[];
}

export const encoderOf =
  (wordsOf: (value: string) => string[]) =>
  (value: string): EncodedValue => {
    const words = wordsOf(value);
    return { escaped: words.map(escapeTerm), typoCandidates: words.filter(isTypoCandidate) };
  };

/** Encodes columns of a text index for one organization, and collects the words that queries may misspell. */
export class TermEncoder {
  readonly terms: OrganizationTerms;
  #words = new Set<string>();

  constructor(organization: number) {
    this.terms = new OrganizationTerms(organization);
  }

  encodeColumn(values: readonly string[], encode: (value: string) => EncodedValue): string {
    let column = '';
    for (const value of values) {
      const { escaped, typoCandidates } = encode(value);
      if (escaped.length === 0) continue;
      if (column !== '') column += ` ${this.terms.positionGap} `;
      column += this.terms.escapedWords(escaped);
      for (const word of typoCandidates) this.#words.add(word);
    }
    return column;
  }

  /** The words collected since the last call, without duplicates. */
  takeWords(): ReadonlySet<string> {
    const words = this.#words;
    this.#words = new Set();
    return words;
  }
}
