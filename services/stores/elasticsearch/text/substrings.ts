/**
 * Substring search at a bounded cost. A value is indexed as overlapping grams of three sizes; the gram that begins at character n has
 * position n. A text is a substring of the value if grams that cover the text match at their relative positions. The query uses the largest
 * size that fits, so a text of 1 024 characters takes at most nine grams. A text that is shorter than any gram matches as a prefix of a
 * gram.
 */
import { hash } from 'node:crypto';
import type { estypes } from '@elastic/elasticsearch';

type Clause = estypes.QueryDslQueryContainer;

const SIZES = { short: 3, middle: 16, long: 128 } as const;
type Size = keyof typeof SIZES;
/** Maximum characters of a value that are indexed. The rest of a longer value cannot be found. */
const MAX_CHARACTERS = 10_900;

/** Matches text with one code unit per character and without separators, as nearly every value is. */
const plain = /^[\x21-\x7e]*$/;
const separator = /[\s\p{Cc}]/u;
/** Start of the private-use characters that replace separators, because the analyzer splits at separators. */
const PRIVATE_USE = 0xf0000;

/** The grams to index, by size, for the `whitespace` analyzer. */
export function gramsOf(value: string): Record<Size, string> {
  const characters = charactersOf(value).slice(0, MAX_CHARACTERS);
  const { length } = characters;
  const all = (size: Size, count: number) =>
    Array.from({ length: Math.max(0, count) }, (_, from) => gram(characters, from, size)).join(' ');
  return {
    // The last grams are shorter, so that short texts match as a prefix of a gram.
    short: all('short', length),
    middle: all('middle', length - SIZES.middle + 1),
    long: all('long', length - SIZES.long + 1),
  };
}

/** Matches values that contain the text; `field` holds their grams. */
export function contains(field: string, text: string): Clause {
  const characters = charactersOf(text);
  const { length } = characters;
  if (length === 0) return { exists: { field: `${field}.short` } };
  if (length > MAX_CHARACTERS) return { match_none: {} };
  if (length < SIZES.short) return { prefix: { [`${field}.short`]: gram(characters, 0, 'short') } };
  return covered(field, characters);
}

/** Adjacent grams at their positions in the text. The last gram may overlap the gram before it. */
function covered(name: string, characters: Characters): Clause {
  const size =
    (['long', 'middle', 'short'] as const).find((each) => SIZES[each] <= characters.length) ?? 'short';
  const field = `${name}.${size}`;
  const last = characters.length - SIZES[size];
  const clauses: object[] = [{ span_term: { [field]: gram(characters, 0, size) } }];
  for (let at = 0; at < last; ) {
    const next = Math.min(at + SIZES[size], last);
    const between = next - at - 1;
    if (between > 0) clauses.push({ span_gap: { [field]: between } });
    clauses.push({ span_term: { [field]: gram(characters, next, size) } });
    at = next;
  }
  return { span_near: { clauses: clauses as estypes.QueryDslSpanQuery[], slop: 0, in_order: true } };
}

type Characters = string | string[];

function charactersOf(text: string): Characters {
  if (plain.test(text)) return text;
  return Array.from(text.toWellFormed(), (character) =>
    separator.test(character)
      ? String.fromCodePoint(PRIVATE_USE + (character.codePointAt(0) as number))
      : character,
  );
}

/** Long grams are stored as 96 bits of their hash: as text, grams would take a hundred times the space of the value. */
function gram(characters: Characters, from: number, size: Size): string {
  const part = characters.slice(from, from + SIZES[size]);
  const text = typeof part === 'string' ? part : part.join('');
  return size === 'long' ? hash('sha256', text, 'base64url').slice(0, 16) : text;
}
