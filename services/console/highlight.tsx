/** Marks the words of a query in a text. */
const WORD = /[\p{L}\p{M}\p{N}]+/gu;

const fold = (text: string) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

export const wordsOf = (text: string): string[] => fold(text).match(WORD) ?? [];

/** Words of a query that can match. Words after `-` exclude, and are left out. */
export const queryWords = (query: string) => wordsOf(query.replaceAll(/(?:^|\s)-\S+/g, ' '));

/** The text; words that begin with one of `words` are marked. `words` are folded. */
export function Marked({ text, words }: { text: string | null; words: readonly string[] }) {
  if (text === null) return null;
  if (words.length === 0) return <>{text}</>;
  const parts: (string | preact.JSX.Element)[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(WORD)) {
    const folded = fold(found);
    if (!words.some((word) => folded.startsWith(word))) continue;
    parts.push(text.slice(end, index), <mark key={index}>{found}</mark>);
    end = index + found.length;
  }
  parts.push(text.slice(end));
  return <>{parts}</>;
}
