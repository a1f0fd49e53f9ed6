import { expect } from 'chai';
import type { Cluster } from '../../../services/stores/elasticsearch/client.js';
import {
  forceMergeState,
  isDropped,
  prepareForceMerge,
} from '../../../services/stores/elasticsearch/erasure/expunge.js';

interface Answers {
  task?: object;
  shards?: { total: number; successful: number; failed: number };
}

/** The only shard has two copies; a merge keeps `retained`. */
function cluster({ task = {}, shards = { total: 2, successful: 2, failed: 0 } }: Answers, retained = [7, 9]) {
  const copies = retained.map((seqNo) => ({
    seq_no: { max_seq_no: 9 },
    commit: { user_data: { min_retained_seq_no: String(seqNo) } },
  }));
  const client = {
    indices: {
      flush: async () => ({}),
      stats: async () => ({ _shards: shards, indices: { i: { shards: { 0: copies } } } }),
    },
    tasks: { get: async () => task },
  };
  return { run: (request: (given: typeof client) => unknown) => request(client) } as unknown as Cluster;
}

describe('A force merge for erasures', () => {
  const ended = (shards: object) => ({ completed: true, response: { _shards: shards } });

  it('counts once every copy of every shard took part', async () => {
    const states = {
      done: ended({ total: 2, successful: 2, failed: 0 }),
      running: { completed: false },
    };
    for (const [state, task] of Object.entries(states))
      expect(await forceMergeState(cluster({ task }), 'i', 'n:1')).to.equal(state);
  });

  it('does not count where a copy is away or failed, or the node that ran it is gone', async () => {
    const tasks = [
      ended({ total: 2, successful: 1, failed: 0 }),
      ended({ total: 2, successful: 1, failed: 1 }),
      { completed: true, error: { type: 'e' } },
      { error: { type: 'resource_not_found_exception' }, status: 404 },
    ];
    for (const task of tasks)
      expect(await forceMergeState(cluster({ task }), 'i', 'n:1'), JSON.stringify(task)).to.equal('failed');
  });

  it('begins when every copy is assigned, and drops what no copy retains', async () => {
    const away = { total: 2, successful: 1, failed: 0 };
    expect(await prepareForceMerge(cluster({ shards: away }), 'i')).to.equal(null);
    const retainedFrom = await prepareForceMerge(cluster({}), 'i');
    expect(retainedFrom).to.deep.equal({ 'i/0': 7 });
    expect(isDropped({ 'i/0': 6 }, { 'i/0': 7 })).to.equal(true);
    expect(isDropped({ 'i/0': 7 }, { 'i/0': 7 })).to.equal(false);
    // A reindex has replaced the index.
    expect(isDropped({ 'old/0': 7 }, { 'i/0': 7 })).to.equal(true);
  });
});
