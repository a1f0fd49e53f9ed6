import { expect } from 'chai';
import { isCoveredBy } from '../../../services/stores/elasticsearch/shard-positions.js';

const present = { index: 'contacts-2', numbering: { epoch: 'b', secret: '' } };
/** A position: its time, and then the number of each of two shards at the beginning of its run. */
const position = (epoch: string, ...start: number[]) => ({ epoch, after: [0, 0, 0], start: [0, ...start] });

describe('A copy that follows the feed of changes on Elasticsearch', () => {
  it('holds no byte of an erasure if its run began after the erasure', () => {
    const upTo = { 'contacts-2/0': 5, 'contacts-2/1': 7 };
    expect(isCoveredBy(position('b', 5, 7), upTo, present)).to.equal(true);
    expect(isCoveredBy(position('b', 5, 6), upTo, present)).to.equal(false);
  });

  it('holds no byte of an erasure from before a reindex, but only once its run is one over the new index', () => {
    const upTo = { 'contacts-1/0': 5, 'contacts-1/1': 7 };
    expect(isCoveredBy(position('b', 0, 0), upTo, present)).to.equal(true);
    // The follower has not read since the reindex.
    expect(isCoveredBy(position('a', 0, 0), upTo, present)).to.equal(false);
    expect(isCoveredBy(position('a', 9, 9), upTo, present)).to.equal(false);
  });
});
