import { expect } from 'chai';
import type { Batch } from '../../ingest/sources/kafka/consumer.js';
import type { KafkaRecord } from '../../ingest/sources/kafka/record.js';
import { HEADER } from '../../ingest/worker/dead-letters.js';
import { isOutage, isRejection, type Write } from '../../ingest/write-records.js';
import type { OrderedRecord } from '../../services/shared/record-order.js';
import { RejectedError } from '../../services/shared/store-errors.js';
import { type Mutant, runSchedule } from './schedule.js';

/** Each mutant is found much earlier. */
const MOST_SCHEDULES = 400;

const lastOf = ({ records }: Batch) => records.at(-1) as KafkaRecord;

/** Writes records that differ from those that it got. */
const changed =
  (change: (records: readonly OrderedRecord<object>[]) => readonly OrderedRecord<object>[]) =>
  (write: Write): Write =>
  (records) =>
    write(change(records));

const timeless = (record: object) => ({ ...record, updated_at: undefined, reported_at: undefined });
let written = 0;

/** Faults of a worker. */
const MUTANTS: Record<string, Mutant> = {
  'commits before it writes': {
    processBatch: (process) => async (batch) => {
      await batch.done(lastOf(batch));
      await process(batch);
    },
  },
  'commits a batch that was aborted before its write': {
    processBatch: (process) => async (batch) => {
      await process(batch);
      await batch.done(lastOf(batch));
    },
  },
  'leaves a gap in its commits': {
    processBatch: (process) => (batch) =>
      process({
        ...batch,
        done: (last) => batch.done({ ...last, offset: String(Number(last.offset) + 1) }),
      }),
  },
  'lets the record that is written last win': {
    write: changed((records) =>
      records.map(({ record }) => ({ record: timeless(record), acceptedAt: ++written, sequence: 0 })),
    ),
  },
  'forgets the time that a record states': {
    write: changed((records) =>
      records.map(({ record, ...order }) => ({ ...order, record: timeless(record) })),
    ),
  },
  'forgets when a record was accepted': {
    write: changed((records) => records.map((each) => ({ ...each, acceptedAt: 0 }))),
  },
  'forgets the position of a record': {
    write: changed((records) => records.map((each) => ({ ...each, sequence: 0 }))),
  },
  'loses the first record of a write': { write: changed((records) => records.slice(1)) },
  'writes no more than a part of a batch': { write: changed((records) => records.slice(0, 2)) },
  'takes an outage for a rejection': {
    write: (write) => (records) =>
      write(records).catch((error) => {
        throw isOutage(error) ? new RejectedError('an outage') : error;
      }),
  },
  'takes an outage for a success': {
    write: (write) => (records) =>
      write(records).catch((error) => {
        if (!isOutage(error)) throw error;
      }),
  },
  'takes a rejection for a success': {
    write: (write) => (records) =>
      write(records).catch((error) => {
        if (!isRejection(error)) throw error;
      }),
  },
  'does not wait for its dead letters': {
    sendDeadLetters: (send) => async (batch, rejected) => {
      void send(batch, rejected).catch(() => undefined);
    },
  },
  'drops its dead letters': { sendDeadLetters: () => async () => undefined },
  'dead-letters the first record it rejects alone': {
    sendDeadLetters: (send) => (batch, rejected) => send(batch, rejected.slice(0, 1)),
  },
  'gives a replayed dead letter a new order': {
    replayed: ({ headers = {}, ...record }) => ({
      ...record,
      headers: Object.fromEntries(
        Object.entries(headers).filter(([name]) => name !== HEADER.acceptedAt && name !== HEADER.sequence),
      ),
    }),
  },
};

describe('The simulation of the batch processor finds a worker that', () => {
  for (const [name, mutant] of Object.entries(MUTANTS)) {
    it(name, async () => {
      let seed = 0;
      let found: string[] = [];
      while (found.length === 0 && seed < MOST_SCHEDULES) {
        seed++;
        found = (await runSchedule(seed, { mutant })).violations;
      }
      expect(found, `${MOST_SCHEDULES} schedules`).not.to.deep.equal([]);
      console.log(`        seed ${seed}: ${found[0]}`);
    });
  }
});
