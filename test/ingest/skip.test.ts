import { expect } from 'chai';
import { FETCH_LIMITS } from '../../ingest/sources/kafka/limits.js';
import { createTopics } from '../../ingest/sources/kafka/topics.js';
import { headerText } from '../../ingest/worker/dead-letters.js';
import { skipRecords } from '../../ingest/worker/skip.js';
import { KAFKA_CONFIG, MemoryCluster } from './memory-cluster.js';

describe('Skip', () => {
  let cluster: MemoryCluster;
  beforeEach(async () => {
    cluster = new MemoryCluster();
    await createTopics(cluster, KAFKA_CONFIG);
    cluster.append('contacts', 'first', 'second', 'third');
  });

  const skip = (offset: bigint, { partition = 0, dryRun = false } = {}) =>
    skipRecords(cluster, KAFKA_CONFIG, { stream: 'contacts', partition, offset, dryRun }).catch(
      (error: unknown) => error,
    );

  it('moves the records up to an offset to the dead letters, and commits the offset behind them', async () => {
    expect(await skip(1n)).to.equal(2);
    const letters = cluster.deadLetters('contacts');
    expect(letters.map(({ value }) => String(value))).to.deep.equal(['first', 'second']);
    expect(letters.map(({ headers }) => headerText(headers, 'reachline-stage'))).to.deep.equal([
      'skip',
      'skip',
    ]);
    expect(cluster.committedBy('contacts')).to.equal(2);
  });

  it('counts the records in a dry run, and neither sends nor commits', async () => {
    expect(await skip(1n, { dryRun: true })).to.equal(2);
    expect(cluster.deadLetters('contacts')).to.deep.equal([]);
    expect(cluster.committedBy('contacts')).to.equal(0);
  });

  it('rejects an offset that is committed already, that is not there yet, or whose partition does not exist', async () => {
    await skip(0n);
    expect(await skip(0n)).to.include({ name: 'SkipError' });
    expect(await skip(3n)).to.include({ name: 'SkipError' });
    expect(await skip(1n, { partition: 1 })).to.include({ name: 'SkipError' });
    expect(cluster.committedBy('contacts')).to.equal(1);
  });

  it('rejects more records than a worker has in a batch', async () => {
    cluster.append('contacts', ...Array.from({ length: 25_000 }, () => 'more'));
    expect(await skip(25_000n)).to.include({ name: 'SkipError' });
    expect(cluster.deadLetters('contacts')).to.deep.equal([]);
  });

  it('rejects while the group of the stream has members', async () => {
    const consumer = await cluster.consume({
      topic: 'another topic',
      group: `${KAFKA_CONFIG.group}-contacts`,
      ...FETCH_LIMITS.records,
      onBatch: async () => undefined,
      onOffsetLost: () => undefined,
    });
    expect(await skip(0n)).to.include({ name: 'SkipError' });
    await consumer.stop();
    expect(await skip(0n)).to.equal(1);
  });
});
