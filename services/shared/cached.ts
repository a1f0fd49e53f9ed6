/** What `make` gives, kept for some milliseconds and made once at a time however many ask. A failure is not kept. */
export function cached<T>(milliseconds: number, make: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | undefined;
  let freshUntil = Number.POSITIVE_INFINITY;
  return () => {
    if (value !== undefined && performance.now() < freshUntil) return value;
    freshUntil = Number.POSITIVE_INFINITY;
    const made = make();
    value = made;
    made.then(
      () => {
        freshUntil = performance.now() + milliseconds;
      },
      () => {
        value = undefined;
      },
    );
    return made;
  };
}
