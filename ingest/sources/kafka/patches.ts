/** Corrections of kafkajs 2.2.4, in force once this file is imported. */
import { createRequire } from 'node:module';
import kafkajs from 'kafkajs';
import ConsumerGroup, {
  type Fetched,
  type ConsumerGroup as Group,
} from 'kafkajs/src/consumer/consumerGroup.js';
import Connection from 'kafkajs/src/network/connection.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import {
  FETCH_MAX_WAIT_MS,
  FETCH_MIN_BYTES,
  IDLE_MAX_WAIT_MS,
  MAX_DECOMPRESSED_BATCH_BYTES,
} from './batch-size.js';
import { DECOMPRESSORS } from './compression.js';
import { MAGIC, MAGIC_AT, readRecordBatches } from './record-batches.js';

/** A response begins with its size. */
const SIZE_BYTES = 4;
const TIMEOUT_CHECK_MS = 5000;

/** What kafkajs reads responses with. */
interface LibraryDecoder {
  offset: number;
  readInt32(): number;
  canReadBytes(count: number): boolean;
  readBytes(count: number): Buffer;
}

// kafkajs decompresses without a bound, and fails a whole fetch, again and again, for one record batch that it cannot read:
// https://github.com/tulios/kafkajs/issues/254
const require = createRequire(import.meta.url);
const DECODE_MESSAGES = 'kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js';
const decodeMessageSet = require(DECODE_MESSAGES) as (decoder: LibraryDecoder) => Promise<unknown[]>;
(require.cache[require.resolve(DECODE_MESSAGES)] as NodeJS.Module).exports = async (
  decoder: LibraryDecoder,
) => {
  const size = decoder.readInt32();
  if (size <= 0 || !decoder.canReadBytes(size)) return [];
  const bytes = decoder.readBytes(size);
  if (bytes.length > MAGIC_AT && bytes.readInt8(MAGIC_AT) === MAGIC) return readRecordBatches(bytes);
  // Message sets, as Kafka stored them before version 0.11.
  decoder.offset -= size + SIZE_BYTES;
  return decodeMessageSet(decoder);
};
for (const [type, decompress] of Object.entries(DECOMPRESSORS)) {
  (kafkajs.CompressionCodecs as Record<number, () => object>)[Number(type)] = () => ({
    compress: async () => {
      throw new Error('record batches are not compressed here');
    },
    async decompress(compressed: Buffer) {
      const { bytes, missing } = await decompress(compressed, MAX_DECOMPRESSED_BATCH_BYTES);
      if (missing) throw new Error(`a compressed message set is ${missing}`);
      return bytes;
    },
  });
}

// kafkajs looks for pending requests of each connection every millisecond, also while there are none:
// https://github.com/tulios/kafkajs/issues/1704
const { scheduleCheckPendingRequests } = RequestQueue.prototype;
RequestQueue.prototype.scheduleCheckPendingRequests = function () {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
};

// kafkajs looks for requests of each connection that timed out every 100 ms, although the time-out is 30 s:
// https://github.com/tulios/kafkajs/blob/v2.2.4/src/network/requestQueue/index.js
RequestQueue.prototype.scheduleRequestTimeoutCheck = function () {
  this.destroy();
  this.requestTimeoutIntervalId = setInterval(() => {
    for (const request of this.inflight.values()) {
      if (Date.now() - request.sentAt > request.requestTimeout) request.timeoutRequest();
    }
    if (!this.isConnected()) this.destroy();
  }, TIMEOUT_CHECK_MS);
};

// kafkajs keeps the beginning of a response that was cut off, and takes the first bytes of the next connection for its end:
// https://github.com/tulios/kafkajs/blob/v2.2.4/src/network/connection.js
const { connect } = Connection.prototype;
Connection.prototype.connect = function () {
  if (!this.isConnected()) Object.assign(this, { chunks: [], bytesBuffered: 0, bytesNeeded: SIZE_BYTES });
  return connect.call(this);
};

/** What a consumer is told of its group, which kafkajs keeps to itself. */
export interface GroupListener {
  /** A fetch, with the end of each partition. */
  onFetch(fetched: readonly Fetched[]): void;
  /** The member is about to join its group, which waits for it. */
  beforeJoin(group: Group): Promise<void>;
}

/** By an assigner of the consumer: the one object that a consumer and its group share. */
export const groupListeners = new WeakMap<object, GroupListener>();

const listenerOf = ({ assigners: [assigner] }: Group) => assigner && groupListeners.get(assigner);

// kafkajs joins its group again whatever is under way, and its commits are rejected from then on.
const { joinAndSync } = ConsumerGroup.prototype;
ConsumerGroup.prototype.joinAndSync = async function () {
  await listenerOf(this)?.beforeJoin(this);
  return joinAndSync.call(this);
};

// kafkajs polls an idle topic as often as a busy one, since the limits of a fetch cannot change:
// https://github.com/tulios/kafkajs/issues/1365
const { fetch } = ConsumerGroup.prototype;
const adaptive = new WeakSet<object>();
ConsumerGroup.prototype.fetch = async function (nodeId) {
  if (this.minBytes === FETCH_MIN_BYTES) adaptive.add(this);
  const fetched = await fetch.call(this, nodeId);
  listenerOf(this)?.onFetch(fetched);
  if (!adaptive.has(this)) return fetched;
  const isBusy = fetched.some(({ rawMessages }) => rawMessages.length > 0);
  this.minBytes = isBusy ? FETCH_MIN_BYTES : 1;
  this.maxWaitTime = isBusy ? FETCH_MAX_WAIT_MS : Math.min(IDLE_MAX_WAIT_MS, this.sessionTimeout / 3);
  return fetched;
};
