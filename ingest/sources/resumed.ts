/** Yields the items of a source from the beginning: first `taken`, which were read already, then the rest. Closes the source. */
export async function* resumed<T>(taken: Iterable<T>, rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    yield* taken;
    for (let step = await rest.next(); !step.done; step = await rest.next()) yield step.value;
  } finally {
    await rest.return?.();
  }
}
