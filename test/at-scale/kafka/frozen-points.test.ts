import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { Random } from '../../advertising/random-records.js';
import type { TestDatabase } from '../clickhouse/support.js';
import { actualDeliveries, expectSame } from './actual.js';
import { deliveryHistory } from './histories.js';
import { startKilled } from './kill-points.js';
import { withPoison } from './poison.js';
import type { TestTopics } from './topics.js';
import { type WorkerTest, workerTest } from './worker-test.js';
import type { Workers } from './workers.js';

const COUNT = Number(process.env.TEST_RECORDS ?? 20_000);
const SEED = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000);
const STREAM = 'network-a-deliveries';

describe(`a worker frozen at named points until its partitions are another's (TEST_SEED=${SEED})`, function () {
  this.timeout(1_800_000);
  let topics: TestTopics;
  let database: TestDatabase;
  let test: WorkerTest;
  let workers: Workers;

  before(function () {
    if (existsSync('/proc/self/stat')) return;
    console.log('      skipped: there is no /proc that tells whether a process is frozen');
    this.skip();
  });
  beforeEach(async () => {
    test = await workerTest();
    ({ topics, database, workers } = test);
  });
  afterEach(async () => {
    await test?.remove();
  });

  for (const point of ['after decode', 'after the fence', 'after the write'] as const) {
    it(`${point}: it writes nothing late, and takes no place back`, async () => {
      const random = new Random(SEED);
      const { records, expected } = deliveryHistory(random, COUNT);
      const half = records.length / 2;
      await topics.produce(STREAM, withPoison(random, records.slice(0, half)));
      const kill = { TEST_KILL_AT: point, TEST_KILL_AFTER: '1', TEST_KILL_SIGNAL: 'SIGSTOP' } as const;
      const frozen = startKilled(workers, [STREAM], kill);
      try {
        while (stateOf(frozen.pid) !== 'T') {
          expect(frozen.hasEnded(), frozen.output()).to.equal(false);
          await pause(50);
        }
        // Newer states of what it holds.
        await topics.produce(STREAM, records.slice(half));
        const other = await workers.start([STREAM]);
        await topics.drained(STREAM);
        expectSame(await actualDeliveries(database.config), expected);
        // Then only the late writer can change anything.
        expect((await other.stop()).code).to.equal(0);
        process.kill(frozen.pid, 'SIGCONT');
        await pause(3000);
        expect(await topics.behind(STREAM)).to.equal(0);
        expectSame(await actualDeliveries(database.config), expected);
      } finally {
        if (!frozen.hasEnded()) process.kill(frozen.pid, 'SIGKILL');
        await frozen.ended;
      }
    });
  }
});

/** One letter: T of a process that is stopped. */
const stateOf = (pid: number) => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
