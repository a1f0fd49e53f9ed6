import type { QueryTerm, TextQuery } from '../../../search/query.js';
import {
  allOf,
  anyOf,
  butNot,
  type Expression,
  exactTerm,
  type OrganizationTerms,
  within,
} from './fts-query.js';

/** Rows of one rank of contract 3.9. */
export interface RankedClass {
  rank: number;
  match: Expression;
}

/** Classes that count the same in the first order of contract 3.9. */
export interface Tier {
  /** All rows of this tier and the ones before it. */
  upToHere: Expression;
  classes: RankedClass[];
}

/** A search of a text index: the rows it matches, apart by rank, best first. */
export interface MatchPlan {
  all: Expression;
  tiers: Tier[];
}

/** Columns of the groups of contract 3.9, best first, save the last, which is everything else. */
export type Groups = readonly (readonly string[])[];

/** Words of letters of the index that are at most `typos` typos away from the word, the word itself not among them. */
export type FindSimilar = (word: string, typos: number) => string[];

export function planMatch(
  terms: OrganizationTerms,
  groups: Groups,
  conditions: Expression[],
  query: TextQuery | undefined,
  findSimilar: FindSimilar,
): MatchPlan {
  const required = query?.required ?? [];
  const excluded = (query?.excluded ?? []).map((term) => terms.exactly(term));
  const narrow = (expressions: Expression[]) => {
    const every = [...expressions, ...conditions];
    return butNot(allOf(every.length > 0 ? every : [exactTerm(terms.everything)]), excluded);
  };
  if (required.length === 0) {
    const all = narrow([]);
    return { all, tiers: [{ upToHere: all, classes: [{ rank: 0, match: all }] }] };
  }
  const exact = required.map((term) => terms.exactly(term));
  const begun = required.map((term) =>
    term.kind === 'word' && term.prefix ? terms.beginning(term.word) : terms.exactly(term),
  );
  const similar = required.map((term, index) =>
    anyOfMany(terms, [begun[index] as Expression, ...similarWords(terms, term, findSimilar)]),
  );
  const inGroups = groups.map((columns) => within(columns, anyOf(begun)));
  const tiers: Tier[] = [];
  let before: Expression | undefined;
  for (const [number, words] of [exact, begun, similar].entries()) {
    const upToHere = narrow(words);
    if (upToHere === before) continue;
    const better = before === undefined ? [] : [before];
    const classes = [...inGroups, undefined].map((inGroup, group) => ({
      rank: number * (groups.length + 1) + group,
      match: butNot(inGroup === undefined ? upToHere : allOf([upToHere, inGroup]), [
        ...inGroups.slice(0, group),
        ...better,
      ]),
    }));
    tiers.push({ upToHere, classes });
    before = upToHere;
  }
  return { all: before as Expression, tiers };
}

const ALTERNATIVES_PER_GROUP = 32;

/**
 * Any of many expressions. FTS5 looks at every alternative of an OR for every row it finds, and makes one OR of an OR
 * within an OR; "but not a term that no row has" keeps groups apart, so that a row costs their number and the size of one.
 */
function anyOfMany(terms: OrganizationTerms, expressions: Expression[]): Expression {
  if (expressions.length <= ALTERNATIVES_PER_GROUP) return anyOf(expressions);
  const groups: Expression[] = [];
  for (let from = 0; from < expressions.length; from += ALTERNATIVES_PER_GROUP) {
    const group = anyOf(expressions.slice(from, from + ALTERNATIVES_PER_GROUP));
    groups.push(butNot(group, [exactTerm(terms.nothing)]));
  }
  return anyOf(groups);
}

function similarWords(terms: OrganizationTerms, term: QueryTerm, findSimilar: FindSimilar): Expression[] {
  if (term.kind === 'phrase' || term.typos === 0) return [];
  return findSimilar(term.word, term.typos)
    .filter((word) => !(term.prefix && word.startsWith(term.word)))
    .map((word) => exactTerm(terms.word(word)));
}
