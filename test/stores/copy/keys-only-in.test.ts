import { expect } from 'chai';
import type { RecordKey } from '../../../services/stores/common/record-copy.js';
import { compareKeys, keysOnlyIn } from '../../../services/stores/copy/keys-only-in.js';
import { Random } from '../../support/random.js';

async function* pages(keys: readonly RecordKey[], size: number): AsyncGenerator<RecordKey[]> {
  for (let start = 0; start < keys.length; start += size) yield keys.slice(start, start + size);
}

async function onlyIn(copied: RecordKey[], there: RecordKey[], size: number): Promise<RecordKey[]> {
  const found: RecordKey[] = [];
  for await (const page of keysOnlyIn(pages(copied, size), pages(there, size + 1))) found.push(...page);
  return found;
}

describe('keysOnlyIn', () => {
  it('finds the keys that one of two ascending lists lacks, whatever their pages', async () => {
    const random = new Random(1);
    for (let round = 0; round < 50; round++) {
      const all = Array.from({ length: 60 }, (_, index): RecordKey => {
        const id = `${random.pick(['A', 'a', '_', ':', '.', '-', '1', '10'])}${index}`;
        return round % 2 === 0 ? { id } : { id, createdMs: random.below(5) };
      }).sort(compareKeys);
      const copied = all.filter(() => random.chance(0.6));
      const there = all.filter(() => random.chance(0.6));
      const missing = copied.filter((key) => !there.includes(key));
      expect(await onlyIn(copied, there, 1 + random.below(9))).to.deep.equal(missing);
    }
    expect(await onlyIn([{ id: 'a' }], [], 1)).to.deep.equal([{ id: 'a' }]);
    expect(await onlyIn([], [{ id: 'a' }], 1)).to.deep.equal([]);
  });
});
