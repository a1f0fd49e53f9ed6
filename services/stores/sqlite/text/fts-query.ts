/**
 * Terms of the text indexes and the FTS5 expressions that ask for them. Every term begins with the short key of its
 * organization, so no expression can reach another organization's rows, and lists of rows are one organization's only.
 */
import type { QueryTerm } from '../../../search/query.js';

/** An FTS5 query. Complete in itself: combined with the functions below, never by hand. */
export type Expression = string & { readonly expression?: never };

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
  get everything(): string {
    return `${this.#prefix}|`;
  }

  /** Carried by no row. */
  get nothing(): string {
    return `${this.#prefix}\\`;
  }

  /** Stands between two values of one field, so that no phrase runs across. */
  get gap(): string {
    return `${this.#prefix}/`;
  }

  exactly(term: QueryTerm): Expression {
    const words = term.kind === 'word' ? [term.word] : term.words;
    return `"${words.map((word) => this.word(word)).join(' ')}"`;
  }

  beginning(word: string): Expression {
    return beginningOf(this.word(word));
  }
}

export function exactTerm(term: string): Expression {
  return `"${term}"`;
}

export function beginningOf(term: string): Expression {
  return `"${term}" *`;
}

export function allOf(expressions: Expression[]): Expression {
  return join(expressions, ' AND ');
}

export function anyOf(expressions: Expression[]): Expression {
  return join(expressions, ' OR ');
}

export function butNot(expression: Expression, excluded: Expression[]): Expression {
  return excluded.length === 0 ? expression : `(${expression} NOT ${anyOf(excluded)})`;
}

export function within(columns: readonly string[], expression: Expression): Expression {
  return `({${columns.join(' ')}} : ${expression})`;
}

function join(expressions: Expression[], operator: string): Expression {
  const [first] = expressions;
  return expressions.length === 1 && first !== undefined ? first : `(${expressions.join(operator)})`;
}
