CREATE SETTINGS PROFILE IF NOT EXISTS {{views}}_analyst {{on_cluster}}
SETTINGS readonly = 2, max_execution_time = 60 MAX 300, max_memory_usage = 8000000000 MAX 16000000000,
    max_result_rows = 10000000 MAX 10000000, distributed_product_mode = 'local', optimize_skip_unused_shards = 1
TO {{views}}_analyst
