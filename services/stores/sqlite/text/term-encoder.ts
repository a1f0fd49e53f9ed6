import { isTypoCandidate } from '../../../search/typos.js';
import { escapeTerm, OrganizationTerms } from './fts-query.js';

/** Encodes columns of a text index for one organization, and collects the words that queries may misspell. */
export class TermEncoder {
  readonly terms: OrganizationTerms;
  #words = new Set<string>();

  constructor(organization: number) {
    this.terms = new OrganizationTerms(organization);
  }

  encodeColumn(values: readonly string[], wordsOf: (value: string) => string[]): string {
    let column = '';
    for (const value of values) {
      const words = wordsOf(value);
      if (words.length === 0) continue;
      if (column !== '') column += ` ${this.terms.positionGap} `;
      column += this.terms.escapedWords(words.map(escapeTerm));
      for (const word of words) if (isTypoCandidate(word)) this.#words.add(word);
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
