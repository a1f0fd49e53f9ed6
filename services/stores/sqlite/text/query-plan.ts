import type { QueryTerm, TextQuery } from '../../../search/query.js';
import {
  equivalentsOf,
  groupPoints,
  NAME_POINTS,
  queryKey,
  RANK_CLASSES,
  Ranking,
  typosOf,
} from '../../../search/ranking.js';
import {
  allOf,
  andNot,
  anyOf,
  anyOfChunked,
  exactTerm,
  type FtsQuery,
  inColumns,
  type OrganizationTerms,
} from './fts-query.js';

/** Rows that share one rank, or that grades divide into several ranks. */
export interface RankStep {
  /** First and last rank. If grades distinguish the rows, a row without points gets the last rank. */
  ranks: [first: number, last: number];
  match: FtsQuery;
  grades?: Grade[];
}

/**
 * Points by which the rank of a row is better than the last rank of the step: the sum over typos and names, or the points of the best
 * group.
 */
export interface Grade {
  match: FtsQuery;
  kind: 'typos' | 'names' | 'group';
  points: number;
}

/** Rows that match equally well by contract 3.9 (1) and (2). Rows with typos in several words form one class. */
export interface RankClass {
  lastRank: number;
  /** Rows of this class and of the classes before it. */
  cumulative: FtsQuery;
  /** Steps of the class, best first. */
  steps(): Iterable<RankStep>;
}

/** A full-text query, split into classes of equally good matches (`RankClass`), best first. */
export interface MatchPlan {
  all: FtsQuery;
  classes: RankClass[];
}

/** Columns of each group of contract 3.9, names first. All other columns form the last group. */
export type ColumnGroups = readonly (readonly string[])[];

/** Finds other words of the index that are similar to a word, grouped by their distance from 1 to `typos`. */
export type FindSimilar = (word: string, typos: number) => string[][];

export function planMatch(
  terms: OrganizationTerms,
  groups: ColumnGroups,
  filters: FtsQuery[],
  query: TextQuery | undefined,
  findSimilar: FindSimilar,
  /** Conditions that exclude a row. */
  unwanted: FtsQuery[] = [],
): MatchPlan {
  const required = query?.required ?? [];
  const excluded = [...unwanted, ...excludedRows(terms, query)];
  const withFilters = (queries: FtsQuery[]) => {
    const every = [...queries, ...filters];
    return andNot(allOf(every.length > 0 ? every : [exactTerm(terms.matchAllTerm)]), excluded);
  };
  if (query === undefined || required.length === 0) {
    const all = withFilters([]);
    return { all, classes: [{ lastRank: 0, cumulative: all, steps: () => [{ ranks: [0, 0], match: all }] }] };
  }
  const planner = new Planner(terms, groups, withFilters, query, findSimilar);
  return { all: planner.all, classes: planner.classes() };
}

export const excludedRows = (terms: OrganizationTerms, query?: TextQuery): FtsQuery[] =>
  (query?.excluded ?? []).map((term) => exactly(terms, term));

/** Rows that match one term, with any allowed number of typos. */
export function rowsOfTerm(terms: OrganizationTerms, term: QueryTerm, findSimilar: FindSimilar): FtsQuery {
  const match = new TermMatch(terms, term, findSimilar);
  return match.within(match.typos);
}

function exactly(terms: OrganizationTerms, term: QueryTerm): FtsQuery {
  const words = term.kind === 'word' ? [term.word] : term.words;
  return anyOf([words, ...(term.joined ?? []).map((word) => [word])].map((each) => terms.exact(each)));
}

/**
 * A class of `RANK_CLASSES`, or a number after the last class; the rows up to this class; and the steps of the rows that only this class
 * has.
 */
type PlannedClass = [rankClass: number, cumulative: FtsQuery, steps: (match: FtsQuery) => Iterable<RankStep>];

class Planner {
  readonly #terms: OrganizationTerms;
  readonly #groups: ColumnGroups;
  readonly #withFilters: (queries: FtsQuery[]) => FtsQuery;
  readonly #ranking: Ranking;
  readonly #matches: readonly TermMatch[];
  readonly #key: string;

  constructor(
    terms: OrganizationTerms,
    groups: ColumnGroups,
    withFilters: (queries: FtsQuery[]) => FtsQuery,
    query: TextQuery,
    findSimilar: FindSimilar,
  ) {
    this.#terms = terms;
    this.#groups = groups;
    this.#withFilters = withFilters;
    this.#ranking = new Ranking(query);
    this.#matches = query.required.map((term) => new TermMatch(terms, term, findSimilar));
    this.#key = queryKey(query.required);
  }

  get all(): FtsQuery {
    return this.#all((match) => match.within(match.typos));
  }

  classes(): RankClass[] {
    const { wholeName, partOfName, exact, equivalents, beginnings } = RANK_CLASSES;
    const exactly = this.#matches.map((match) => match.exact());
    const whole = exactTerm(this.#terms.value('name', this.#key));
    const part = exactTerm(this.#terms.value('part', this.#key));
    const inEveryName = (rankClass: number) => (match: FtsQuery) => {
      const rank = this.#ranking.lastRank(rankClass) - this.#ranking.terms * NAME_POINTS;
      return [{ ranks: [rank, rank], match }] satisfies RankStep[];
    };
    const byGroup =
      (rankClass: number, withTypos = false) =>
      (match: FtsQuery) =>
        this.#byGroup(match, rankClass, withTypos);
    const withoutTypos = this.#all((match) => match.within(0));
    const classes: PlannedClass[] = [
      [wholeName, this.#withFilters([whole, ...exactly]), inEveryName(wholeName)],
      [partOfName, this.#withFilters([anyOf([whole, part]), ...exactly]), inEveryName(partOfName)],
      [exact, this.#withFilters(exactly), byGroup(exact)],
    ];
    if (this.#matches.some((match) => match.hasEquivalents)) {
      const exactlyOrEquivalent = this.#all((match) => match.exactOrEquivalent());
      classes.push([equivalents, exactlyOrEquivalent, byGroup(equivalents)]);
    }
    classes.push([beginnings, withoutTypos, byGroup(beginnings)]);
    if (this.#matches.length === 1) {
      const [only] = this.#matches as [TermMatch];
      for (let typos = 1; typos <= only.typos; typos++) {
        const rankClass = beginnings + typos;
        classes.push([rankClass, this.#withFilters([only.within(typos)]), byGroup(rankClass, true)]);
      }
    } else if (this.#ranking.typos > 0) {
      classes.push([beginnings + 1, this.all, (match) => [this.#byTypos(match, withoutTypos)]]);
    }
    return classes.map(([rankClass, cumulative, steps], index) => ({
      cumulative,
      lastRank: index === classes.length - 1 ? this.#ranking.worst : this.#ranking.lastRank(rankClass),
      steps: () => {
        const before = classes[index - 1];
        return steps(before === undefined ? cumulative : andNot(cumulative, [before[1]]));
      },
    }));
  }

  /** Steps for the rows of a class: first by the number of words in names, then by the best group. */
  *#byGroup(match: FtsQuery, rankClass: number, withTypos: boolean): Iterable<RankStep> {
    const last = this.#ranking.lastRank(rankClass);
    const inNames = this.#inGroup(0, withTypos);
    const count = inNames.length;
    const step = (points: number, rows: FtsQuery): RankStep => ({
      ranks: [last - points, last - points],
      match: rows,
    });
    yield step(count * NAME_POINTS, allOf([match, ...inNames]));
    const notAll = andNot(allOf([match, anyOf(inNames)]), [allOf(inNames)]);
    if (count === 2) {
      yield step(NAME_POINTS, notAll);
    } else if (count > 2) {
      yield {
        ranks: [last - (count - 1) * NAME_POINTS, last],
        match: notAll,
        grades: inNames.map((inName) => ({
          match: andNot(allOf([match, inName]), [allOf(inNames)]),
          kind: 'names',
          points: NAME_POINTS,
        })),
      };
    }
    const better = [...inNames];
    for (let group = 1; group < this.#groups.length; group++) {
      const inGroup = anyOf(this.#inGroup(group, withTypos));
      yield step(groupPoints(group), andNot(allOf([match, inGroup]), better));
      better.push(inGroup);
    }
    yield step(0, andNot(match, better));
  }

  /** Steps for rows with typos in one or several words. */
  #byTypos(match: FtsQuery, before: FtsQuery): RankStep {
    const grades: Grade[] = [];
    const add = (kind: Grade['kind'], points: number, of: TermMatch, condition: FtsQuery) => {
      const rows = this.#all((other) => (other === of ? condition : other.within(other.typos)));
      grades.push({ kind, points, match: andNot(rows, [before]) });
    };
    for (const term of this.#matches) {
      for (let typos = 0; typos < term.typos; typos++)
        add('typos', this.#ranking.width, term, term.within(typos));
      for (const [group, columns] of this.#groups.entries()) {
        const kind = group === 0 ? 'names' : 'group';
        add(kind, groupPoints(group), term, term.inGroup(columns, group === 0, true));
      }
    }
    const first = this.#ranking.lastRank(RANK_CLASSES.beginnings) + 1;
    return { ranks: [first, this.#ranking.worst], match, grades };
  }

  #all(condition: (match: TermMatch) => FtsQuery): FtsQuery {
    return this.#withFilters(this.#matches.map(condition));
  }

  #inGroup(group: number, withTypos: boolean): FtsQuery[] {
    return this.#matches.map((match) => match.inGroup(this.#groups[group] ?? [], group === 0, withTypos));
  }
}

/** The ways in which one term of a query can match. */
class TermMatch {
  /** Maximum number of typos in a match. */
  readonly typos: number;
  readonly #terms: OrganizationTerms;
  readonly #term: QueryTerm;
  readonly #similar: string[][];

  constructor(terms: OrganizationTerms, term: QueryTerm, findSimilar: FindSimilar) {
    this.#terms = terms;
    this.#term = term;
    this.typos = typosOf(term);
    this.#similar =
      term.kind === 'word' && term.typos > 0
        ? findSimilar(term.word, term.typos).map((words) =>
            words.filter((word) => !(term.prefix && word.startsWith(term.word))),
          )
        : [];
  }

  exact(): FtsQuery {
    return exactly(this.#terms, this.#term);
  }

  get hasEquivalents(): boolean {
    return equivalentsOf(this.#term).length > 0;
  }

  exactOrEquivalent(): FtsQuery {
    return anyOfChunked(this.#terms, [this.exact(), ...this.#equivalents()]);
  }

  /** Matches in any column: exactly, as an equivalent, as a beginning, or with up to `typos` typos. */
  within(typos: number): FtsQuery {
    return anyOfChunked(this.#terms, [
      ...this.#beginnings(),
      ...this.#initial(),
      ...this.#equivalents(),
      ...this.#similarTerms(typos),
    ]);
  }

  /**
   * Matches in these columns: exactly, as an equivalent or as a beginning; with `withTypos`, also with as many typos as the term may have.
   */
  inGroup(columns: readonly string[], isNames: boolean, withTypos: boolean): FtsQuery {
    const similar = withTypos ? this.#similarTerms(this.typos) : [];
    const inText = inColumns(columns, anyOfChunked(this.#terms, [...this.#beginnings(), ...similar]));
    return anyOfChunked(this.#terms, [
      inText,
      ...(isNames ? this.#initial() : []),
      ...this.#equivalents(columns),
    ]);
  }

  #beginnings(): FtsQuery[] {
    const term = this.#term;
    if (term.kind === 'phrase') return [this.exact()];
    const own = term.prefix ? this.#terms.prefix(term.word) : this.#terms.exact([term.word]);
    return [
      own,
      ...(term.joined ?? []).map((word) => this.#terms.prefix(word)),
      ...(term.weaker ?? []).map((word) => this.#terms.exact([word])),
    ];
  }

  #initial(): FtsQuery[] {
    const term = this.#term;
    return term.kind === 'word' && term.initial ? [exactTerm(this.#terms.value('initial', term.word))] : [];
  }

  /** Matches equivalents in these columns, or in all columns. */
  #equivalents(columns?: readonly string[]): FtsQuery[] {
    return equivalentsOf(this.#term)
      .filter(({ field }) => columns === undefined || columns.includes(field))
      .map(({ field, words }) => inColumns([field], allOf(words.map((word) => this.#terms.exact([word])))));
  }

  #similarTerms(typos: number): FtsQuery[] {
    return this.#similar
      .slice(0, typos)
      .flat()
      .map((word) => exactTerm(this.#terms.word(word)));
  }
}
