/** Corrections of kafkajs, which take effect once this file is imported. README.md in this folder gives the reason for each correction. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import Batch from 'kafkajs/src/consumer/batch.js';
import ConsumerGroup, { type ConsumerGroup as Group } from 'kafkajs/src/consumer/consumerGroup.js';
import Connection from 'kafkajs/src/network/connection.js';
import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import Metadata from 'kafkajs/src/protocol/requests/metadata/index.js';
import { FETCH_LIMITS } from '../limits.js';
import { type FetchBudget, MAGIC, MAGIC_AT, readRecordBatches } from './record-batches.js';

const require = createRequire(import.meta.url);

/** Throws for a version of kafkajs whose internals were not reviewed. */
export function requirePatchedVersion(version: string): void {
  if (version === '2.2.4') return;
  throw new Error(
    `Reachline corrects private parts of kafkajs 2.2.4, and kafkajs ${version} is installed. Install the versions of package-lock.json with npm ci.`,
  );
}
requirePatchedVersion((require('kafkajs/package.json') as { version: string }).version);

/** Decoder with which kafkajs reads responses. */
interface LibraryDecoder {
  offset: number;
  readInt32(): number;
  canReadBytes(count: number): boolean;
  readBytes(count: number): Buffer;
}

/** Bytes of the size with which a response begins. */
const SIZE_BYTES = 4;

// 1. Records are read by `readRecordBatches`: with a bound and checks, and one unreadable batch does not fail the fetch.
const budgets = new AsyncLocalStorage<FetchBudget>();
const DECODE_MESSAGES = 'kafkajs/src/protocol/requests/fetch/v4/decodeMessages.js';
const decodeMessageSet = require(DECODE_MESSAGES) as (decoder: LibraryDecoder) => Promise<unknown[]>;
(require.cache[require.resolve(DECODE_MESSAGES)] as NodeJS.Module).exports = async (
  decoder: LibraryDecoder,
) => {
  const size = decoder.readInt32();
  if (size <= 0 || !decoder.canReadBytes(size)) return [];
  const bytes = decoder.readBytes(size);
  if (bytes.length > MAGIC_AT && bytes.readInt8(MAGIC_AT) === MAGIC) {
    return readRecordBatches(
      bytes,
      budgets.getStore() ?? { maxBytes: FETCH_LIMITS.records.heldBytes, heldBytes: 0 },
    );
  }
  // The format of message sets before Kafka 0.11.
  decoder.offset -= size + SIZE_BYTES;
  return decodeMessageSet(decoder);
};

// 2. Fetches of nothing but transaction markers, or emptied by compaction, reach the handler, which commits their offsets.
Batch.prototype.isEmptyDueToFiltering = () => false;
Batch.prototype.isEmpty = function () {
  return this.rawMessages.length === 0;
};

/** Listener for events of a consumer group that kafkajs does not publish. */
export interface GroupListener {
  /** Called before a fetch from a broker. Returns how much memory the records of the fetch may take. */
  beforeFetch(group: Group, nodeId: number): FetchBudget;
  /** Joins the group. May leave the group at once. */
  join(join: () => Promise<void>, leave: () => Promise<void>): Promise<void>;
}

/** Listeners by the assigner of a consumer, because the assigner is the one object that a consumer and its group share. */
export const groupListeners = new WeakMap<object, GroupListener>();

const listenerOf = ({ assigners: [assigner] }: Group) => assigner && groupListeners.get(assigner);

// 3. Running batches are committed before the member joins its group again.
// 8. A consumer that stops while it joins leaves the group once it has joined.
const { joinAndSync } = ConsumerGroup.prototype;
ConsumerGroup.prototype.joinAndSync = async function () {
  const join = () => joinAndSync.call(this);
  return listenerOf(this)?.join(join, () => this.leave()) ?? join();
};

// 4. A fetch has a budget, which the first partitions may use up, so each fetch begins with another partition.
const { fetch, filterPartitionsByNode } = ConsumerGroup.prototype;
ConsumerGroup.prototype.fetch = function (nodeId) {
  const budget = listenerOf(this)?.beforeFetch(this, nodeId);
  return budget ? budgets.run(budget, () => fetch.call(this, nodeId)) : fetch.call(this, nodeId);
};
ConsumerGroup.prototype.filterPartitionsByNode = function (nodeId, assigned) {
  return filterPartitionsByNode.call(this, nodeId, assigned).map(({ topic, partitions }) => {
    const first = Math.floor(Math.random() * partitions.length);
    return { topic, partitions: [...partitions.slice(first), ...partitions.slice(0, first)] };
  });
};

// 5. The timer of pending requests runs only while requests are pending.
const { scheduleCheckPendingRequests } = RequestQueue.prototype;
RequestQueue.prototype.scheduleCheckPendingRequests = function () {
  if (this.pending.length > 0) scheduleCheckPendingRequests.call(this);
};

// 6. A new connection does not begin with leftover bytes of the old connection.
const { connect } = Connection.prototype;
Connection.prototype.connect = function () {
  if (!this.isConnected()) Object.assign(this, { chunks: [], bytesBuffered: 0, bytesNeeded: SIZE_BYTES });
  return connect.call(this);
};

// 7. A partition with an error does not prevent listing brokers and topics.
const { protocol } = Metadata;
Metadata.protocol = (version) => (payload) => {
  const { request, response } = protocol(version)(payload);
  if (payload.topics.length > 0) return { request, response };
  return { request, response: { ...response, parse: async (metadata) => metadata } };
};
