/** Reads the `query` of a search (contract 3.9). */

import { codePoints, compounds, fold, tooLongOnceFolded, words } from '../shared/text.js';
import { joinedNeighbours } from './names.js';
import { phoneAlternatives, phoneDigits } from './phones.js';
import type { TextQuery, WordTerm } from './query.js';
import { allowedTypos } from './typos.js';
import { compoundWord, emailWord } from './words.js';

/** Characters of `query`, as written and once folded. */
export const MAX_QUERY_LENGTH = 200;
const MAX_QUERY_WORDS = 12;

/** Why a query is rejected. */
export interface QueryProblem {
  code: 'too_long' | 'too_many_words';
  detail: string;
}

// Quadratic in the length of the text, which is therefore limited: see parseQuery.
// An excluding dash; else the first that fits of: a phrase, an email or domain, a phone number, an excluded run, a word.
const piece = new RegExp(
  [
    /(?<=^|\s)(?<dash>-+)(?=["\p{L}\p{N}+(])/u,
    /"(?<quoted>[^"]*)"/u,
    /(?<compound>[^\s,;:<>()"'/]+@[^\s,;:<>()"'/]+|(?<![\p{L}\p{M}\p{N}])(?:[\p{L}\p{M}\p{N}-]+\.)+(?:xn--[a-z0-9-]+|\p{L}[\p{L}\p{M}]+)(?![\p{L}\p{M}\p{N}]))/u,
    /(?<phone>(?<![\p{L}\p{M}\p{N}])\+?\(?\d(?:(?:(?!\s-+[+(]?\d)[\s().-])*\d)*(?![\p{L}\p{M}\p{N}@]))/u,
    /(?<=(?:^|\s)-+)(?<chain>[\p{L}\p{M}\p{N}]+(?:[^\s"\p{L}\p{M}\p{N}]+[\p{L}\p{M}\p{N}]+)*)/u,
    /(?<text>[\p{L}\p{N}][\p{L}\p{M}\p{N}]*)/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);
const phoneLength = { min: 7, max: 15 };

/** Everything in the result is folded. A text without any word gives no terms. Never throws. */
export function parseQuery(text: string): TextQuery | QueryProblem {
  const folded = fold(text);
  // Some characters stand for many: a ligature of 18 letters is one. `piece` may only see short text.
  if (codePoints(folded) > MAX_QUERY_LENGTH) {
    return { code: 'too_long', detail: `query ${tooLongOnceFolded(MAX_QUERY_LENGTH)}` };
  }
  const query: TextQuery = { required: [], excluded: [] };
  let count = 0;
  let excluding = false;
  /** Words next to each other. */
  let neighbours: WordTerm[] = [];
  const joinNeighbours = () => {
    const joined = joinedNeighbours(neighbours.map(({ word }) => word));
    for (const [index, words] of joined.entries()) {
      if (words.length > 0) (neighbours[index] as WordTerm).joined = words;
    }
    neighbours = [];
  };
  for (const { groups = {} } of folded.replace(/[“”„‟«»]/g, '"').matchAll(piece)) {
    if (groups.dash !== undefined) {
      excluding = true;
      continue;
    }
    const found = termsOf(groups);
    if (excluding || groups.text === undefined) joinNeighbours();
    for (const term of found) count += term.length;
    if (count > MAX_QUERY_WORDS) {
      return {
        code: 'too_many_words',
        detail: `The query has more than ${MAX_QUERY_WORDS} words.`,
      };
    }
    if (excluding) {
      const excluded = found.flat();
      const [only] = excluded;
      if (only !== undefined) {
        query.excluded.push(
          excluded.length === 1 && groups.quoted === undefined
            ? { kind: 'word', word: only, prefix: false, typos: 0 }
            : { kind: 'phrase', words: excluded },
        );
      }
    } else {
      for (const term of found) {
        if (groups.quoted !== undefined) {
          query.required.push({ kind: 'phrase', words: term });
          continue;
        }
        const word = wordTerm(term[0] as string);
        query.required.push(word);
        if (groups.text !== undefined) neighbours.push(word);
      }
    }
    excluding = false;
  }
  joinNeighbours();
  return query;
}

/** The words of each term a piece stands for: one term for a phrase, else one a word. */
function termsOf(groups: Record<string, string | undefined>): string[][] {
  const { quoted, compound, phone, chain, text } = groups;
  if (quoted !== undefined) {
    const inside = singleWord(quoted.trim());
    const phrase = inside === null ? words(quoted) : [inside];
    return phrase.length === 0 ? [] : [phrase];
  }
  if (compound !== undefined) {
    const whole = compounds(compound).map(compoundWord);
    return (whole.length > 0 ? whole : words(compound)).map((word) => [word]);
  }
  if (phone !== undefined) {
    const digits = phoneWord(phone);
    return (digits === null ? words(phone) : [digits]).map((word) => [word]);
  }
  return words(chain ?? text ?? '').map((word) => [word]);
}

/** The one word that a quoted email, domain or phone number is, null for other text. */
function singleWord(text: string): string | null {
  const whole = compounds(text).map(compoundWord);
  if (whole.length === 1 && whole[0] === emailWord(text)) return whole[0];
  return /^\+?[\d\s().-]+$/.test(text) ? phoneWord(text) : null;
}

function phoneWord(text: string): string | null {
  const digits = phoneDigits(text);
  const isPhone = digits.length >= phoneLength.min && digits.length <= phoneLength.max;
  return (isPhone && phoneAlternatives(digits)[0]) || null;
}

function wordTerm(word: string): WordTerm {
  const isLetter = codePoints(word) === 1;
  return {
    kind: 'word',
    word,
    prefix: !isLetter,
    ...(isLetter && { initial: true }),
    typos: allowedTypos(word),
  };
}
