/** Sends records to topics, at least once. */
import type { IHeaders, Producer } from 'kafkajs';
import { type RetryPolicy, retry } from '../../../services/shared/retry.js';

export interface OutgoingRecord {
  key: Buffer | string | null;
  value: Buffer | string | null;
  headers?: IHeaders;
}

export interface RecordSender {
  /**
   * Resolves when every in-sync replica has every record. Rejects when the last retry has failed; some records may still have been
   * appended.
   */
  send(topic: string, records: readonly OutgoingRecord[]): Promise<void>;
}

/**
 * Sends records with `producer`, which has one request in flight. The producer is not idempotent on purpose: kafkajs reuses the sequence
 * numbers of a request whose response was lost, so that the broker takes the next records for duplicates and acknowledges them without
 * appending them: https://github.com/tulios/kafkajs/issues/598. A duplicate is harmless here, because records carry an order that does not
 * depend on how often they are written. kafkajs must not retry by itself either: its retry omits the partitions whose leader moved to a
 * broker that had already responded: https://github.com/tulios/kafkajs/pull/1798. Each retry here sends every record of the request again.
 */
export const recordSender = (producer: Pick<Producer, 'send'>, policy: RetryPolicy): RecordSender => ({
  async send(topic, records) {
    const messages = [...records];
    await retry(policy, () => producer.send({ topic, messages, acks: -1 }), { isRetriable });
  },
});

/**
 * Whether an error is retriable. kafkajs uses this name for a retriable error once its own retries are used up; here, kafkajs has no
 * retries.
 */
const isRetriable = (error: unknown) => (error as Error).name === 'KafkaJSNumberOfRetriesExceeded';

/**
 * Sends records. Divides a request that is too large for its topic, so that all other records are appended. Resolves with the indices of
 * records that are too large even alone.
 */
export async function sendDivided(
  sender: RecordSender,
  topic: string,
  records: readonly OutgoingRecord[],
  first = 0,
): Promise<number[]> {
  try {
    await sender.send(topic, records);
    return [];
  } catch (error) {
    if (!isTooLarge(error)) throw error;
  }
  if (records.length === 1) return [first];
  const half = Math.ceil(records.length / 2);
  return [
    ...(await sendDivided(sender, topic, records.slice(0, half), first)),
    ...(await sendDivided(sender, topic, records.slice(half), first + half)),
  ];
}

/** Whether the broker rejected a request because a record, or the whole request, is larger than the topic allows. */
export function isTooLarge(error: unknown): boolean {
  const { type, cause } = error as { type?: string; cause?: unknown };
  if (type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE') return true;
  return cause instanceof Error && isTooLarge(cause);
}
