/** Texts kept, and how long one may be. */
const MOST = 20_000;
const LONGEST = 200;

/** Keeps what is computed from texts that come again and again, and forgets all of it once it is too much. */
export function memoize<T>(compute: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    if (text.length > LONGEST) return compute(text);
    let result = known.get(text);
    if (result === undefined) {
      if (known.size >= MOST) known.clear();
      result = compute(text);
      known.set(text, result);
    }
    return result;
  };
}
