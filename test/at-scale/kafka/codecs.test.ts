import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import kafkajs from 'kafkajs';
import { DECOMPRESSORS, type Decompress } from '../../../ingest/sources/kafka/kafkajs/compression.js';
import { topicOf } from '../../../ingest/sources/kafka/topics.js';
import { packageRoot } from '../../../services/shared/fs.js';
import { kafkaDistribution } from '../../stack/distributions.js';
import { findJava } from '../../stack/java.js';
import { Random, SEED } from '../../support/random.js';
import { actualContacts, expectSame } from './actual.js';
import { contactHistory } from './histories.js';
import { useWorkers } from './workers.js';

const { CompressionTypes } = kafkajs;

const COUNT = 2000;
const JAVA_PRODUCER = join(packageRoot, 'test/at-scale/kafka/Produce.java');
const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];
const NAMES: Record<number, string> = {
  [CompressionTypes.GZIP]: 'gzip',
  [CompressionTypes.Snappy]: 'snappy',
  [CompressionTypes.LZ4]: 'lz4',
  [CompressionTypes.ZSTD]: 'zstd',
};

describe(`compressed batches (REACHLINE_TEST_SEED=${SEED})`, function () {
  this.timeout(1_800_000);
  const test = useWorkers();
  const decompressors = DECOMPRESSORS as Record<number, Decompress>;
  const original = { ...decompressors };
  after(() => Object.assign(decompressors, original));

  it('of every codec of the Java client are read', async function () {
    const home = findJava(17);
    if (!existsSync(join(home, 'bin/javac'))) {
      console.log(`      skipped: ${home} has no compiler; install a JDK`);
      this.skip();
    }
    const { indices, topics, workers } = test;
    const { records, expected, organizations } = contactHistory(new Random(SEED), COUNT);
    await workers.start(['contacts']);
    const classPath = join(await kafkaDistribution(), '*');
    const args = ['-cp', classPath, JAVA_PRODUCER, topics.config.brokers.join(',')];
    const producing = promisify(execFile)(join(home, 'bin/java'), args);
    const topic = topicOf(topics.config, 'contacts');
    const size = Math.ceil(records.length / CODECS.length);
    for (const [index, { key, value }] of records.entries()) {
      const codec = CODECS[Math.floor(index / size)];
      producing.child.stdin?.write(`${[codec, topic, key, value].join('\t')}\n`);
    }
    producing.child.stdin?.end();
    await producing;
    await workers.drained('contacts');
    expectSame(await actualContacts(indices.config, organizations), expected);
    expect(await topics.deadLetters('contacts')).to.deep.equal([]);

    // What lies in the topic tells whether the batches were compressed at all.
    const seen = new Set<string>();
    for (const [type, name] of Object.entries(NAMES)) {
      decompressors[Number(type)] = (compressed, maxBytes) => {
        seen.add(name);
        return (original[Number(type)] as Decompress)(compressed, maxBytes);
      };
    }
    await topics.cluster.readAll(topic, async () => true);
    expect([...seen]).to.have.members(Object.values(NAMES));
  });
});
