/** The order of contract 3.9 as one query whose score is the rank. */
import type { estypes } from '@elastic/elasticsearch';
import type { QueryTerm, TextQuery } from '../../../search/query.js';
import { wordToken, wordTokens } from './tokens.js';

type Clause = estypes.QueryDslQueryContainer;

/** The fields of a document that a query searches. */
export interface TextFields {
  /** Every word. */
  all: string;
  /** The words of letters only, which alone match with typos. */
  letters: string;
  /** Fields of the groups, best first, without the last group, which is everything else. */
  groups: readonly string[];
}

export interface TextMatch {
  filter: Clause[];
  mustNot: Clause[];
  /** Their sum is the score; empty when all matches rank equally. */
  should: Clause[];
  /** Score of rank 0; the rank is this minus the score. */
  bestScore: number;
}

export function matchText(query: TextQuery, fields: TextFields): TextMatch {
  const { required, excluded } = query;
  const mustNot = excluded.map((term) => matchExactly(fields.all, term));
  if (required.length === 0) return { filter: [], mustNot, should: [], bestScore: 0 };
  const width = fields.groups.length + 1;
  const prefixMatches = required.map((term) => matchPrefix(fields.all, term));
  return {
    filter: required.map((term, index) => matchFuzzy(fields.letters, term, prefixMatches[index] as Clause)),
    mustNot,
    should: [
      constant(every(required.map((term) => matchExactly(fields.all, term))), width),
      constant(every(prefixMatches), width),
      {
        // The best group decides alone: a sum would let two worse ones outweigh it.
        dis_max: {
          queries: fields.groups.map((field, group) =>
            constant(any(required.map((term) => matchPrefix(field, term))), width - 1 - group),
          ),
        },
      },
    ],
    bestScore: 3 * width - 1,
  };
}

function matchExactly(field: string, term: QueryTerm): Clause {
  if (term.kind === 'word') return { term: { [field]: wordToken(term.word) } };
  const [only] = term.words;
  return term.words.length === 1 && only !== undefined
    ? { term: { [field]: wordToken(only) } }
    : { match_phrase: { [field]: wordTokens(term.words) } };
}

function matchPrefix(field: string, term: QueryTerm): Clause {
  return term.kind === 'word' && term.prefix
    ? { prefix: { [field]: wordToken(term.word) } }
    : matchExactly(field, term);
}

function matchFuzzy(letters: string, term: QueryTerm, prefixMatch: Clause): Clause {
  if (term.kind === 'phrase' || term.typos === 0) return prefixMatch;
  const fuzzy: Clause = {
    fuzzy: {
      [letters]: {
        value: wordToken(term.word),
        fuzziness: term.typos,
        prefix_length: 1,
        transpositions: true,
        rewrite: 'constant_score',
      },
    },
  };
  return any([prefixMatch, fuzzy]);
}

const constant = (filter: Clause, boost: number): Clause => ({ constant_score: { filter, boost } });
const every = (filter: Clause[]): Clause => ({ bool: { filter } });
const any = (should: Clause[]): Clause => ({ bool: { should, minimum_should_match: 1 } });
