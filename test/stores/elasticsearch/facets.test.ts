import type { estypes } from '@elastic/elasticsearch';
import { expect } from 'chai';
import { inexactFacets, readFacets } from '../../../services/stores/elasticsearch/contacts/facets.js';

/** Counts by value. */
type Shard = Record<string, number>;

const SIZE = 100;

const byCount = ([left, more]: [string, number], [right, less]: [string, number]) =>
  less - more || Buffer.compare(Buffer.from(left), Buffer.from(right));

/** Merges the most frequent values of each shard as Elasticsearch does. */
function merged(shards: readonly Shard[], perShard: number) {
  const counts = new Map<string, number>();
  const missed = new Map<string, number>();
  const answers = shards.map((shard) => {
    const values = Object.entries(shard).sort(byCount);
    const found = new Map(values.slice(0, perShard));
    const least = found.size < perShard ? 0 : ([...found.values()].at(-1) ?? 0);
    return { found, least };
  });
  const unseen = answers.reduce((sum, { least }) => sum + least, 0);
  for (const { found, least } of answers) {
    for (const [value, count] of found) {
      counts.set(value, (counts.get(value) ?? 0) + count);
      missed.set(value, (missed.get(value) ?? unseen) - least);
    }
  }
  const first = [...counts].sort(byCount).slice(0, SIZE);
  const buckets = first.map(([key, doc_count]) => ({
    key,
    doc_count,
    doc_count_error_upper_bound: missed.get(key),
  }));
  return { city: { doc_count_error_upper_bound: unseen, buckets } as estypes.AggregationsAggregate };
}

const values = (name: string, length: number, count: number): Shard =>
  Object.fromEntries(
    Array.from({ length }, (_, index) => [`${name} ${String(index).padStart(3, '0')}`, count]),
  );

function facetsOf(shards: readonly Shard[]) {
  const found = merged(shards, SIZE);
  const isExact = inexactFacets(['city'], found).length === 0;
  const recounted = isExact ? {} : merged(shards, Number.POSITIVE_INFINITY);
  const { city = [] } = readFacets(['city'], found, recounted);
  return { first: city[0], last: city.at(-1), count: city.length, requests: isExact ? 1 : 2 };
}

describe('Facets over several shards', () => {
  it('come in the order of the request, whatever that of the response', () => {
    const { city } = merged([{ Rome: 1 }], SIZE);
    const facets = readFacets(['country', 'city'], { city, country: city });
    expect(Object.keys(facets)).to.deep.equal(['country', 'city']);
  });

  it('are asked for once where no other value can be among the first', () => {
    const frequent = { ...values('frequent', 20, 30), ...values('rare', 90, 2) };
    const facets = facetsOf([frequent, frequent, frequent]);
    expect(facets).to.deep.include({ count: 20, requests: 1, last: { value: 'frequent 019', count: 90 } });
  });

  it('hold a value that a shard left out behind many', () => {
    const facets = facetsOf([
      { ...values('top', 20, 10), x: 12, ...values('rare', 90, 1) },
      { ...values('top', 20, 10), ...values('many', 80, 9), x: 9 },
    ]);
    expect(facets).to.deep.include({ first: { value: 'x', count: 21 }, requests: 2 });
  });

  it('hold a value that was cut off behind many when the shards were put together', () => {
    const facets = facetsOf([
      { ...values('top', 20, 2), x: 15, ...values('rare', 90, 1) },
      { ...values('top', 20, 16), ...values('many', 80, 15), x: 15 },
    ]);
    expect(facets).to.deep.include({ first: { value: 'x', count: 30 }, requests: 2 });
  });

  it('count a value that is among the first on one shard, and was left out by another', () => {
    const facets = facetsOf([
      { ...values('top', 20, 100), ...values('rare', 90, 1) },
      { ...values('many', 100, 6), ...values('top', 20, 5) },
    ]);
    expect(facets).to.deep.include({ first: { value: 'top 000', count: 105 }, requests: 2 });
  });
});
