/**
 * Terms of the text indexes and the FTS5 expressions that ask for them. Every term begins with the short key of its
 * organization, so no expression can reach another organization's rows, and lists of rows are one organization's only.
 */
import type { QueryTerm } from '../../../search/query.js';

/** An FTS5 query. Complete in itself: combined with the functions below, never by hand. */
export type FtsQuery = string & { readonly expression?: never };

/** Quotes would need escaping, spaces and control characters would end the term. */
const unsafe = /["'\s\p{Cc}]/u;
const eachUnsafe = /["'\s\p{Cc}]/gu;

function safe(text: string): string {
  if (!unsafe.test(text)) return text;
  return text.replace(eachUnsafe, encodeURIComponent).replaceAll("'", '%27');
}

export class OrganizationTerms {
  readonly #prefix: string;

  constructor(organization: number) {
    this.#prefix = organization.toString(36);
  }

  word(word: string): string {
    return `${this.#prefix}:${safe(word)}`;
  }

  /** A whole value of one kind. */
  value(kind: string, value: string): string {
    return `${this.#prefix}|${kind}:${safe(value)}`;
  }

  /** Words in order, as a column holds them. */
  words(words: readonly string[]): string {
    let text = '';
    for (const word of words) text += text === '' ? this.word(word) : ` ${this.word(word)}`;
    return text;
  }

  /** Carried by every row, for searches that only exclude. */
  get matchAllTerm(): string {
    return `${this.#prefix}|`;
  }

  /** Carried by no row. */
  get matchNoneTerm(): string {
    return `${this.#prefix}\\`;
  }

  /** Stands between two values of one field, so that no phrase runs across. */
  get positionGap(): string {
    return `${this.#prefix}/`;
  }

  exact(term: QueryTerm): FtsQuery {
    const words = term.kind === 'word' ? [term.word] : term.words;
    return `"${words.map((word) => this.word(word)).join(' ')}"`;
  }

  prefix(word: string): FtsQuery {
    return prefixTerm(this.word(word));
  }
}

export function exactTerm(term: string): FtsQuery {
  return `"${term}"`;
}

export function prefixTerm(term: string): FtsQuery {
  return `"${term}" *`;
}

export function allOf(expressions: FtsQuery[]): FtsQuery {
  return join(expressions, ' AND ');
}

export function anyOf(expressions: FtsQuery[]): FtsQuery {
  return join(expressions, ' OR ');
}

export function andNot(expression: FtsQuery, excluded: FtsQuery[]): FtsQuery {
  return excluded.length === 0 ? expression : `(${expression} NOT ${anyOf(excluded)})`;
}

export function inColumns(columns: readonly string[], expression: FtsQuery): FtsQuery {
  return `({${columns.join(' ')}} : ${expression})`;
}

function join(expressions: FtsQuery[], operator: string): FtsQuery {
  const [first] = expressions;
  return expressions.length === 1 && first !== undefined ? first : `(${expressions.join(operator)})`;
}
