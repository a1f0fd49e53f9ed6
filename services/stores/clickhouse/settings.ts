import type { Setting } from './bind.js';

export const DEFAULT_TIMEOUT_MS = 30_000;

/** Each month of an insert is a part of its own in every table of deliveries: some ten files, written and synced. */
export const MAX_MONTHS_PER_INSERT = 36;

/** Settings without which a statement means something else, wherever it runs. */
export function commonSettings(name: string, timeoutMs: number): Record<string, Setting> {
  return {
    log_comment: name,
    max_execution_time: timeoutMs / 1000,
    exact_rows_before_limit: 1,
    async_insert: 0,
    max_partitions_per_insert_block: MAX_MONTHS_PER_INSERT,
    do_not_merge_across_partitions_select_final: 1,
    join_use_nulls: 1,
    output_format_json_quote_64bit_integers: 0,
    output_format_json_quote_decimals: 1,
  };
}

/** What the tables of a cluster need to answer as those of one server. */
export const CLUSTER_SETTINGS: Record<string, Setting> = {
  // An organization lives on one shard, so that what its rows are joined with or looked up in is there too.
  distributed_product_mode: 'local',
  optimize_skip_unused_shards: 1,
  // Reads go to the replica that was written to, as long as it answers.
  load_balancing: 'in_order',
  distributed_foreground_insert: 1,
  // By default rows equal to ones inserted before are dropped: a figure restated back to what it was would be lost.
  insert_deduplicate: 0,
  distributed_ddl_task_timeout: 60,
  distributed_ddl_output_mode: 'throw',
};
