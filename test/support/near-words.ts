const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

/** Different words that differ from the given word in exactly two letters; the first letter is right. */
export function wordsTwoTyposFrom(word: string, count: number): string[] {
  const found: string[] = [];
  for (let left = 1; left < word.length; left++) {
    for (let right = left + 2; right < word.length; right++) {
      for (const one of LETTERS) {
        for (const other of LETTERS) {
          if (one === word[left] || other === word[right]) continue;
          found.push(word.slice(0, left) + one + word.slice(left + 1, right) + other + word.slice(right + 1));
          if (found.length === count) return found;
        }
      }
    }
  }
  throw new Error(`there are ${found.length} words only`);
}
