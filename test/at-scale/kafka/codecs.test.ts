import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { expect } from 'chai';
import kafkajs from 'kafkajs';
import { DECOMPRESSORS, type Decompress } from '../../../ingest/sources/kafka/kafkajs/compression.js';
import type { OutgoingRecord } from '../../../ingest/sources/kafka/producer.js';
import { topicOf } from '../../../ingest/sources/kafka/topics.js';
import { packageRoot } from '../../../services/shared/fs.js';
import { kafkaDistribution } from '../../stack/distributions.js';
import { findJava } from '../../stack/java.js';
import { compressLz4, compressSnappy, compressZstd } from '../../support/compress.js';
import { Random, SEED } from '../../support/random.js';
import type { TestTopics } from './topics.js';
import { type WorkerStores, type WorkerTest, workerStores, workerTest } from './worker-test.js';
import { histories, STREAMS, type Workers } from './workers.js';

const { CompressionCodecs, CompressionTypes, Kafka, logLevel, Partitioners } = kafkajs;

const COUNT = Number(process.env.TEST_RECORDS ?? 8000);
const JAVA_PRODUCER = join(packageRoot, 'test/at-scale/kafka/Produce.java');
const TYPES = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
} as const;
type CodecName = keyof typeof TYPES;

interface Batch {
  codec: CodecName;
  topic: string;
  records: readonly OutgoingRecord[];
}

/** Raw snappy may begin with the same byte as the magic of the frames: it is the lowest of its length. */
const isFramed = (compressed: Uint8Array) =>
  Buffer.from(compressed.subarray(0, 7)).equals(Buffer.from('\x82SNAPPY', 'latin1'));

describe(`compressed batches (REACHLINE_TEST_SEED=${SEED})`, function () {
  this.timeout(1_800_000);
  const codecs = CompressionCodecs as Record<number, () => object>;
  const decompressors = DECOMPRESSORS as Record<number, Decompress>;
  const original = { codecs: { ...codecs }, decompressors: { ...decompressors } };
  /** Codecs of the batches that this process has read. */
  const seen = new Set<string>();
  let topics: TestTopics;
  let stores: WorkerStores;
  let test: WorkerTest;
  let workers: Workers;

  before(async () => {
    stores = await workerStores();
  });
  after(() => stores?.remove());
  beforeEach(async () => {
    compressWith('gzip', promisify(gzip));
    compressWith('snappy', async (bytes) => compressSnappy(bytes));
    compressWith('lz4', async (bytes) => compressLz4(bytes));
    compressWith('zstd', compressZstd);
    seen.clear();
    test = await workerTest(stores);
    ({ topics, workers } = test);
  });
  afterEach(async () => {
    Object.assign(codecs, original.codecs);
    Object.assign(decompressors, original.decompressors);
    await test?.close();
  });

  it('of every codec of the JavaScript client are read', async () => {
    const kafka = new Kafka({ brokers: topics.config.brokers, logLevel: logLevel.NOTHING });
    const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
    await producer.connect();
    try {
      await areTaken(async (batches) => {
        for (const { codec, topic, records } of batches) {
          await producer.send({ topic, messages: [...records], acks: -1, compression: TYPES[codec] });
        }
      });
    } finally {
      await producer.disconnect();
    }
    expect([...seen]).to.have.members(['gzip', 'snappy', 'lz4', 'zstd']);
  });

  it('of every codec of the Java client are read', async function () {
    const home = findJava(17);
    if (!existsSync(join(home, 'bin/javac'))) {
      console.log(`      skipped: ${home} has no compiler; install a JDK`);
      this.skip();
    }
    const classPath = join(await kafkaDistribution(), '*');
    await areTaken(async (batches) => {
      const args = ['-cp', classPath, JAVA_PRODUCER, topics.config.brokers.join(',')];
      const producing = promisify(execFile)(join(home, 'bin/java'), args);
      for (const { codec, topic, records } of batches) {
        for (const { key, value } of records) {
          producing.child.stdin?.write(`${[codec, topic, key, value].join('\t')}\n`);
        }
      }
      producing.child.stdin?.end();
      await producing;
    });
    expect([...seen]).to.have.members(['gzip', 'snappy in frames', 'lz4', 'zstd']);
  });

  /** Sends each history in as many parts as there are codecs. */
  async function areTaken(send: (batches: Batch[]) => Promise<void>): Promise<void> {
    const history = histories(new Random(SEED), COUNT);
    const names = Object.keys(TYPES) as CodecName[];
    const batches = names.flatMap((codec, place) =>
      STREAMS.map((stream): Batch => {
        const { records } = history[stream];
        const size = Math.ceil(records.length / names.length);
        const part = records.slice(place * size, (place + 1) * size);
        return { codec, topic: topicOf(topics.config, stream), records: part };
      }),
    );
    await workers.start();
    await send(batches);
    await workers.drained(...STREAMS);
    await workers.expectState(history);
    expect(await workers.deadLetters()).to.deep.equal([]);
    // What lies in the topic tells whether the batches were compressed at all.
    await topics.cluster.readAll(topicOf(topics.config, STREAMS[0]), async () => true);
  }

  /** What producers of this process compress with; notes which batches it decompresses. */
  function compressWith(name: CodecName, compress: (bytes: Buffer) => Promise<Buffer>): void {
    const type = TYPES[name];
    codecs[type] = () => ({ compress: ({ buffer }: { buffer: Buffer }) => compress(buffer) });
    const decompress = original.decompressors[type] as Decompress;
    decompressors[type] = (compressed, maxBytes) => {
      seen.add(name === 'snappy' && isFramed(compressed) ? 'snappy in frames' : name);
      return decompress(compressed, maxBytes);
    };
  }
});
