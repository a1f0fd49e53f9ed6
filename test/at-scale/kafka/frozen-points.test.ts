import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { Random, SEED } from '../../support/random.js';
import { until } from '../../support/until.js';
import { actualContacts, actualDeliveries, expectSame } from './actual.js';
import type { History } from './histories.js';
import { startKilled } from './kill-points.js';
import { withPoison } from './poison.js';
import { histories, useWorkers } from './workers.js';

const COUNT = Number(process.env.TEST_RECORDS ?? 8000);
/** One stream for each store. Frozen before the write, it writes when it wakes. */
const POINTS = ['after decode', 'before the write', 'after the write'] as const;
const STREAMS = ['network-a-deliveries', 'contacts'] as const;

describe(`a worker frozen at named points until its partitions are reassigned (REACHLINE_TEST_SEED=${SEED})`, function () {
  this.timeout(300_000);
  const test = useWorkers();

  before(function () {
    if (!existsSync('/proc/self/stat')) {
      console.log('      skipped: there is no /proc that tells whether a process is frozen');
      this.skip();
    }
  });

  const actual = {
    'network-a-deliveries': ({ organizations }: History) =>
      actualDeliveries(test.database.config, organizations),
    contacts: ({ organizations }: History) => actualContacts(test.indices.config, organizations),
  };

  for (const stream of STREAMS) {
    for (const point of POINTS) {
      it(`${stream}, ${point}: its late write changes nothing, and it commits no older offset`, async () => {
        const { topics, workers } = test;
        const random = new Random(SEED);
        const history = histories(random, COUNT)[stream];
        const { records, expected } = history;
        const half = records.length / 2;
        await topics.produce(stream, withPoison(random, records.slice(0, half)));
        const kill = { TEST_KILL_AT: point, TEST_KILL_AFTER: '1', TEST_KILL_SIGNAL: 'SIGSTOP' } as const;
        const frozen = startKilled(workers, [stream], kill);
        try {
          await until(() => {
            expect(frozen.hasEnded(), frozen.output()).to.equal(false);
            return stateOf(frozen.pid) === 'T';
          }, 'the worker is frozen');
          // Newer states of what it holds.
          await topics.produce(stream, records.slice(half));
          const other = await workers.start([stream]);
          await workers.drained(stream);
          expectSame(await actual[stream](history), expected);
          // Then only the late writer can change anything.
          expect((await other.stop()).code).to.equal(0);
          process.kill(frozen.pid, 'SIGCONT');
          // It joins its group again once it has written what it held.
          const { cluster, config } = topics;
          await until(
            () => cluster.hasMembers(`${config.group}-${stream}`),
            'the frozen worker has joined again',
          );
          expect(await topics.behind(stream)).to.equal(0);
          expectSame(await actual[stream](history), expected);
        } finally {
          if (!frozen.hasEnded()) process.kill(frozen.pid, 'SIGKILL');
          await frozen.ended;
        }
      });
    }
  }
});

/** One letter: T of a process that is stopped. */
const stateOf = (pid: number) => /\) (\w)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1];
