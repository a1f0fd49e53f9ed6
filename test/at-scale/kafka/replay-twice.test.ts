/** Replays of dead letters by two processes at once, with the lease in each records store. */
import { expect } from 'chai';
import { deadLetterTopicOf, topicOf } from '../../../ingest/sources/kafka/topics.js';
import type { StreamName } from '../../../ingest/streams/index.js';
import { runProcess } from '../../cli/support.js';
import { prepareOrganization } from '../../support/server-process.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';
import { testIndices } from '../elasticsearch/support.js';
import { type TestTopics, testTopics } from './topics.js';

const STREAMS: readonly StreamName[] = ['audiences', 'contacts', 'website-visits'];
const PER_STREAM = 20;
/** Records per second of the first replay: slow, so that it still runs when the second starts. */
const RATE = 5;

describe('a replay of dead letters while another runs', function () {
  this.timeout(120_000);

  async function letters(): Promise<TestTopics> {
    const topics = await testTopics({ partitions: 2 });
    const producer = await topics.cluster.producer();
    for (const stream of STREAMS) {
      const records = Array.from({ length: PER_STREAM }, () => ({ key: 'k', value: '{bad', headers: {} }));
      await producer.send(deadLetterTopicOf(topicOf(topics.config, stream)), records);
    }
    return topics;
  }

  const sent = async (topics: TestTopics) => {
    let count = 0n;
    for (const stream of STREAMS) {
      const offsets = await topics.cluster.offsets(topicOf(topics.config, stream));
      for (const { low, high } of offsets.values()) count += high - low;
    }
    return Number(count);
  };

  for (const [name, search] of [
    [
      'Elasticsearch',
      async () => ({ ELASTICSEARCH_INDEX_PREFIX: testIndices().config.indexPrefix, ...elasticsearch() }),
    ],
    [
      'a data folder',
      async () => {
        const dataDir = tempFolder();
        await prepareOrganization(dataDir, 'org_a');
        return { REACHLINE_DATA_DIR: dataDir };
      },
    ],
  ] as const) {
    it(`exits at once with ${name}, and names the process that runs`, async () => {
      const topics = await letters();
      const env = { ...topics.environment, ...(await search()) };
      const replay = (...args: string[]) => runProcess(['dead-letters', 'replay', ...args], { env });
      const first = replay('--rate', String(RATE));
      await until(async () => (await sent(topics)) > 0, 'the first replay has begun');
      const second = await replay();
      expect(second.code, second.stdout).to.equal(1);
      expect(second.stderr).to.match(/^Another process replays or skips dead letters: process \d+.*\n$/);
      const { code, stdout, stderr } = await first;
      expect({ code, stdout }, stderr).to.deep.equal({
        code: 0,
        stdout: '60 records sent again. Records that are rejected again become dead letters again.\n',
      });
      expect(await sent(topics)).to.equal(STREAMS.length * PER_STREAM);
      expect(await replay()).to.include({ code: 0, stderr: 'There are no dead letters to replay.\n' });
    });
  }
});

const elasticsearch = () => ({ ELASTICSEARCH_URL: process.env.ELASTICSEARCH_URL ?? '' });
