import { expect } from 'chai';
import type { TopicReplication } from '../../ingest/sources/kafka/admin.js';
import { findOtherSettings, findReplicationProblems } from '../../ingest/sources/kafka/topics.js';
import { loadConfig } from '../../services/shared/config.js';

const SAFE: TopicReplication = {
  name: 'contacts',
  settings: new Map(),
  replicas: 3,
  inSync: 3,
  minInSync: 2,
};

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

describe('The settings of topics', () => {
  const { kafka } = loadConfig({ KAFKA_BROKERS: '127.0.0.1:9092' });
  if (!kafka) throw new Error('there is no broker');
  const others = (name: string, settings: Record<string, string>) =>
    findOtherSettings(
      { describeTopics: async () => [{ ...SAFE, name, settings: new Map(Object.entries(settings)) }] },
      kafka,
    );
  const MADE = {
    'message.timestamp.type': 'LogAppendTime',
    'cleanup.policy': 'delete',
    'retention.ms': '604800000',
    'max.message.bytes': '8388608',
  };

  it('are told where a broker made the topic with settings of its own', async () => {
    expect(await others('contacts', MADE)).to.deep.equal([]);
    expect(
      await others('contacts', { ...MADE, 'retention.ms': '-1', 'max.message.bytes': '9999999' }),
    ).to.deep.equal([]);
    const defaults = { ...MADE, 'message.timestamp.type': 'CreateTime', 'max.message.bytes': '1048588' };
    expect(await others('contacts', defaults)).to.deep.equal([
      'The topic contacts has max.message.bytes=1048588 and needs 8388608, so that a large record becomes a dead letter',
      'The topic contacts has message.timestamp.type=CreateTime and needs LogAppendTime, so that the clock of a producer does not order records',
    ]);
    expect(await others('audiences', { 'cleanup.policy': 'delete' })).to.have.length(1);
    expect(await others('contacts', { ...MADE, 'retention.ms': '3600000' })).to.have.length(1);
  });
});
