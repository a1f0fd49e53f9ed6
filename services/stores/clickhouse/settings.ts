/** Every ClickHouse setting that Reachline sends, by where a statement runs. */
import type { Setting } from './bind.js';

type Settings = Record<string, Setting>;

export const DEFAULT_TIMEOUT_MS = 30_000;

/** Records per insert. Each month of an insert becomes a part, so a large batch costs little more than a small batch. */
export const BATCH_RECORDS = 25_000;

/** Maximum months of an insert. Each month becomes a part in every table of deliveries: about ten files, which are written and synced. */
export const MAX_MONTHS_PER_INSERT = 36;

const MEGABYTE = 1_000_000;

/** Settings that every query needs for correct results. */
export function commonSettings(name: string, timeoutMs: number): Settings {
  return {
    log_comment: name,
    max_execution_time: timeoutMs / 1000,
    exact_rows_before_limit: 1,
    async_insert: 0,
    max_partitions_per_insert_block: MAX_MONTHS_PER_INSERT,
    do_not_merge_across_partitions_select_final: 1,
    optimize_move_to_prewhere_if_final: 1,
    join_use_nulls: 1,
    output_format_json_quote_64bit_integers: 0,
    output_format_json_quote_decimals: 1,
    // Times of contacts are as in the API.
    date_time_input_format: 'best_effort',
  };
}

/** Bytes of memory beyond which groups and sorts go to disk. By default, a share of the memory also decides. */
const spillBeyond = (bytes: number) => ({
  max_bytes_before_external_group_by: bytes,
  max_bytes_before_external_sort: bytes,
  max_bytes_ratio_before_external_group_by: 0,
  max_bytes_ratio_before_external_sort: 0,
});

/**
 * Settings of a statement in the embedded engine. A connection keeps settings after the statement, so every statement sends the same names.
 */
export const embeddedSettings = (name: string, timeoutMs: number): Settings => ({
  ...commonSettings(name, timeoutMs),
  max_threads: 2,
  // By default, a thread needs a gigabyte of free memory. The engine has less memory, so every statement would run on one thread.
  max_threads_min_free_memory_per_thread: 0,
  max_memory_usage: 600 * MEGABYTE,
  // Rows of an INSERT SELECT that pass through the materialized views at once; by default a million.
  min_insert_block_size_rows: 250_000,
  // The engine compares this limit with all memory of the query, including readers: a low limit would send every block to disk, which takes
  // minutes.
  ...spillBeyond(450 * MEGABYTE),
});

/** Settings of a statement over HTTP. The status of the response then says whether the whole statement succeeded. */
export const httpSettings = (name: string, timeoutMs: number, isReplicated: boolean): Settings => ({
  ...commonSettings(name, timeoutMs),
  ...(isReplicated ? REPLICA_SETTINGS : {}),
  wait_end_of_query: 1,
});

/**
 * Settings of reads over HTTP. A server notices that a client has left only during read-only statements; the value 2 still accepts
 * settings.
 */
export const HTTP_READ_SETTINGS: Settings = { readonly: 2, cancel_http_readonly_queries_on_client_close: 1 };

/**
 * Settings of inserts that the server groups. It collects the rows of several inserts for a fraction of a second, and responds to each
 * insert once its rows are stored. The number of partitions has no limit here, because the server would count the partitions of all
 * collected inserts together and reject every insert.
 */
export const GROUPED_INSERT_SETTINGS: Settings = {
  async_insert: 1,
  wait_for_async_insert: 1,
  max_partitions_per_insert_block: 0,
};

/**
 * Settings for replicas. An insert is acknowledged once most replicas have it, and a replica that lacks an acknowledged insert rejects
 * reads. Both settings require one insert into a table at a time.
 */
const REPLICA_SETTINGS: Settings = {
  insert_quorum: 'auto',
  insert_quorum_parallel: 0,
  insert_quorum_timeout: 3000,
  select_sequential_consistency: 1,
  // By default, an insert is retried for minutes on a replica without a coordinator.
  insert_keeper_max_retries: 3,
  // By default, a deletion fails while any replica is down, although that replica deletes the rows once it is back.
  lightweight_deletes_sync: 1,
};

/**
 * Settings that mark an insert with a token. Without a token, replicas drop an insert that equals an earlier insert: a metric restated to
 * its former value would be lost.
 */
export const tokenSettings = (token: string | undefined): Settings =>
  token === undefined ? {} : { insert_deduplication_token: token };

/** Seconds that an analyst's statement may take. */
export const ANALYST_SECONDS = 30;

/** Limits of an analyst's statement in the embedded engine, which a request may lower. */
export const ANALYST_LIMITS: Record<string, number> = {
  max_execution_time: ANALYST_SECONDS,
  max_memory_usage: 400 * MEGABYTE,
  max_threads: 2,
  max_result_rows: 1_000_000,
  max_result_bytes: 200 * MEGABYTE,
  // Small blocks, because limits and KILL QUERY are checked between blocks.
  max_block_size: 1024,
};

/** Settings of an analyst's statement in the embedded engine that a request cannot change. */
export const ANALYST_SETTINGS: Settings = {
  result_overflow_mode: 'throw',
  ...spillBeyond(200 * MEGABYTE),
  allow_ddl: 0,
  allow_introspection_functions: 0,
  do_not_merge_across_partitions_select_final: 1,
  readonly: 1,
};
