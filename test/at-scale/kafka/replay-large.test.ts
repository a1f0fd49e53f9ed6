import { expect } from 'chai';
import { deadLetterTopicOf, groupOf, topicOf } from '../../../ingest/sources/kafka/topics.js';
import { HEADER, headerText } from '../../../ingest/worker/dead-letters.js';
import { runProcess as run } from '../../cli/support.js';
import { endOf, spawnServer } from '../../support/server-process.js';
import { until } from '../../support/until.js';
import { POLLING, type TestTopics, testTopics } from './topics.js';

const LETTERS = Number(process.env.TEST_LETTERS ?? 4000);
const STREAM = 'contacts';
/** Small ones, of which a fetch of 1 MiB has many, then larger ones, so that it takes more than one. */
const fillingOf = (index: number) => 'x'.repeat(index < 0.75 * LETTERS ? 1 : 600);

describe(`${LETTERS} replayed dead letters`, function () {
  this.timeout(600_000);
  let topics: TestTopics;

  beforeEach(async () => {
    topics = await testTopics();
    const producer = await topics.cluster.producer();
    for (let start = 0; start < LETTERS; start += 1000) {
      const letters = Array.from({ length: Math.min(1000, LETTERS - start) }, (_, index) => ({
        key: `k${start + index}`,
        value: JSON.stringify({ contact_id: `c${start + index}`, city: fillingOf(start + index) }),
        headers: { [HEADER.code]: 'test', [HEADER.attempts]: '1' },
      }));
      await producer.send(deadLetterTopicOf(topicOf(topics.config, STREAM)), letters);
    }
  });

  /** How often each record is in the topic of the stream. */
  async function timesSent(): Promise<number[]> {
    const times = new Map<string, number>();
    await topics.cluster.readAll(topicOf(topics.config, STREAM), async (records) => {
      for (const { key } of records) times.set(String(key), (times.get(String(key)) ?? 0) + 1);
      return true;
    });
    return Array.from({ length: LETTERS }, (_, index) => times.get(`k${index}`) ?? 0);
  }
  const expectOnce = async () => {
    const wrong = (await timesSent()).flatMap((times, index) => (times === 1 ? [] : [`k${index}: ${times}`]));
    expect(wrong).to.deep.equal([]);
  };
  const command = (...args: string[]) =>
    run(['dead-letters', ...args, '--stream', STREAM], { env: topics.environment });

  it('are sent once each when the rate makes the replay last longer than a session', async () => {
    const seconds = (2 * Number(topics.environment.KAFKA_SESSION_TIMEOUT_MS)) / 1000;
    const { code, stderr } = await command('replay', '--rate', String(Math.ceil(LETTERS / seconds)));
    expect(code, stderr).to.equal(0);
    await expectOnce();
  });

  it('are all sent when the replay is killed and run again, and at most 500 of them twice', async () => {
    const args = ['dead-letters', 'replay', '--stream', STREAM, '--rate', String(Math.ceil(LETTERS / 10))];
    const killed = spawnServer({ args, environment: topics.environment });
    const ended = endOf(killed);
    const isHalfWay = async () => {
      const offsets = await topics.cluster.committed(
        `${topics.config.group}-replay`,
        deadLetterTopicOf(topicOf(topics.config, STREAM)),
      );
      return Number(offsets.get(0) ?? 0) > LETTERS / 3;
    };
    await until(isHalfWay, 'half of the dead letters are replayed', POLLING);
    killed.kill('SIGKILL');
    expect(await ended).to.deep.equal({ code: null, signal: 'SIGKILL' });
    expect(await command('replay')).to.include({ code: 0 });
    const times = await timesSent();
    expect(times.filter((each) => each === 0)).to.deep.equal([]);
    expect(times.reduce((sum, each) => sum + each - 1, 0)).to.be.at.most(500);
  });

  it('are skipped one by one where a record blocks its partition, and nothing is lost', async () => {
    const { cluster, config } = topics;
    const source = topicOf(config, STREAM);
    await topics.produce(
      STREAM,
      Array.from({ length: 5 }, (_, index) => ({ key: 'same', value: `record ${index}` })),
    );
    const [[partition] = [0]] = [...(await cluster.lag(groupOf(config, STREAM), source))].filter(
      ([, behind]) => behind > 0n,
    );
    const skip = (offset: number, ...more: string[]) =>
      command('skip', '--partition', String(partition), '--offset', String(offset), ...more);
    expect((await skip(2, '--dry-run')).stdout).to.equal('3 records would be skipped.\n');
    expect(await topics.behind(STREAM)).to.equal(5);
    const { code, stdout, stderr } = await skip(2);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    expect(stdout).to.match(/^3 records skipped/);
    expect(await topics.behind(STREAM)).to.equal(2);
    const skipped = (await topics.deadLetters(STREAM)).filter(
      ({ headers }) => headerText(headers, HEADER.code) === 'skipped',
    );
    expect(skipped.map(({ value }) => String(value))).to.deep.equal(['record 0', 'record 1', 'record 2']);
    expect(await skip(2)).to.include({ code: 1 });
    expect((await skip(5)).stderr).to.contain('has no record at offset 5');
    expect((await command('skip', '--partition', '99', '--offset', '0')).stderr).to.contain(
      'no partition 99',
    );
  });
});
