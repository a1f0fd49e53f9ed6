CREATE QUOTA IF NOT EXISTS {{views}}_analyst KEYED BY user_name
FOR INTERVAL 1 hour MAX queries = 3000, execution_time = 3600, read_rows = 100000000000
TO {{views}}_analyst
