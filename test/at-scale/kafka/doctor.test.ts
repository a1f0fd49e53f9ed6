import { expect } from 'chai';
import { STREAM_NAMES } from '../../../ingest/streams/index.js';
import { run } from '../../cli/support.js';
import { freePort } from '../../stack/free-port.js';
import { tempFolder } from '../../support/temp-folder.js';
import { type TestTopics, testTopics } from './topics.js';

describe('The doctor with Kafka', () => {
  let topics: TestTopics;
  before(async () => {
    topics = await testTopics();
  });

  const doctor = (more: Record<string, string> = {}) =>
    run(['doctor'], {
      env: { ...topics.environment, PORT: '0', REACHLINE_DATA_DIR: tempFolder(), ...more },
    });
  const complete = '✓ The topics of all streams and of their dead letters exist\n';

  it('reports no problem when all topics exist', async () => {
    const { code, stdout } = await doctor();
    expect({ code, stdout }).to.include({ code: 0 });
    expect(stdout).to.contain(`✓ Kafka answers at ${topics.config.brokers[0]}\n`);
    expect(stdout).to.contain(complete);
  });

  it('names the missing topics, and creates none', async () => {
    const prefix = `${topics.config.topicPrefix}elsewhere.`;
    const { code, stdout } = await doctor({ REACHLINE_TOPIC_PREFIX: prefix });
    expect({ code, stdout }).to.include({ code: 1 });
    const [, missing = ''] = /✗ Topics are missing: (.*)\. Run: reachline migrate\n/.exec(stdout) ?? [];
    // Each stream has a topic of records and a topic of dead letters.
    expect(missing.split(', ')).to.have.lengthOf(2 * STREAM_NAMES.length);
    expect(missing.split(', ')).to.include.members([
      `${prefix}contacts`,
      `${prefix}network-a-deliveries.dead-letter`,
    ]);
    const there = await topics.cluster.listTopics();
    expect(there.filter((name) => name.startsWith(prefix))).to.deep.equal([]);
  });

  it('says that there are too few brokers for the replicas of new topics', async () => {
    const topic = { name: `${topics.config.topicPrefix}five`, partitions: 1, replicas: 5, settings: {} };
    const created = await topics.cluster.createTopics([topic]).catch((error: Error) => error.message);
    expect(created).to.contain('REACHLINE_TOPIC_REPLICAS is 5, and only 1 brokers answer');
    expect(await topics.cluster.listTopics()).not.to.include(topic.name);
  });

  it('names a broker that does not answer, and asks the others', async () => {
    const nobody = `127.0.0.1:${await freePort()}`;
    const one = await doctor({ KAFKA_BROKERS: `${nobody},${topics.config.brokers[0]}` });
    expect(one).to.include({ code: 1 });
    expect(one.stdout).to.contain(`✗ Kafka does not answer at ${nobody} (`);
    expect(one.stdout).to.contain(complete);
    const none = await doctor({ KAFKA_BROKERS: nobody });
    expect(none).to.include({ code: 1 });
    expect(none.stdout).to.match(/ECONNREFUSED.*: check that it runs, and the settings KAFKA_\*\n/);
    expect(none.stdout).not.to.contain('opics');
  });
});
