/** Limits of a fetch and of a batch. */

const KIB = 1024;
const MIB = 1024 * KIB;

/** Partitions of one consumer whose batches are processed at the same time. */
export const PARTITION_CONCURRENCY = 8;

/** Limits on what a consumer may fetch and hold in memory. */
export interface FetchLimits {
  /** Fetch size of a partition. */
  partitionBytes: number;
  /** Fetch size of all partitions. */
  fetchBytes: number;
  /** Memory that the decompressed records of a fetch may take. A single larger record batch per broker is still read. */
  heldBytes: number;
  /** Maximum records of a batch. */
  maxBatchRecords: number;
}

const fetchLimits = (partitionBytes: number, maxBatchRecords: number): FetchLimits => ({
  partitionBytes,
  fetchBytes: PARTITION_CONCURRENCY * partitionBytes,
  heldBytes: 2 * PARTITION_CONCURRENCY * partitionBytes,
  maxBatchRecords,
});

/**
 * Limits by the store into which the records go. ClickHouse is fastest with large inserts. Elasticsearch takes longer per record, and small
 * batches let every partition make progress.
 */
export const FETCH_LIMITS = {
  records: fetchLimits(MIB, 1000),
  analytics: fetchLimits(6 * MIB, 25_000),
};

/** Memory of the objects of a record, in addition to its bytes. */
export const RECORD_OVERHEAD_BYTES = 256;

/**
 * Limits of the batches of several partitions that ClickHouse gets in one insert. Each insert makes a part per table and month, which costs
 * as much as thousands of rows.
 */
export const GROUP_LIMITS = { maxSize: 100_000, maxWrites: 8 };

/** Maximum bytes of a batch, unless one record is larger. */
export const MAX_BATCH_BYTES = 8 * MIB;

/** Maximum records of a write, and of a commit, once a store has rejected a batch, so that slow work is not repeated. */
export const RECORDS_AFTER_REJECTION = 500;

/** Bytes with which a broker responds to a fetch, unless a timeout passes first: small writes cost the stores most. */
export const FETCH_MIN_BYTES = 64 * KIB;
export const FETCH_MAX_WAIT_MS = 500;

/**
 * Limits of replay, skip and the list of dead letters: lower than the limit of any topic for a batch, so that one request sends a whole
 * fetch.
 */
export const READ_LIMITS = { maxRecords: 500, maxBytes: MIB };

/** Maximum decompressed bytes of one record batch of a producer. Topics that Reachline creates accept 8 MiB compressed. */
export const MAX_DECOMPRESSED_BATCH_BYTES = 128 * MIB;
