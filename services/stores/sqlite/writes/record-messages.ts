import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { type OrderedRecord, organizationOf } from '../../../shared/record-order.js';
import { PartialWriteError, RecordRejectedError } from '../../../shared/store-errors.js';
import type { WorkerClient } from '../workers/worker-client.js';
import type { BatchResult } from './write-batch.js';
import type { RecordOperations, RecordWriter, WriteOperations } from './write-operations.js';

export type Writer = WorkerClient<WriteOperations & RecordOperations>;

/** Few enough that serializing them does not hold up the event loop. */
export const RECORDS_PER_MESSAGE = 500;

type Organized = Parameters<typeof organizationOf>[0];

/** Records of one organization, by their indexes in the write. */
interface Message {
  organizationId: string;
  indexes: number[];
}

/** Sends the records of writes to the writer in the order of calls. */
export class RecordMessages {
  readonly #writer: Writer;
  #sending: Promise<unknown> = Promise.resolve();

  constructor(writer: Writer) {
    this.#writer = writer;
  }

  /** Yields to the event loop between two messages. Throws `PartialWriteError`. */
  async write(writer: RecordWriter, records: readonly OrderedRecord<Organized>[]): Promise<void> {
    const written: Promise<BatchResult['rejected']>[] = [];
    const messages = messagesOf(records);
    const send = async () => {
      for (const { organizationId, indexes } of messages) {
        if (written.length > 0) await yieldToEventLoop();
        const json = JSON.stringify(indexes.map((index) => records[index]));
        written.push(this.#writer.callFor(organizationId, writer, json));
      }
    };
    this.#sending = this.#sending.then(send);
    await this.#sending;
    const results = await Promise.allSettled(written);
    const rejected = new Map<number, RecordRejectedError>();
    for (const [at, result] of results.entries()) {
      if (result.status === 'rejected') throw result.reason;
      for (const { index, code, pointer, detail } of result.value) {
        rejected.set(messages[at]?.indexes[index] as number, new RecordRejectedError(code, pointer, detail));
      }
    }
    if (rejected.size > 0) throw new PartialWriteError(rejected);
  }

  /** Resolves when every record is sent. */
  async idle(): Promise<void> {
    await this.#sending;
  }
}

/** Of one organization each, in its order: the writer keeps the order of its messages, while organizations take turns. */
function messagesOf(records: readonly OrderedRecord<Organized>[]): Message[] {
  const messages: Message[] = [];
  const last = new Map<string, Message>();
  for (const [index, { record }] of records.entries()) {
    const organizationId = organizationOf(record);
    let message = last.get(organizationId);
    if (!message || message.indexes.length >= RECORDS_PER_MESSAGE) {
      message = { organizationId, indexes: [] };
      last.set(organizationId, message);
      messages.push(message);
    }
    message.indexes.push(index);
  }
  return messages;
}
