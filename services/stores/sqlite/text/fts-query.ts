/**
 * Terms of the text indexes, and FTS5 queries for them. Every term begins with the key of its organization, so no query reaches rows of
 * another organization, and each posting list holds rows of only one organization.
 */

let queryOf: (text: string) => FtsQuery;

/**
 * An FTS5 query. Only this module composes queries, from quoted terms, so text of a request never becomes part of their syntax. A query is
 * in parentheses or a single term, so that the functions below can combine it.
 */
export class FtsQuery {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  static {
    queryOf = (text) => new FtsQuery(text);
  }

  /** The value to bind to `MATCH ?`. */
  get text(): string {
    return this.#text;
  }
}

/** Quotes would need escaping; spaces and control characters would end the term. */
const reserved = /["'\s\p{Cc}]/u;
const everyReserved = /["'\s\p{Cc}]/gu;

/** ASCII without reserved characters. */
const plain = /^[!#-&(-~]*$/;

/** Encodes text as part of a term. */
export function escapeTerm(text: string): string {
  if (plain.test(text)) return text;
  // Encodes spaces first: names and places of several words rarely have another reserved character.
  const joined = text.replaceAll(' ', '%20');
  if (plain.test(joined) || !reserved.test(joined)) return joined;
  return joined.replace(everyReserved, encodeURIComponent).replaceAll("'", '%27');
}

export class OrganizationTerms {
  readonly #prefix: string;

  constructor(organization: number) {
    this.#prefix = organization.toString(36);
  }

  word(word: string): string {
    return `${this.#prefix}:${escapeTerm(word)}`;
  }

  /** The term of a whole value of a field. */
  value(field: string, value: string): string {
    return `${this.#prefix}|${field}:${escapeTerm(value)}`;
  }

  /** Text of a column for words in order, each encoded by `escapeTerm`. */
  escapedWords(words: readonly string[]): string {
    let text = '';
    for (const word of words) text += text === '' ? `${this.#prefix}:${word}` : ` ${this.#prefix}:${word}`;
    return text;
  }

  /** A term that every row has, for searches that only exclude words. */
  get matchAllTerm(): string {
    return `${this.#prefix}|`;
  }

  /** A term that no row has. */
  get matchNoneTerm(): string {
    return `${this.#prefix}\\`;
  }

  /** A term that separates the values of one field, so that no phrase spans two values. */
  get positionGap(): string {
    return `${this.#prefix}/`;
  }

  /** Text of the column that recognizes whole names. It begins with a space. */
  name({
    whole,
    parts,
    initials,
  }: {
    whole: readonly string[];
    parts: readonly string[];
    initials: readonly string[];
  }): string {
    const add = (field: string) => (before: string, value: string) => `${before} ${this.value(field, value)}`;
    return (
      whole.reduce(add('name'), '') + parts.reduce(add('part'), '') + initials.reduce(add('initial'), '')
    );
  }

  exact(words: readonly string[]): FtsQuery {
    return exactTerm(words.map((word) => this.word(word)).join(' '));
  }

  prefix(word: string): FtsQuery {
    return prefixTerm(this.word(word));
  }
}

export function exactTerm(term: string): FtsQuery {
  return queryOf(quoted(term));
}

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

export function prefixTerm(term: string): FtsQuery {
  return queryOf(`${quoted(term)} *`);
}

export function allOf(queries: FtsQuery[]): FtsQuery {
  return join(queries, ' AND ');
}

export function anyOf(queries: FtsQuery[]): FtsQuery {
  return join(queries, ' OR ');
}

const ALTERNATIVES_PER_CHUNK = 32;

/**
 * OR over many queries. FTS5 evaluates every alternative of an OR for every row, and flattens nested ORs. Each chunk is combined by NOT
 * with a term that no row has, which keeps FTS5 from flattening it. A row then costs the number of chunks plus the size of one chunk.
 */
export function anyOfChunked(terms: OrganizationTerms, queries: FtsQuery[]): FtsQuery {
  if (queries.length <= ALTERNATIVES_PER_CHUNK) return anyOf(queries);
  const chunks: FtsQuery[] = [];
  for (let from = 0; from < queries.length; from += ALTERNATIVES_PER_CHUNK) {
    const chunk = anyOf(queries.slice(from, from + ALTERNATIVES_PER_CHUNK));
    chunks.push(andNot(chunk, [exactTerm(terms.matchNoneTerm)]));
  }
  return anyOf(chunks);
}

export function andNot(query: FtsQuery, excluded: FtsQuery[]): FtsQuery {
  return excluded.length === 0 ? query : queryOf(`(${query.text} NOT ${anyOf(excluded).text})`);
}

export function inColumns(columns: readonly string[], query: FtsQuery): FtsQuery {
  return queryOf(`({${columns.map(quoted).join(' ')}} : ${query.text})`);
}

function join(queries: FtsQuery[], operator: string): FtsQuery {
  const [first] = queries;
  if (queries.length === 1 && first !== undefined) return first;
  return queryOf(`(${queries.map(({ text }) => text).join(operator)})`);
}
