/** The order of contract 3.9 as one query whose score is the rank. */
import type { estypes } from '@elastic/elasticsearch';
import type { QueryTerm, TextQuery } from '../../../search/query.js';
import { wordToken, wordTokens } from './tokens.js';

type Clause = estypes.QueryDslQueryContainer;

/** The fields of a document that a query searches. */
export interface TextFields {
  /** Every word. */
  all: string;
  /** The words made of letters only, which alone may be meant by a word with a typo. */
  letters: string;
  /** Fields of the groups, best first, save the last group, which is everything else. */
  groups: readonly string[];
}

export interface TextMatch {
  filter: Clause[];
  mustNot: Clause[];
  /** Their sum is the score; empty where every match ranks alike. */
  should: Clause[];
  /** Score of rank 0; a rank is this less the score. */
  bestScore: number;
}

export function matchText(query: TextQuery, fields: TextFields): TextMatch {
  const { required, excluded } = query;
  const mustNot = excluded.map((term) => exactly(fields.all, term));
  if (required.length === 0) return { filter: [], mustNot, should: [], bestScore: 0 };
  const width = fields.groups.length + 1;
  const begun = required.map((term) => begins(fields.all, term));
  return {
    filter: required.map((term, index) => similar(fields.letters, term, begun[index] as Clause)),
    mustNot,
    should: [
      constant(every(required.map((term) => exactly(fields.all, term))), width),
      constant(every(begun), width),
      {
        // The best group decides alone: a sum would let two worse ones outweigh it.
        dis_max: {
          queries: fields.groups.map((field, group) =>
            constant(any(required.map((term) => begins(field, term))), width - 1 - group),
          ),
        },
      },
    ],
    bestScore: 3 * width - 1,
  };
}

function exactly(field: string, term: QueryTerm): Clause {
  if (term.kind === 'word') return { term: { [field]: wordToken(term.word) } };
  const [only] = term.words;
  return term.words.length === 1 && only !== undefined
    ? { term: { [field]: wordToken(only) } }
    : { match_phrase: { [field]: wordTokens(term.words) } };
}

function begins(field: string, term: QueryTerm): Clause {
  return term.kind === 'word' && term.prefix
    ? { prefix: { [field]: wordToken(term.word) } }
    : exactly(field, term);
}

function similar(letters: string, term: QueryTerm, begun: Clause): Clause {
  if (term.kind === 'phrase' || term.typos === 0) return begun;
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
  return any([begun, fuzzy]);
}

const constant = (filter: Clause, boost: number): Clause => ({ constant_score: { filter, boost } });
const every = (filter: Clause[]): Clause => ({ bool: { filter } });
const any = (should: Clause[]): Clause => ({ bool: { should, minimum_should_match: 1 } });
