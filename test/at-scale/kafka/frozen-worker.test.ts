import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Random, SEED } from '../../support/random.js';
import type { TestTopics } from './topics.js';
import { type WorkerStores, type WorkerTest, workerStores, workerTest } from './worker-test.js';
import { histories, STREAMS, type Workers } from './workers.js';

const COUNT = Number(process.env.TEST_RECORDS ?? 8000);
/** At least; until its partitions are another's. */
const FROZEN_MS = Number(process.env.TEST_AWAY_MS ?? 5000);

describe(`a frozen worker (REACHLINE_TEST_SEED=${SEED})`, function () {
  this.timeout(300_000);
  let topics: TestTopics;
  let stores: WorkerStores;
  let test: WorkerTest;
  let workers: Workers;

  before(async () => {
    stores = await workerStores();
    test = await workerTest(stores);
    ({ topics, workers } = test);
  });
  after(async () => {
    await test?.close();
    await stores?.remove();
  });

  it('writes nothing late after it was frozen until its partitions were reassigned', async () => {
    const random = new Random(SEED);
    const history = histories(random, COUNT);
    const frozen = await workers.start();
    for (const stream of STREAMS) await topics.produce(stream, history[stream].records);
    await pause(random.below(3000));
    frozen.signal('SIGSTOP');
    const begun = performance.now();
    const other = await workers.start();
    await workers.drained(...STREAMS);
    await workers.expectState(history);
    await pause(FROZEN_MS - (performance.now() - begun));
    const before = await committedOffsets(topics);
    frozen.signal('SIGCONT');
    // A worker that stops has finished what it was writing.
    await frozen.stop();
    expect(await committedOffsets(topics)).to.deep.equal(before);
    await workers.expectState(history);
    expect((await other.stop()).code).to.equal(0);
  });
});

/** The committed offsets of the groups. */
const committedOffsets = ({ cluster, config }: TestTopics) =>
  Promise.all(
    STREAMS.map(async (stream) => [
      ...(await cluster.committed(`${config.group}-${stream}`, `${config.topicPrefix}${stream}`)),
    ]),
  );
