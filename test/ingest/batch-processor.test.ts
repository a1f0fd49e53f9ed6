import { expect } from 'chai';
import type { Batch } from '../../ingest/sources/kafka/consumer.js';
import type { KafkaRecord } from '../../ingest/sources/kafka/record.js';
import { STREAMS } from '../../ingest/streams/index.js';
import type { Stream } from '../../ingest/streams/stream.js';
import { type BatchProcessorDeps, createBatchProcessor } from '../../ingest/worker/batch-processor.js';
import type { Rejection } from '../../ingest/worker/dead-letters.js';
import { createRecordWriter } from '../../ingest/worker/record-writer.js';
import type { ContactRecord } from '../../services/contacts/schema.js';
import { applyRecord, type StoredContact } from '../../services/contacts/stored-contact.js';
import { suppressedRecord } from '../../services/contacts/suppression.js';
import { Mutex } from '../../services/shared/async.js';
import type { Deletion, OrderedRecord } from '../../services/shared/record-order.js';
import {
  PartialWriteError,
  RejectedError,
  StoreUnavailableError,
} from '../../services/shared/store-errors.js';

const BATCH = 5000;

/** A store, a consumer group and a topic of dead letters in memory; records all events in order. */
class World {
  readonly events: string[] = [];
  readonly stored = new Set<string>();
  readonly letters: Rejection[] = [];
  committed = 0;
  writes = 0;
  /** Most writes between two commits. */
  writesWithoutCommit = 0;
  /** Most writes between two signs of progress. */
  writesWithoutProgress = 0;
  isAssigned = true;
  isRebalancing = false;
  /** Whether the store rejects a record; may throw the error of an outage. */
  rejects: (id: string) => boolean = () => false;
  /** Ids that the store rejects alone, while it writes all others. */
  suppressed = new Set<string>();
  onSleep: () => void = () => undefined;
  readonly abort = new AbortController();
  readonly #writer = createRecordWriter('records', (records) => this.#write(records));
  #sinceCommit = 0;
  #sinceProgress = 0;

  async #write(records: readonly OrderedRecord<object>[]): Promise<void> {
    this.writes++;
    this.writesWithoutCommit = Math.max(this.writesWithoutCommit, ++this.#sinceCommit);
    this.writesWithoutProgress = Math.max(this.writesWithoutProgress, ++this.#sinceProgress);
    this.events.push('write');
    const ids = records.map(({ record }) => (record as { contact_id: string }).contact_id);
    if (ids.some((id) => this.rejects(id))) throw new RejectedError('it breaks a constraint');
    for (const id of ids) if (!this.suppressed.has(id)) this.stored.add(id);
    const suppressed = ids.flatMap((id, index) => (this.suppressed.has(id) ? [index] : []));
    if (suppressed.length === 0) return;
    throw new PartialWriteError(new Map(suppressed.map((index) => [index, suppressedRecord()])));
  }

  get deps(): BatchProcessorDeps {
    return {
      writer: this.#writer,
      sendDeadLetters: async (_, rejected) => {
        this.events.push(`letters ${rejected.length}`);
        this.letters.push(...rejected);
      },
      decoding: new Mutex(),
      onProgress: () => {
        this.#sinceProgress = 0;
      },
      onCommitted: () => undefined,
      onOutage: () => this.events.push('outage'),
      signal: this.abort.signal,
      sleep: async () => this.onSleep(),
      now: () => 0,
      random: () => 0,
      newTimeSlice: () => ({ shouldYield: () => false, yieldToEventLoop: async () => undefined }),
    };
  }

  batch(values: readonly string[], first = 0): Batch {
    const records = values.map(
      (value, index): KafkaRecord => ({
        partition: 0,
        offset: String(first + index),
        key: null,
        value: Buffer.from(value),
        headers: {},
        timestamp: 1,
      }),
    );
    return {
      topic: 'contacts',
      partition: 0,
      records,
      lag: 0,
      isAssigned: () => this.isAssigned,
      isRebalancing: () => this.isRebalancing,
      withHeartbeats: (work) => work,
      done: async ({ offset }) => {
        this.events.push(`commit ${offset}`);
        this.committed = Number(offset) + 1;
        this.#sinceCommit = 0;
      },
    };
  }

  process(batch: Batch): Promise<void> {
    return this.#process(batch);
  }

  readonly #process = createBatchProcessor(STREAMS.contacts, this.deps);
}

const contact = (id: string) => JSON.stringify({ organization_id: 'org_a', contact_id: id });
const contacts = (count: number) => Array.from({ length: count }, (_, index) => contact(`c${index}`));
const numberOf = (id: string) => Number(id.slice(1));
const rejectedIds = (world: World) =>
  world.letters.map(({ record }) => JSON.parse(String(record.value)).contact_id as string);

describe('The batch processor', function () {
  this.timeout(60_000);
  let world: World;
  beforeEach(() => {
    world = new World();
  });

  it('writes a good batch with one write, and commits its last offset', async () => {
    await world.process(world.batch(contacts(BATCH)));
    expect(world.events).to.deep.equal(['write', `commit ${BATCH - 1}`]);
    expect(world.stored.size).to.equal(BATCH);
  });

  it('commits as it goes when one record of twenty is rejected, after a bounded number of writes', async () => {
    world.rejects = (id) => (numberOf(id) * 7919) % 20 === 0;
    await world.process(world.batch(contacts(BATCH)));
    expect(rejectedIds(world)).to.have.lengthOf(BATCH / 20);
    expect(rejectedIds(world).every(world.rejects)).to.equal(true);
    expect(world.stored.size).to.equal((BATCH * 19) / 20);
    expect(world.committed).to.equal(BATCH);
    expect(world.writesWithoutCommit).to.be.at.most(600);
    expect(world.writesWithoutProgress).to.be.at.most(5);
    expect(world.writes).to.be.at.most(3200);
  });

  it('finds the one rejected record of a full batch with few writes', async () => {
    world.rejects = (id) => id === 'c2345';
    await world.process(world.batch(contacts(BATCH)));
    expect(rejectedIds(world)).to.deep.equal(['c2345']);
    expect(world.writes).to.be.at.most(1 + BATCH / 500 + 25);
  });

  it('writes a batch once when the store wrote all but an erased contact, which becomes no dead letter', async () => {
    world.suppressed.add('c700');
    await world.process(world.batch(contacts(1000)));
    expect(world.events).to.deep.equal(['write', 'commit 999']);
    expect(world.stored.size).to.equal(999);
  });

  it('waits for a store that rejects even a record it has written before, and dead-letters nothing', async () => {
    await world.process(world.batch(contacts(10)));
    world.rejects = () => true;
    let sleeps = 0;
    world.onSleep = () => {
      if (++sleeps === 3) world.rejects = () => false;
    };
    const before = world.writes;
    await world.process(world.batch(contacts(BATCH), 10));
    expect(world.letters).to.deep.equal([]);
    expect(sleeps).to.equal(3);
    expect(world.stored.size).to.equal(BATCH);
    expect(world.writes - before, 'few writes for each look at the store').to.be.at.most(400);
  });

  it('waits for a store that rejects everything when it has written nothing yet', async () => {
    world.rejects = () => true;
    world.onSleep = () => world.abort.abort();
    await world.process(world.batch(contacts(500)));
    expect(world.letters).to.deep.equal([]);
    expect(world.committed).to.equal(0);
  });

  it('dead-letters many consecutive bad records while the store still writes good ones', async () => {
    world.rejects = (id) => numberOf(id) >= 1000 && numberOf(id) < 3000;
    await world.process(world.batch(contacts(BATCH)));
    expect(rejectedIds(world)).to.have.lengthOf(2000);
    expect(world.committed).to.equal(BATCH);
    expect(world.events).not.to.include('outage');
  });

  it('sends dead letters once, after the write and before the commit', async () => {
    world.rejects = (id) => id === 'c1';
    let tries = 0;
    const rejects = world.rejects;
    world.rejects = (id) => {
      if (++tries === 1) throw new StoreUnavailableError('records');
      return rejects(id);
    };
    await world.process(world.batch([contact('c0'), 'not JSON', contact('c1'), contact('c2')]));
    expect(world.events.filter((event) => event !== 'write')).to.deep.equal([
      'outage',
      'letters 2',
      'commit 3',
    ]);
    expect(world.letters.map(({ record, stage }) => [record.offset, stage])).to.deep.equal([
      ['1', 'decode'],
      ['2', 'write'],
    ]);
  });

  it('dead-letters what stands for records that cannot be read, and writes those around it', async () => {
    const batch = world.batch(contacts(3));
    const unreadable = { reason: 'too large', first: '1', last: '4', valueBytes: 9 } as const;
    Object.assign(batch.records[1] as KafkaRecord, { unreadable });
    await world.process(batch);
    expect([...world.stored]).to.deep.equal(['c0', 'c2']);
    const [{ reason } = {}] = world.letters;
    expect(reason).to.include({ code: 'batch_too_large' });
    expect(reason?.detail).to.contain('offsets 1 to 4');
  });

  it('dead-letters no record over which the writer fails with a fault of its own', async () => {
    world.rejects = (id) => {
      if (id === 'c7') throw new TypeError("Cannot read properties of undefined (reading 'length')");
      return false;
    };
    const error = await world.process(world.batch(contacts(10))).catch((error: unknown) => error);
    expect(world.letters).to.deep.equal([]);
    expect(world.committed).to.equal(0);
    expect(error).to.include({ name: 'UnexpectedWriteError' });
    expect((error as Error).cause).to.be.instanceOf(TypeError);
  });

  it('commits a write that ends while the group rebalances', async () => {
    world.isRebalancing = true;
    await world.process(world.batch(contacts(10)));
    expect(world.committed).to.equal(10);
  });

  it('leaves the batch unwritten when the store is unavailable while the group rebalances', async () => {
    world.isRebalancing = true;
    world.rejects = () => {
      throw new StoreUnavailableError('records');
    };
    await world.process(world.batch(contacts(10)));
    expect(world.events).to.deep.equal(['write', 'outage']);
  });

  it('commits no offset of a partition that is reassigned during the write', async () => {
    world.rejects = () => {
      world.isAssigned = false;
      return false;
    };
    await world.process(world.batch(contacts(10)));
    expect(world.events).to.deep.equal(['write']);
  });

  it('aborts a batch when the signal is aborted', async () => {
    world.rejects = () => {
      throw new StoreUnavailableError('records');
    };
    world.onSleep = () => world.abort.abort();
    await world.process(world.batch(contacts(10)));
    expect(world.events).to.deep.equal(['write', 'outage']);
  });

  it('rejects a record whose decoding throws, names it, and goes on with the others', async () => {
    const faults: [error: unknown, offset: string][] = [];
    const broken = new Error('decoding is broken');
    const stream: Stream = {
      ...(STREAMS.contacts as Stream),
      check(record) {
        if ((record as { contact_id: string }).contact_id === 'c1') throw broken;
        return null;
      },
    };
    const onFault = (error: unknown, { offset }: KafkaRecord) => void faults.push([error, offset]);
    await createBatchProcessor(stream, { ...world.deps, onFault })(world.batch(contacts(3)));
    expect([...world.stored]).to.deep.equal(['c0', 'c2']);
    expect(world.letters.map(({ reason }) => reason.code)).to.deep.equal(['not_decodable']);
    expect(faults).to.deep.equal([[broken, '1']]);
    expect(world.committed).to.equal(3);
  });

  it('takes records with the time of any producer, and lists of any depth', async () => {
    const deep = `{"organization_id":"org_a","contact_id":"deep","phones":${'['.repeat(6000)}${']'.repeat(6000)}}`;
    const batch = world.batch([...contacts(2), deep]);
    for (const [index, timestamp] of [1.7e18, Number.MAX_SAFE_INTEGER, -5].entries())
      (batch.records[index] as KafkaRecord).timestamp = timestamp;
    await world.process(batch);
    expect([...world.stored]).to.deep.equal(['c0', 'c1']);
    expect(world.letters.map(({ reason }) => reason.code)).to.deep.equal(['too_deep']);
    const delivery = JSON.stringify({
      organization_id: 'org_a',
      date: '2026-01-02',
      campaign_id: 'c',
      creative_id: 'r',
    });
    const deliveries = createBatchProcessor(STREAMS['network-a-deliveries'] as Stream, {
      ...world.deps,
      writer: { write: async () => [], writeWhole: async () => [] },
    });
    const nanoseconds = world.batch([delivery]);
    (nanoseconds.records[0] as KafkaRecord).timestamp = 1.7e18;
    await deliveries(nanoseconds);
    expect(world.events.at(-1)).to.equal('commit 0');
  });

  it('keeps a record that was deleted and inserted again, though its source is an hour late, in one batch or several', async () => {
    const at = (time: string) => Date.parse(`2026-08-01T${time}:00Z`);
    const row = (first_name: string) => ({ organization_id: 'org_a', contact_id: 'c', first_name });
    const change = (op: string, time: string, fields: object) =>
      JSON.stringify({
        before: null,
        after: null,
        op,
        source: { ts_ms: at(time) },
        ts_ms: at('11:00'),
        ...fields,
      });
    const messages = [
      change('c', '09:00', { after: row('first') }),
      change('d', '10:00', { before: { organization_id: 'org_a', contact_id: 'c' } }),
      null,
      change('c', '10:05', { after: row('second') }),
      change('u', '10:30', { after: row('third') }),
    ];
    for (const size of [1, 2, 5]) {
      let state: StoredContact | Deletion | undefined;
      const write = async (records: readonly OrderedRecord<object>[]) => {
        for (const ordered of records)
          state = applyRecord(state, ordered as OrderedRecord<ContactRecord>) ?? state;
        return [];
      };
      const process = createBatchProcessor(STREAMS.contacts, {
        ...world.deps,
        writer: { write, writeWhole: write },
      });
      const { records } = world.batch(messages.map((message) => message ?? ''));
      for (const [index, record] of records.entries()) {
        Object.assign(record, { key: Buffer.from('org_a/c'), timestamp: at('11:00') });
        if (messages[index] === null) record.value = null;
      }
      for (let start = 0; start < records.length; start += size)
        await process({ ...world.batch([]), records: records.slice(start, start + size) });
      expect(state).to.have.nested.property('body.first_name', 'third');
    }
  });
});
