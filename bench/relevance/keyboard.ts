/** Typos as fingers make them on a QWERTY keyboard. */
import type { Random } from '../../services/demo/random.js';

const KEY_ROWS = ['qwertyuiop', 'asdfghjkl', 'zxcvbnm'];

export const EDITS = ['deletion', 'insertion', 'substitution', 'transposition'] as const;
export type Edit = (typeof EDITS)[number];

/** The keys that touch a key; none for a letter that has no key. */
function neighbours(letter: string): string[] {
  const row = KEY_ROWS.findIndex((keys) => keys.includes(letter));
  if (row === -1) return [];
  const column = (KEY_ROWS[row] as string).indexOf(letter);
  // A row lies half a key to the right of the one above.
  const places = [
    [row, column - 1],
    [row, column + 1],
    [row - 1, column],
    [row - 1, column + 1],
    [row + 1, column - 1],
    [row + 1, column],
  ] as const;
  return places.map(([at, key]) => KEY_ROWS[at]?.[key]).filter((key) => key !== undefined);
}

/** The word with one edit behind its first letter; null where the edit would change nothing. */
export function misspell(random: Random, word: string, edit: Edit): string | null {
  if (word.length < 3) return null;
  const last = word.length - (edit === 'transposition' ? 2 : 1);
  const at = random.between(1, last);
  const letter = word[at] as string;
  const before = word.slice(0, at);
  switch (edit) {
    case 'deletion':
      return before + word.slice(at + 1);
    case 'insertion':
      // A key pressed twice, or the one beside it along with it.
      return before + letter + random.pick([letter, ...neighbours(letter)]) + word.slice(at + 1);
    case 'substitution': {
      const keys = neighbours(letter);
      return keys.length === 0 ? null : before + random.pick(keys) + word.slice(at + 1);
    }
    case 'transposition': {
      const next = word[at + 1] as string;
      return next === letter ? null : before + next + letter + word.slice(at + 2);
    }
  }
}

/** Deletions, insertions, substitutions and transpositions of neighbours from one word to the other. */
export function editDistance(left: string, right: string): number {
  const rows: number[][] = [];
  for (let row = 0; row <= left.length; row++) {
    const current: number[] = [row];
    rows.push(current);
    for (let column = 1; column <= right.length; column++) {
      const from = (up: number, back: number) => rows[row - up]?.[column - back] ?? Number.POSITIVE_INFINITY;
      const isSame = left[row - 1] === right[column - 1];
      const isSwapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current.push(
        Math.min(
          from(1, 0) + 1,
          from(0, 1) + 1,
          from(1, 1) + (isSame ? 0 : 1),
          isSwapped ? from(2, 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return rows[left.length]?.[right.length] as number;
}
