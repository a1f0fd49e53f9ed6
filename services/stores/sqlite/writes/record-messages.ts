import { type OrderedRecord, type OrganizationRecord, organizationOf } from '../../../shared/record-order.js';
import { PartialWriteError, RecordRejectedError } from '../../../shared/store-errors.js';
import type { WorkerClient } from '../workers/worker-client.js';
import type { RecordOperations, RecordWriter, WriteOperations } from './write-operations.js';

export type Writer = WorkerClient<WriteOperations & RecordOperations>;

/** Records per message: few enough that other requests are written between two messages. */
export const RECORDS_PER_MESSAGE = 500;

/** Sends records to the writer, which keeps the order of calls per organization. Throws `PartialWriteError`. */
export async function writeRecords(
  writer: Writer,
  operation: RecordWriter,
  records: readonly OrderedRecord<OrganizationRecord>[],
): Promise<void> {
  const messages = messagesOf(records);
  const written = messages.map(({ organizationId, indexes }) =>
    writer.callFor(organizationId, operation, JSON.stringify(indexes.map((index) => records[index]))),
  );
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

/** Records of one organization, with their indexes in the write. */
interface Message {
  organizationId: string;
  indexes: number[];
}

/** Groups records by organization, in order. The writer keeps the order of messages, while organizations take turns. */
function messagesOf(records: readonly OrderedRecord<OrganizationRecord>[]): Message[] {
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
