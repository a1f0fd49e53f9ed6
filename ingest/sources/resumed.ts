/** Yields the items of a source, including `taken`, its first items, which were read already. Closes the source. */
export async function* resumed<T>(taken: Iterable<T>, rest: AsyncIterator<T>): AsyncGenerator<T> {
  try {
    yield* taken;
    for (let step = await rest.next(); !step.done; step = await rest.next()) yield step.value;
  } finally {
    await rest.return?.();
  }
}
