/** Marks the words of a text that a query found, by the rules of contract 3.9: whole, as a beginning, or with typos. */
const WORD = /[\p{L}\p{M}\p{N}]+/gu;

const fold = (text: string) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** Words of a query that can match; those after `-` exclude. */
export function queryWords(query: string): string[] {
  return fold(query.replaceAll(/(?:^|\s)-\S+/g, ' ')).match(WORD) ?? [];
}

/** Typos allowed in a word: none up to 3 characters, one from 4, two from 8, none with a digit. */
function allowedTypos(word: string): number {
  if (word.length < 4 || /\p{N}/u.test(word)) return 0;
  return word.length < 8 ? 1 : 2;
}

function matches(word: string, text: string): boolean {
  if (text.startsWith(word)) return word.length > 1 || text.length === 1;
  const typos = allowedTypos(word);
  if (typos === 0 || text[0] !== word[0]) return false;
  // A beginning with a typo counts too, so the text is cut to about the length of the word.
  for (let length = word.length - typos; length <= word.length + typos; length++) {
    if (length <= text.length && distance(word, text.slice(0, length)) <= typos) return true;
  }
  return false;
}

/** Edits between two words, a transposition counting one (optimal string alignment). */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        best = Math.min(best, (beforeLast[j - 2] ?? 0) + 1);
      }
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

export function Marked({ text, words }: { text: string | null; words: readonly string[] }) {
  if (text === null) return null;
  if (words.length === 0) return <>{text}</>;
  const parts: (string | preact.JSX.Element)[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(WORD)) {
    const folded = fold(found);
    if (!words.some((word) => matches(word, folded))) continue;
    parts.push(text.slice(end, index), <mark key={index}>{found}</mark>);
    end = index + found.length;
  }
  parts.push(text.slice(end));
  return <>{parts}</>;
}
