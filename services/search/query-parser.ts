/** Parses the `query` of a search (contract 3.9). */

import {
  codePoints,
  compounds,
  fold,
  hasLetterOrDigit,
  spelledOut,
  tooLongOnceFolded,
  words,
} from '../shared/text.js';
import { isOptional } from './equivalents.js';
import { joinedNeighbours } from './names.js';
import { normalizeDomain, normalizeProfileUrl, profileSlug } from './normalize.js';
import { nationalForms, phoneAlternatives, phoneDigits } from './phones.js';
import { MAX_QUERY_LENGTH, type QueryTerm, type TextQuery, type WordTerm } from './query.js';
import { allowedTypos } from './typos.js';
import { compoundWord, foldedEmail, slugWord } from './words.js';

const MAX_QUERY_WORDS = 12;

/** The reason why a query is rejected. */
export interface QueryProblem {
  code: 'too_long' | 'too_many_words';
  detail: string;
}

// Matches an excluding dash, then the first that fits: a phrase, a URL, an email or domain, digits, an excluded run, or a word. Takes
// quadratic time in the length of the text, which parseQuery therefore limits.
const piece = new RegExp(
  [
    /(?<=^|\s)(?<dash>-+)(?=["\p{L}\p{N}+(])/u,
    /"(?<quoted>[^"]*)"/u,
    /(?<![\p{L}\p{M}\p{N}])(?<url>(?:[a-z][a-z0-9+.-]*:)?\/\/[^\s"<>]+|(?:[\p{L}\p{M}\p{N}-]+\.)+(?:xn--[a-z0-9-]+|\p{L}[\p{L}\p{M}]+)(?::\d+)?\/[^\s"<>]*|\/?in\/[^\s"<>]+)/u,
    /(?:mailto:)?(?<compound>[^\s,;:<>()"'/]+@[^\s,;:<>()"'/]+|(?<![\p{L}\p{M}\p{N}])(?:[\p{L}\p{M}\p{N}-]+\.)+(?:xn--[a-z0-9-]+|\p{L}[\p{L}\p{M}]+)(?![\p{L}\p{M}\p{N}]))/u,
    /(?:tel:)?(?<digits>(?<![\p{L}\p{M}\p{N}])\+?\(?\d(?:(?:(?!\s-+[+(]?\d)[\s()./\p{Pd}])*\d)*(?:[\s,;.]*(?:ext(?:ension|n)?|x|доб|#)[\s.:=]*\d{1,7})?(?![\p{L}\p{M}\p{N}@]))/u,
    /(?<=(?:^|\s)-+)(?<chain>[\p{L}\p{M}\p{N}]+(?:[^\s"\p{L}\p{M}\p{N}]+[\p{L}\p{M}\p{N}]+)*)/u,
    /(?<text>[\p{L}\p{N}][\p{L}\p{M}\p{N}]*)/u,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gu',
);
type Piece = Record<string, string | undefined>;

const plainWords = /^[a-z]+(?: [a-z]+)*$/;

/**
 * Divides text into pieces. Most queries are plain words, and do not need `piece`, which V8 compiles in 4 to 8 ms, and again after some
 * garbage collections.
 */
function piecesOf(text: string): Piece[] {
  if (plainWords.test(text)) return text.split(' ').map((word) => ({ text: word }));
  return Array.from(text.matchAll(piece), ({ groups = {}, index }) =>
    groups.text === 's' && afterApostrophe.test(text.slice(index - 1, index + 2))
      ? { possessive: 's' }
      : groups,
  );
}

/** The end of a possessive as in "Ann's": an apostrophe and an s without a letter after it. */
const afterApostrophe = /^['’‘`´]s(?![\p{L}\p{M}\p{N}])/u;

/** An address in angle brackets, which mail programs write after a name. */
const addressInBrackets = /<\s*(?:mailto:)?([^\s<>@]+@[^\s<>@]+)\s*>/g;

const MIN_PHONE_DIGITS = 7;
const MAX_PHONE_DIGITS = 15;

/** Parses a query. All text in the result is folded. Text without any word gives no terms. Never throws. */
export function parseQuery(text: string): TextQuery | QueryProblem {
  const query = parseFolded(text);
  const spelled = spelledOut(text);
  return 'code' in query || spelled.size === 0 ? query : withSpelledOut(query, spelled);
}

/** Words with umlauts also match in their spelled-out form. */
function withSpelledOut(
  { required, excluded, fallbackQuery }: TextQuery,
  spelled: Map<string, string>,
): TextQuery {
  const add = (term: QueryTerm): QueryTerm => {
    const other = term.kind === 'word' ? spelled.get(term.word) : undefined;
    return other === undefined ? term : { ...term, joined: [...(term.joined ?? []), other] };
  };
  return {
    required: required.map(add),
    excluded,
    ...(fallbackQuery && { fallbackQuery: withSpelledOut(fallbackQuery, spelled) }),
  };
}

function parseFolded(text: string): TextQuery | QueryProblem {
  const folded = fold(text).replace(/[“”„‟«»]/g, '"');
  // Checks the length again after folding, because one ligature may become 18 letters. `piece` may only process short text.
  if (codePoints(folded) > MAX_QUERY_LENGTH) {
    return { code: 'too_long', detail: `query ${tooLongOnceFolded(MAX_QUERY_LENGTH)}` };
  }
  const addresses = [...folded.matchAll(addressInBrackets)];
  if (addresses.length === 0) return readAll(piecesOf(folded));
  // Quotes before an address belong to the name.
  const names = piecesOf(folded.replaceAll(addressInBrackets, ' ').replaceAll('"', ' '));
  const [address] = addresses.map(([, text = '']) => readAll([{ compound: text }])) as [
    ReturnType<typeof readAll>,
  ];
  const name = readAll(names);
  if ('code' in name || name.required.length === 0 || addresses.length > 1) {
    return readAll(piecesOf(folded.replaceAll('"', ' ')));
  }
  if ('code' in address || address.required.length === 0) return name;
  const { fallbackQuery: _, ...first } = address;
  return { ...first, excluded: name.excluded, fallbackQuery: name };
}

/**
 * All readings of the pieces, in the order in which they are tried: unchanged; without question words; with shorter domains; with the parts
 * of emails and domains.
 */
function readAll(pieces: readonly Piece[]): TextQuery | QueryProblem {
  const read: TextQuery[] = [];
  const asked = withoutQuestion(pieces);
  for (const each of [pieces, asked, asked.map(shorterDomain), asked.map(partsOfAddress)]) {
    const query = readPieces(each);
    if (read.length === 0 && 'code' in query) return query;
    const isNew = !('code' in query) && !read.some(({ required }) => isSame(required, query.required));
    if (isNew) read.push(query as TextQuery);
  }
  const last = read.at(-1);
  if (last && read.length > 1 && asked.every(isDomain)) last.isDomain = true;
  return read.reduceRight((fallbackQuery, query) => ({ ...query, fallbackQuery }));
}

const isSame = (left: readonly QueryTerm[], right: readonly QueryTerm[]) =>
  left.length === right.length && JSON.stringify(left) === JSON.stringify(right);

/** The query without words that ask for information about a person, if other words are left. */
function withoutQuestion(pieces: readonly Piece[]): readonly Piece[] {
  const isOfQuestion = ({ text, possessive: s }: Piece) =>
    s !== undefined || (text !== undefined && isOptional('asked', text));
  const rest = pieces.filter((each) => !isOfQuestion(each));
  return rest.some(({ dash }) => dash === undefined) ? rest : pieces;
}

/** A domain without its first label, because a company's site is often on a sub-domain. */
function shorterDomain(piece: Piece): Piece {
  const labels = labelsOf(piece);
  const hasSite = labels.length > 2 && namedLabels(labels).length > 1 && !isAddress(piece);
  return hasSite ? { compound: labels.slice(1).join('.') } : piece;
}

/** The words of an email or domain, without the end of the domain, because most addresses share such an end. */
function partsOfAddress(piece: Piece): Piece {
  const labels = labelsOf(piece);
  if (labels.length < 2) return piece.compound === undefined ? piece : { text: piece.compound };
  if (isAddress(piece)) {
    const local = (piece.compound as string).replace(/@[^@]*$/, '');
    return { text: [local, ...namedLabels(labels, 1)].join(' ') };
  }
  const named = namedLabels(labels);
  // The first of several labels names the site of the company.
  const isSite = named.length > 1 && named.length < labels.length;
  return { text: (isSite ? named.slice(1) : named).join(' ') };
}

const isAddress = ({ compound }: Piece) => compound?.includes('@') === true;

const isDomain = (piece: Piece): boolean => {
  const labels = labelsOf(piece);
  return !isAddress(piece) && namedLabels(labels).length < labels.length;
};

/** The labels before the end of a domain. The end has at least `atLeast` labels, such as ".com" or ".co.uk". */
function namedLabels(labels: readonly string[], atLeast = 0): readonly string[] {
  const [before = '', last = ''] = labels.slice(-2);
  const isCountry = last.length === 2 && before.length > 1;
  const isEnd = (label: string) => isOptional('end of a domain', label);
  const isLong = isCountry && labels.length > 2 && before.length < 4 && isEnd(before);
  const end = isLong ? 2 : isCountry || isEnd(last) ? 1 : atLeast;
  return labels.slice(0, labels.length - end);
}

/** The labels of the domain of an email, a domain, or a web address that is not a profile. */
function labelsOf({ compound, url }: Piece): string[] {
  if (compound !== undefined) {
    const [domain] = compounds(compound.slice(compound.lastIndexOf('@') + 1));
    return domain === undefined ? [] : compoundWord(domain).split('.');
  }
  if (url === undefined || /^\/?in\//.test(url) || readUrl(url).words[0]?.startsWith('/')) return [];
  const domain = fold(normalizeDomain(url));
  return /^[^\s.]+\.[^\s"]+$/.test(domain) ? domain.split('.') : [];
}

function readPieces(pieces: readonly Piece[]): TextQuery | QueryProblem {
  const query: TextQuery = { required: [], excluded: [] };
  let count = 0;
  let excluding = false;
  /** Adjacent words before the current piece. */
  let neighbours: WordTerm[] = [];
  const joinNeighbours = () => {
    const joined = joinedNeighbours(neighbours.map(({ word }) => word));
    for (const [index, words] of joined.entries()) {
      if (words.length > 0) (neighbours[index] as WordTerm).joined = words;
    }
    neighbours = [];
  };
  for (const groups of pieces) {
    if (groups.dash !== undefined) {
      excluding = true;
      continue;
    }
    if (excluding || (groups.text ?? groups.possessive) === undefined) joinNeighbours();
    for (const { words: found, whole, instead = [], weaker = [] } of read(groups)) {
      const [only] = found;
      if (only === undefined) continue;
      count += found.length;
      if (excluding) {
        const isOneWord = found.length === 1 && groups.quoted === undefined;
        if (whole) query.excluded.push(...whole.map(exactTerm));
        else query.excluded.push(isOneWord ? exactTerm(only) : { kind: 'phrase', words: found });
      } else if (groups.quoted !== undefined) {
        const isPhrase = instead.length === 0 && weaker.length === 0;
        query.required.push(
          isPhrase
            ? { kind: 'phrase', words: found }
            : { ...exactTerm(only), joined: instead, ...(weaker.length > 0 && { weaker }) },
        );
      } else {
        for (const word of found) {
          const term = wordTerm(word);
          const joined = [...new Set(instead)].filter((other) => other !== word);
          if (joined.length > 0) term.joined = joined;
          if (weaker.length > 0) term.weaker = weaker;
          query.required.push(term);
          if ((groups.text ?? groups.possessive) !== undefined) neighbours.push(term);
        }
      }
    }
    if (count > MAX_QUERY_WORDS) {
      return {
        code: 'too_many_words',
        detail: `The query has more than ${MAX_QUERY_WORDS} words.`,
      };
    }
    excluding = false;
  }
  joinNeighbours();
  return query;
}

interface Reading {
  words: string[];
  /** Words that match instead of each word of the piece. */
  instead?: string[];
  /** See `WordTerm`. */
  weaker?: string[];
  /**
   * Terms that match instead of the whole piece, if the piece is an address or a phone number. An excluded piece excludes each of these
   * terms.
   */
  whole?: string[];
}

/** Reads a piece. Only words with a letter or digit count: punctuation alone may look like an address. */
const read = (piece: Piece): Reading[] =>
  readPiece(piece).map((reading) => ({
    words: reading.words.filter(hasLetterOrDigit),
    instead: reading.instead?.filter(hasLetterOrDigit),
    weaker: reading.weaker,
    whole: reading.whole?.filter(hasLetterOrDigit),
  }));

function readPiece({ quoted, url, compound, digits, chain, text, possessive }: Piece): Reading[] {
  if (quoted !== undefined) return [readQuoted(quoted.trim())];
  if (url !== undefined) return [readUrl(url)];
  if (compound !== undefined) return [readCompound(compound)];
  if (digits !== undefined) return readDigits(digits);
  return [{ words: words(chain ?? text ?? possessive ?? '') }];
}

/** A single address or phone number counts as one word, even inside quotes. */
function readQuoted(text: string): Reading {
  const [match] = text.matchAll(piece);
  const [inside] = match?.[0] === text ? read(match.groups ?? {}) : [];
  if (!inside?.whole) return { words: words(text) };
  return {
    words: inside.whole.slice(0, 1),
    whole: inside.whole,
    instead: text.includes('@') ? inside.instead : [],
    weaker: inside.weaker,
  };
}

/** Reads a URL. A profile address means the slug after `/in/`. Any other URL means its domain, or a profile with this slug. */
function readUrl(url: string): Reading {
  const address = normalizeProfileUrl(url.replace(/[.,;:!?)\]]+$/, ''));
  const domain = fold(normalizeDomain(url));
  if (/^\/?in\//.test(url)) return { words: words(url), instead: [slugWord(profileSlug(address))] };
  const [, first, second] = address.split('/');
  if (first === 'in' && second) return oneWord(slugWord(second));
  if (!hasLetterOrDigit(domain) || !/^[^\s.]+\.[^\s"]+$/.test(domain)) return { words: words(url) };
  return first ? oneWord(domain, slugWord(profileSlug(address))) : oneWord(domain);
}

function readCompound(text: string): Reading {
  const found = compounds(text).map(compoundWord);
  const [word] = found;
  if (word === undefined) return { words: words(text) };
  if (found.length > 1) return { words: found };
  return word.includes('@')
    ? { words: [word], instead: [foldedEmail(word)], whole: [word, foldedEmail(word)] }
    : oneWord(word);
}

/** Reads digits. Adjacent words of digits also count as one number, and seven digits also count as the end of a number. */
function readDigits(text: string): Reading[] {
  const found = words(text);
  const number = phoneDigits(text);
  if (number.length > MAX_PHONE_DIGITS) {
    return found.length === 1 ? [{ words: found }] : found.flatMap(readDigits);
  }
  const isNumber = /^\P{L}*$/u.test(text) && found.length > 1;
  const instead = phoneAlternatives(number);
  if (number.length < MIN_PHONE_DIGITS) return [isNumber ? { words: found, instead } : { words: found }];
  const [national = number] = instead;
  const groups = words(text.replace(/[\p{L}#].*/su, ''));
  const whole = [national];
  const weaker = nationalForms(text);
  return [
    groups.length > 1
      ? { words: groups, instead, weaker, whole }
      : { words: whole, instead: [...instead, ...groups], weaker, whole },
  ];
}

const oneWord = (word: string, ...instead: string[]): Reading => ({ words: [word], instead, whole: [word] });

const exactTerm = (word: string): WordTerm => ({ kind: 'word', word, prefix: false, typos: 0 });

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
