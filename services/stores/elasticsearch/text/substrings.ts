/**
 * Substrings of a value as a query whose cost is bounded, whatever is asked for.
 *
 * A value is indexed as its overlapping grams of three sizes, the one that begins at the nth character at position n. A text is
 * part of a value where grams that cover the text stand at their distances from each other. The largest size that fits is
 * asked for, so that a text of at most 1 024 characters takes at most nine grams. A text shorter than any gram is the beginning
 * of one.
 */
import { hash } from 'node:crypto';
import type { estypes } from '@elastic/elasticsearch';

type Clause = estypes.QueryDslQueryContainer;

const SIZES = { short: 3, middle: 16, long: 128 } as const;
type Size = keyof typeof SIZES;
/** As much of a value is indexed. What goes beyond cannot be found. */
const MAX_CHARACTERS = 10_900;

/** Nearly every value: each character is one unit, and none is a separator. */
const plain = /^[\x21-\x7e]*$/;
const separator = /[\s\p{Cc}]/u;
/** The analyzer parts grams at separators, so each has a character of its own for private use. */
const PRIVATE_USE = 0xf0000;

/** What to index of a value, by field; the analyzer `whitespace` takes each apart again. */
export function gramsOf(value: string): Record<Size, string> {
  const characters = charactersOf(value).slice(0, MAX_CHARACTERS);
  const { length } = characters;
  const all = (size: Size, count: number) =>
    Array.from({ length: Math.max(0, count) }, (_, from) => gram(characters, from, size)).join(' ');
  return {
    // At the end come shorter ones, for texts that are the beginning of a gram.
    short: all('short', length),
    middle: all('middle', length - SIZES.middle + 1),
    long: all('long', length - SIZES.long + 1),
  };
}

/** Values that hold the text; `field` is where their grams are. */
export function contains(field: string, text: string): Clause {
  const characters = charactersOf(text);
  const { length } = characters;
  if (length === 0) return { exists: { field: `${field}.short` } };
  if (length > MAX_CHARACTERS) return { match_none: {} };
  if (length < SIZES.short) return { prefix: { [`${field}.short`]: gram(characters, 0, 'short') } };
  return covered(field, characters);
}

/** Grams side by side, the last of which may overlap the one before, at the positions they have in the text. */
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

/** Long ones as 96 bits of their hash: as terms they would take a hundred times the room of the value. */
function gram(characters: Characters, from: number, size: Size): string {
  const part = characters.slice(from, from + SIZES[size]);
  const text = typeof part === 'string' ? part : part.join('');
  return size === 'long' ? hash('sha256', text, 'base64url').slice(0, 16) : text;
}
