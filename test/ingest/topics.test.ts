import { expect } from 'chai';
import type { TopicReplication } from '../../ingest/sources/kafka/admin.js';
import { findReplicationProblems } from '../../ingest/sources/kafka/topics.js';
import { loadConfig } from '../../services/shared/config.js';

const SAFE: TopicReplication = { name: 'contacts', replicas: 3, inSync: 3, minInSync: 2 };

describe('The replication of topics', () => {
  const { kafka } = loadConfig({ KAFKA_BROKERS: '127.0.0.1:9092' });
  if (!kafka) throw new Error('there is no broker');
  const problems = (brokers: number, topic: Partial<TopicReplication>) =>
    findReplicationProblems(
      { countBrokers: async () => brokers, describeTopics: async () => [{ ...SAFE, ...topic }] },
      kafka,
    );

  it('is enough on one broker, and where a broker may be lost', async () => {
    expect(await problems(1, { replicas: 1, inSync: 1, minInSync: 1 })).to.deep.equal([]);
    expect(await problems(3, {})).to.deep.equal([]);
  });

  for (const [mistake, topic, problem] of [
    [
      'one replica on three brokers',
      { replicas: 1, inSync: 1, minInSync: 1 },
      /lost with its disk.*to 3: contacts$/,
    ],
    ['a replica that is away', { inSync: 2 }, /not in sync.*: contacts$/],
    ['an acknowledgement of one broker', { minInSync: 1 }, /set min\.insync\.replicas to 2: contacts$/],
    [
      'more in sync than there are',
      { replicas: 2, inSync: 2, minInSync: 3 },
      /No record can be written.*: contacts$/,
    ],
  ] as const) {
    it(`is a problem with ${mistake}`, async () => {
      const [found, ...others] = await problems(3, topic);
      expect(found).to.match(problem);
      expect(others).to.deep.equal([]);
    });
  }
});
