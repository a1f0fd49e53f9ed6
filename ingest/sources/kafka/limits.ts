/** Limits of a fetch and of a batch. */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Partitions of one consumer whose batches are processed at the same time. */
export const PARTITION_CONCURRENCY = 8;

/** Bytes that a consumer may fetch and hold in memory. */
export interface FetchLimits {
  /** Fetch size of a partition. */
  partitionBytes: number;
  /** Fetch size of all partitions. */
  fetchBytes: number;
  /** Decompressed records of a fetch with their objects; one larger record batch for each broker is read all the same. */
  heldBytes: number;
  /** Most records of a batch. */
  maxBatchRecords: number;
}

const fetchLimits = (partitionBytes: number, maxBatchRecords: number): FetchLimits => ({
  partitionBytes,
  fetchBytes: PARTITION_CONCURRENCY * partitionBytes,
  heldBytes: 2 * PARTITION_CONCURRENCY * partitionBytes,
  maxBatchRecords,
});

/**
 * Limits by the store that the records go to. ClickHouse is fastest with large inserts. Elasticsearch takes longer per record, and small
 * batches let every partition make progress.
 */
export const FETCH_LIMITS = {
  records: fetchLimits(MIB, 1000),
  analytics: fetchLimits(6 * MIB, 25_000),
};

/** Objects of a record, beside its bytes. */
export const RECORD_OVERHEAD_BYTES = 256;

/**
 * Batches of several partitions that ClickHouse takes with one insert: each insert makes a part for each table and month, which costs
 * as much as thousands of rows.
 */
export const GROUP_LIMITS = { maxSize: 100_000, maxWrites: 8 };

/** Bytes of a batch, unless one record is larger. */
export const MAX_BATCH_BYTES = 8 * MIB;

/** Once a store has rejected a batch, it is written and committed in batches of this size, so that slow work is not done twice. */
export const RECORDS_AFTER_REJECTION = 500;

/** The broker answers a fetch with this many bytes or after this time: small writes are what costs the stores most. */
export const FETCH_MIN_BYTES = 64 * KIB;
export const FETCH_MAX_WAIT_MS = 500;

/** Replay, skip and the list of dead letters: less than any topic allows for a batch, so that one request sends a whole fetch. */
export const READ_LIMITS = { maxRecords: 500, maxBytes: MIB };

/** Decompressed size of one record batch of a producer; topics created here take 8 MiB as compressed. */
export const MAX_DECOMPRESSED_BATCH_BYTES = 128 * MIB;
