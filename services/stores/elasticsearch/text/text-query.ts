/** The order of contract 3.9 as one query whose score is the rank. */
import type { estypes } from '@elastic/elasticsearch';
import { isRare, leastMatched } from '../../../search/partial.js';
import { type PartialMatch, phrasesOf, type QueryTerm, type TextQuery } from '../../../search/query.js';
import {
  equivalentsOf,
  groupPoints,
  NAME_POINTS,
  queryKey,
  Ranking,
  typosOf,
} from '../../../search/ranking.js';
import { beginningTokens, valueToken, wordToken, wordTokens } from './tokens.js';

type Clause = estypes.QueryDslQueryContainer;

/** The fields of a document that a query searches. */
export interface TextFields {
  /** Prefix of the names of the fields of equivalents. */
  prefix: string;
  all: string;
  /** First letters of the words of names. */
  initials: string;
  /** Field with keys of the whole name and, if the index has it, field with keys of the parts of the name (`nameKeys`). */
  names: { whole: string; parts?: string };
  /** Fields by group, names first, without the last group, which contains all other fields. */
  groups: readonly string[];
}

export interface TextMatch {
  filter: Clause[];
  mustNot: Clause[];
  /** Clauses whose sum is the score; empty if all matches rank equally. */
  should: Clause[];
  /** Score of rank 0. The rank is `bestScore` minus the score. */
  bestScore: number;
  /** Documents with a lower score come after all others, unordered: these documents need typos, and the query did not rank them. */
  leastScore: number;
}

export interface MatchOptions {
  /** Matches some terms of the query, including all phrases. If absent, all terms must match. */
  partial?: PartialMatch;
  /** Leaves documents that need typos unordered, because ordering these documents takes several times as long as finding them. */
  ignoresTypos?: boolean;
  /** Whether the page is a first page, so that no document matches more of the terms. */
  isFirstPage?: boolean;
}

export function matchText(
  query: TextQuery,
  fields: TextFields,
  { partial, ignoresTypos = false, isFirstPage = false }: MatchOptions = {},
): TextMatch {
  const { required, excluded } = query;
  const matched = partial?.matched ?? required.length;
  const mustNot = excluded.map((term) => matchExactly(fields.all, term));
  if (required.length === 0) return { filter: [], mustNot, should: [], bestScore: 0, leastScore: 0 };
  const { width, worst, typos } = new Ranking(query, matched);
  const { all, names } = fields;
  const isPartial = partial !== undefined;
  const beginnings = required.map((term) => matchWithoutTypos(fields, term));
  const exactly = required.map((term) => matchExactly(all, term));
  const hasEquivalents = required.some((term) => equivalentsOf(term).length > 0);
  const exactlyOrEquivalent = required.map((term, index) =>
    any([exactly[index] as Clause, ...matchEquivalent(fields, term)]),
  );
  const within = (index: number, typos: number): Clause =>
    any([beginnings[index] as Clause, ...matchFuzzy(all, required[index] as QueryTerm, typos)]);
  const found = required.map((term, index) => within(index, typosOf(term)));
  const keys = matchedTerms(required, matched).map((terms) => valueToken(queryKey(terms)));
  const isWhole: Clause = { terms: { [names.whole]: keys } };
  const isPart: Clause[] = names.parts === undefined ? [] : [{ terms: { [names.parts]: keys } }];
  const isWithoutTypos = atLeast(matched, beginnings);
  const leastScore = ignoresTypos ? typos * width : 0;
  const fewerTypos = () =>
    required.flatMap((term, index) =>
      Array.from({ length: typosOf(term) }, (_, fewer) => {
        const isMissing: Clause = { bool: { must_not: [found[index] as Clause] } };
        return constant(any([within(index, fewer), ...(isPartial ? [isMissing] : [])]), width);
      }),
    );
  return {
    filter: partial ? [...partialFilter(query, partial.weights, found), weighs(partial, found)] : found,
    mustNot:
      partial && !isFirstPage
        ? [...mustNot, weighs({ ...partial, weight: partial.weight + 1 }, found)]
        : mustNot,
    should: [
      constant(isWhole, width),
      constant(any([isWhole, ...isPart]), width),
      ...(hasEquivalents
        ? [constant(atLeast(matched, exactly), width), constant(atLeast(matched, exactlyOrEquivalent), width)]
        : [constant(atLeast(matched, exactly), 2 * width)]),
      ...(leastScore > 0 ? [constant(isWithoutTypos, leastScore)] : fewerTypos()),
      groupScore(fields, required, isWithoutTypos, ignoresTypos),
    ],
    bestScore: worst,
    leastScore,
  };
}

/** Every choice of this many terms that includes all phrases: at most 924, for 6 of 12 terms. */
function matchedTerms(required: readonly QueryTerm[], count: number): QueryTerm[][] {
  if (count === required.length) return [[...required]];
  let choices: QueryTerm[][] = [[]];
  for (const term of required) {
    const longer = choices.map((chosen) => [...chosen, term]);
    choices = term.kind === 'phrase' ? longer : [...choices, ...longer];
  }
  return choices.filter(({ length }) => length === count);
}

/** A condition that every document must meet to match some of the terms. */
function partialFilter(query: TextQuery, weights: readonly number[], found: readonly Clause[]): Clause[] {
  const rare = found.filter((_, index) => isRare(weights[index] as number));
  const enough = { bool: { should: [...found], minimum_should_match: leastMatched(query) } };
  return [...phrasesOf(query).map((place) => found[place] as Clause), any([enough, ...rare])];
}

/** Scores a document by the weights of the terms that it matches. */
const scored = (weights: readonly number[], found: readonly Clause[]): Clause =>
  any(
    found.flatMap((clause, index) => {
      const weight = weights[index] as number;
      return weight === 0 ? [] : [constant(clause, weight)];
    }),
  );

/** Matches documents whose matched terms weigh at least this much. */
const weighs = ({ weight, weights }: PartialMatch, found: readonly Clause[]): Clause => ({
  function_score: { query: scored(weights, found), min_score: weight },
});

/** A query whose best score is the largest total weight of terms that one document matches together. */
export function matchHeaviest(
  query: TextQuery,
  weights: readonly number[],
  fields: TextFields,
): Pick<TextMatch, 'filter' | 'mustNot' | 'should'> {
  const found = query.required.map((term) => matchTerm(term, fields));
  return {
    filter: partialFilter(query, weights, found),
    mustNot: query.excluded.map((term) => matchExactly(fields.all, term)),
    should: [scored(weights, found)],
  };
}

/** Matches everything that a term may match, whatever its rank. */
export const matchTerm = (term: QueryTerm, fields: TextFields): Clause =>
  any([matchWithoutTypos(fields, term), ...matchFuzzy(fields.all, term, typosOf(term))]);

/** Matches everything that one of the terms may match. Phrases of one word are one clause, because a query may have only so many clauses. */
export function matchAny(terms: readonly QueryTerm[], fields: TextFields): Clause {
  const words: string[] = [];
  const others: Clause[] = [];
  for (const term of terms) {
    const [only, second] = term.kind === 'phrase' ? term.words : [];
    if (only !== undefined && second === undefined) words.push(wordToken(only));
    else others.push(matchTerm(term, fields));
  }
  return any(words.length > 0 ? [{ terms: { [fields.all]: words } }, ...others] : others);
}

const matchWithoutTypos = (fields: TextFields, term: QueryTerm): Clause =>
  any([
    ...matchBeginning(fields.all, term),
    ...matchInitial(fields.initials, term),
    ...matchEquivalent(fields, term),
  ]);

/** A match with typos scores only if there is no match without typos. */
function groupScore(
  fields: TextFields,
  required: readonly QueryTerm[],
  isWithoutTypos: Clause,
  ignoresTypos: boolean,
): Clause {
  const { groups, initials } = fields;
  const [names, ...others] = groups as [string, ...string[]];
  const inName = (term: QueryTerm) =>
    any([
      ...matchBeginning(names, term),
      ...matchInitial(initials, term),
      ...matchEquivalent(fields, term, 0),
    ]);
  const withTypos = (field: string, term: QueryTerm) =>
    ignoresTypos ? [] : matchFuzzy(field, term, typosOf(term));
  const best: Clause[] = [
    sum(required.map((term) => constant(inName(term), NAME_POINTS))),
    ...others.map((group, index) =>
      constant(
        any(
          required.flatMap((term) => [
            ...matchBeginning(group, term),
            ...matchEquivalent(fields, term, index + 1),
          ]),
        ),
        groupPoints(index + 1),
      ),
    ),
  ];
  const namesWithTypos = required.flatMap((term) =>
    withTypos(names, term).map((fuzzy) =>
      constant({ bool: { filter: [fuzzy], must_not: [inName(term)] } }, NAME_POINTS),
    ),
  );
  if (namesWithTypos.length === 0) return bestOf(best);
  const groupsWithTypos = others.flatMap((group, index) => {
    const fuzzy = required.flatMap((term) => withTypos(group, term));
    return [constant(any(fuzzy), groupPoints(index + 1))];
  });
  const needsTypos = (should: Clause[]): Clause => ({ bool: { must_not: [isWithoutTypos], should } });
  best[0] = sum([best[0] as Clause, needsTypos(namesWithTypos)]);
  return bestOf([...best, needsTypos([bestOf(groupsWithTypos)])]);
}

function matchExactly(field: string, term: QueryTerm): Clause {
  const isWord = (word: string): Clause => ({ term: { [field]: wordToken(word) } });
  const joined = (term.joined ?? []).map(isWord);
  if (term.kind === 'word') return any([isWord(term.word), ...joined]);
  const [only] = term.words;
  return term.words.length === 1 && only !== undefined
    ? isWord(only)
    : any([{ match_phrase: { [field]: wordTokens(term.words) } }, ...joined]);
}

/** Matches words exactly or by their beginning. */
function matchBeginning(field: string, term: QueryTerm): Clause[] {
  if (term.kind === 'phrase') return [matchExactly(field, term)];
  const { word, prefix, joined = [], weaker = [] } = term;
  const isWord = (other: string): Clause => ({ term: { [field]: wordToken(other) } });
  const own: Clause[] = prefix ? beginsWith(field, word) : [isWord(word)];
  return [...own, ...joined.flatMap((other) => beginsWith(field, other)), ...weaker.map(isWord)];
}

/** Matches if a word of the field begins with this text. */
export const beginsWith = (field: string, beginning: string): Clause[] =>
  beginningTokens(beginning).map((token) => ({ prefix: { [field]: token } }));

const matchInitial = (field: string, term: QueryTerm): Clause[] =>
  term.kind === 'word' && term.initial ? [{ term: { [field]: wordToken(term.word) } }] : [];

/** Equivalents in the fields of one group, or in all fields. */
const matchEquivalent = ({ prefix }: TextFields, term: QueryTerm, group?: number): Clause[] =>
  equivalentsOf(term)
    .filter((each) => group === undefined || each.group === group)
    .map(({ field, words }) => holdsAll(`${prefix}${field}`, words));

/** Matches if all of the words are words of the field. */
export function holdsAll(field: string, words: readonly string[]): Clause {
  const clauses = words.map((word): Clause => ({ term: { [field]: wordToken(word) } }));
  const [only] = clauses;
  return clauses.length === 1 && only !== undefined ? only : every(clauses);
}

function matchFuzzy(field: string, term: QueryTerm, typos: number): Clause[] {
  if (term.kind === 'phrase' || typos === 0) return [];
  return [
    {
      fuzzy: {
        [field]: {
          value: wordToken(term.word),
          fuzziness: typos,
          prefix_length: 1,
          transpositions: true,
          rewrite: 'constant_score',
        },
      },
    },
  ];
}

const constant = (filter: Clause, boost: number): Clause => ({ constant_score: { filter, boost } });
const every = (filter: Clause[]): Clause => ({ bool: { filter } });
const atLeast = (count: number, clauses: Clause[]): Clause =>
  count === clauses.length ? every(clauses) : { bool: { should: clauses, minimum_should_match: count } };
const sum = (should: Clause[]): Clause => ({ bool: { should } });
const bestOf = (queries: Clause[]): Clause => ({ dis_max: { queries } });
export function any(should: Clause[]): Clause {
  const [only] = should;
  return should.length === 1 && only !== undefined ? only : { bool: { should, minimum_should_match: 1 } };
}
