import { expect } from 'chai';
import { createTopics } from '../../ingest/sources/kafka/topics.js';
import { headerText } from '../../ingest/worker/dead-letters.js';
import { type DeadLetterRecord, eachDeadLetter, replayDeadLetters } from '../../ingest/worker/replay.js';
import { skipRecords } from '../../ingest/worker/skip.js';
import { KAFKA_CONFIG, MemoryCluster } from './memory-cluster.js';

const contact = (id: string, city: string) => ({ organization_id: 'org_r', contact_id: id, city });
const ignore = () => undefined;

describe('Replay', () => {
  let cluster: MemoryCluster;
  beforeEach(async () => {
    cluster = new MemoryCluster();
    await createTopics(cluster, KAFKA_CONFIG);
  });

  /** Appends contacts and moves them to the dead letters. */
  const deadLetter = async (...values: (object | string)[]) => {
    cluster.append('contacts', ...values);
    const offset = BigInt(cluster.records('contacts').length - 1);
    await skipRecords(cluster, KAFKA_CONFIG, { stream: 'contacts', partition: 0, offset });
  };
  const replay = (options: Partial<Parameters<typeof replayDeadLetters>[2]> = {}) =>
    replayDeadLetters(cluster, KAFKA_CONFIG, { onProgress: ignore, ...options });
  const list = async (all = false) => {
    const letters: DeadLetterRecord[] = [];
    await eachDeadLetter(cluster, KAFKA_CONFIG, { all }, (found) => {
      letters.push(...found);
      return true;
    });
    return letters;
  };

  it('sends each dead letter once to the topic it came from, without the reason and with its order', async () => {
    await deadLetter(contact('a', 'Ulm'), contact('b', 'Bonn'));
    cluster.now += 1000;
    expect(await replay()).to.deep.equal({ records: 2, truncated: 0, tooLarge: 0 });
    expect(await replay()).to.deep.equal({ records: 0, truncated: 0, tooLarge: 0 });
    const [first, second, ...sent] = cluster.records('contacts');
    expect(sent.map(({ value }) => String(value))).to.deep.equal(
      [first, second].map((each) => String(each?.value)),
    );
    expect(sent.map(({ headers }) => headers)).to.deep.equal(
      [first, second].map((each) => ({
        'reachline-attempts': '1',
        'reachline-accepted-at': String(each?.timestamp),
        'reachline-sequence': String(Number(each?.offset) * 1000 + (each?.partition ?? 0)),
      })),
    );
  });

  it('counts the dead letters in a dry run, and neither sends nor commits', async () => {
    await deadLetter(contact('a', 'Ulm'));
    expect(await replay({ dryRun: true })).to.deep.equal({ records: 1, truncated: 0, tooLarge: 0 });
    expect(cluster.records('contacts')).to.have.lengthOf(1);
    expect(await replay()).to.deep.equal({ records: 1, truncated: 0, tooLarge: 0 });
  });

  it('keeps to a rate with heartbeats, and repeats no more than one request after it was killed', async () => {
    await deadLetter(contact('a', 'Ulm'), contact('b', 'Ulm'), contact('c', 'Ulm'));
    const { commit } = cluster;
    cluster.commit = () => Promise.reject(new Error('killed'));
    expect(await replay({ rate: 2 }).catch((error: Error) => error.message)).to.equal('killed');
    cluster.commit = commit;
    expect((await replay({ rate: 2 })).records).to.equal(3);
    expect(cluster.records('contacts')).to.have.lengthOf(3 + 2 + 3);
    expect(cluster.heartbeats).to.be.at.least(1);
  });

  it('leaves out a dead letter that holds the beginning of its record alone', async () => {
    await deadLetter(contact('a', 'x'.repeat(8 * 1024 * 1024)), contact('b', 'Bonn'));
    expect(await replay()).to.deep.equal({ records: 1, truncated: 1, tooLarge: 0 });
  });

  it('lists the dead letters that were not replayed, or all of them', async () => {
    await deadLetter('{', contact('b', 'Bonn'));
    expect((await list()).map(({ place, code, attempts }) => [place, code, attempts])).to.deep.equal([
      ['0/0', 'skipped', 1],
      ['0/1', 'skipped', 1],
    ]);
    await replay({ streams: ['contacts'] });
    expect(await list()).to.deep.equal([]);
    expect(await list(true)).to.have.lengthOf(2);
  });

  it('counts how often a record was rejected', async () => {
    await deadLetter('{');
    await replay();
    await skipRecords(cluster, KAFKA_CONFIG, { stream: 'contacts', partition: 0, offset: 1n });
    const [, again] = cluster.deadLetters('contacts');
    expect(headerText(again?.headers ?? {}, 'reachline-attempts')).to.equal('2');
    expect(headerText(again?.headers ?? {}, 'reachline-sequence')).to.equal('0');
  });
});
