/** A record of a topic. */
import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { Unreadable } from './record-batches.js';

export type Headers = IHeaders;

export interface KafkaRecord {
  readonly partition: number;
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Headers;
  /** Milliseconds since the epoch: when the broker appended it, or the producer sent it. */
  readonly timestamp: number;
  /** Present when this stands for unreadable records. Key and value are the beginning of the first one's. */
  readonly unreadable?: Unreadable | undefined;
}

type Message = KafkaMessage & { unreadable?: Unreadable };

/** Reads from the message what is asked for: a message makes its key and value when they are read. */
class MessageRecord implements KafkaRecord {
  readonly partition: number;
  readonly timestamp: number;
  readonly #message: Message;

  constructor(partition: number, message: Message) {
    this.partition = partition;
    this.timestamp = Number(message.timestamp);
    this.#message = message;
  }

  get offset(): string {
    return this.#message.offset;
  }

  get key(): Buffer | null {
    return this.#message.key;
  }

  get value(): Buffer | null {
    return this.#message.value;
  }

  get headers(): Headers {
    return this.#message.headers ?? {};
  }

  get unreadable(): Unreadable | undefined {
    return this.#message.unreadable;
  }
}

export const toRecord = (partition: number, message: Message): KafkaRecord =>
  new MessageRecord(partition, message);

/** Bytes of key, value and headers. */
export function recordBytes({ key, value, headers = {} }: Pick<KafkaMessage, 'headers'> & Content): number {
  let bytes = (key?.length ?? 0) + (value?.length ?? 0);
  for (const [name, values] of Object.entries(headers)) {
    for (const each of [values].flat()) bytes += Buffer.byteLength(name) + Buffer.byteLength(each ?? '');
  }
  return bytes;
}

interface Content {
  key: Buffer | string | null;
  value: Buffer | string | null;
}
