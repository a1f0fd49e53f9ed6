import { setTimeout as pause } from 'node:timers/promises';
import type { IHeaders, Producer } from 'kafkajs';

export interface OutgoingRecord {
  key: Buffer | string | null;
  value: Buffer | string | null;
  headers?: IHeaders;
}

/** How often a request is retried, and how long the client waits in between. */
export interface RetryPolicy {
  retries: number;
  initialRetryTime: number;
  maxRetryTime: number;
}

/**
 * Sends at least once. It is not idempotent on purpose: kafkajs reuses the sequence numbers of a request whose answer was lost, so
 * that the broker takes the next records for duplicates and acknowledges them without appending them. A duplicate is harmless here,
 * because records carry an order that does not depend on how often they are written.
 *
 * kafkajs must not retry by itself either: a retry of its own leaves out the partitions whose leader moved to a broker that had
 * already answered. Each try here sends every record of the request again.
 */
export class KafkaProducer {
  readonly #producer: Pick<Producer, 'send'>;
  readonly #retry: RetryPolicy;

  /** `producer` is not idempotent, does not retry, and has one request in flight. */
  constructor(producer: Pick<Producer, 'send'>, retry: RetryPolicy) {
    this.#producer = producer;
    this.#retry = retry;
  }

  /** Resolves when every in-sync replica has every record. Rejects when the last retry failed: some may be there all the same. */
  async send(topic: string, messages: OutgoingRecord[]): Promise<void> {
    const { retries, initialRetryTime, maxRetryTime } = this.#retry;
    for (let retry = 0; ; retry++) {
      try {
        await this.#producer.send({ topic, messages, acks: -1 });
        return;
      } catch (error) {
        if (retry >= retries || !isRetriable(error)) throw error;
      }
      await pause(Math.min(initialRetryTime * 2 ** retry, maxRetryTime) * (0.5 + Math.random() / 2));
    }
  }
}

/** The name kafkajs gives to a retriable error once its own retries, which are none, are used up. */
const isRetriable = (error: unknown) => (error as Error).name === 'KafkaJSNumberOfRetriesExceeded';

/** Whether the broker refused a request because a record, or all of them, are larger than the topic allows. */
export function isTooLarge(error: unknown): boolean {
  const { type, cause } = error as { type?: string; cause?: unknown };
  if (type === 'MESSAGE_TOO_LARGE' || type === 'RECORD_LIST_TOO_LARGE') return true;
  return cause instanceof Error && isTooLarge(cause);
}
