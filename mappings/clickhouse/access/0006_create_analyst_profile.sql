CREATE SETTINGS PROFILE IF NOT EXISTS {{views}}_analyst
SETTINGS readonly = 2, max_execution_time = 60 MAX 300, max_memory_usage = 8000000000 MAX 16000000000,
    max_result_rows = 10000000 MAX 10000000, select_sequential_consistency = 1
TO {{views}}_analyst
