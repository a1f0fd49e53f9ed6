/** Limits of a Kafka batch: fetch size of a partition, batch size of the processor, and decompressed size. */

const KIB = 1024;
const MIB = 1024 * KIB;

/**
 * Fetch size of a partition in bytes, and the most records of a batch, by the store that the records go to. ClickHouse takes large
 * inserts fastest; Elasticsearch takes longer per record, and small batches let every partition progress: no partition is more than
 * one fetch ahead of another.
 */
export const FETCH_LIMITS = {
  search: { fetchBytes: MIB, maxBatchRecords: 1000 },
  analytics: { fetchBytes: 6 * MIB, maxBatchRecords: 25_000 },
};

/**
 * Batches of several partitions that ClickHouse takes with one insert: each insert makes a part for each table and month, which costs
 * as much as thousands of rows.
 */
export const GROUP_LIMITS = { maxRecords: 100_000, maxWrites: 8, gatheredRecords: 50_000 };

/** A batch ends with the record that reaches this size. */
export const MAX_BATCH_BYTES = 8 * MIB;

/** Once a store has rejected a batch, it is written and committed in batches of this size, so that slow work is not done twice. */
export const RECORDS_AFTER_REJECTION = 500;

/** Partitions of one consumer whose batches are processed at the same time. */
export const PARTITION_CONCURRENCY = 8;

/** Fetch size of all partitions of a broker. */
export const FETCH_MAX_BYTES = 48 * MIB;

/** The broker answers a fetch with this many bytes or after this time: small writes are what costs the stores most. */
export const FETCH_MIN_BYTES = 64 * KIB;
export const FETCH_MAX_WAIT_MS = 500;

/** After an empty fetch the broker answers with the first record, or after this time, so that the member notices a rebalance. */
export const IDLE_MAX_WAIT_MS = 3000;

/** Replay, skip and the list of dead letters: less than any topic allows for a batch, so that one request sends a whole fetch. */
export const READ_LIMITS = { maxRecords: 500, maxBytes: MIB };

/** Decompressed size of one record batch of a producer; topics created here take 8 MiB as compressed. */
export const MAX_DECOMPRESSED_BATCH_BYTES = 128 * MIB;

/** Decompressed size of a partition's fetch after which its further record batches wait for the next fetch. */
export const MAX_DECOMPRESSED_FETCH_BYTES = 32 * MIB;
