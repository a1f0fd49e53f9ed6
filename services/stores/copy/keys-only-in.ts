import type { RecordKey } from '../common/record-copy.js';

/** By moment, then by id; ids consist of ASCII alone. */
export function compareKeys(one: RecordKey, other: RecordKey): number {
  const byMoment = (one.createdMs ?? 0) - (other.createdMs ?? 0);
  if (byMoment !== 0) return byMoment;
  if (one.id === other.id) return 0;
  return one.id < other.id ? -1 : 1;
}

/** The keys of `copied` that `there` does not have, by page of `copied`. Both ascend. */
export async function* keysOnlyIn(
  copied: AsyncIterable<RecordKey[]>,
  there: AsyncIterable<RecordKey[]>,
): AsyncGenerator<RecordKey[]> {
  const others = flatten(there);
  let other = await others.next();
  for await (const page of copied) {
    const missing: RecordKey[] = [];
    for (const key of page) {
      while (!other.done && compareKeys(other.value, key) < 0) other = await others.next();
      if (other.done || compareKeys(other.value, key) > 0) missing.push(key);
    }
    yield missing;
  }
}

async function* flatten(pages: AsyncIterable<RecordKey[]>): AsyncGenerator<RecordKey, undefined> {
  for await (const page of pages) yield* page;
  return undefined;
}
