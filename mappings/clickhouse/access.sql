-- Role of analysts, with its limits. `{{views}}` is CLICKHOUSE_DATABASE, `{{tables}}` is that name with _tables,
-- `{{copies}}` with _copies.
CREATE ROLE IF NOT EXISTS {{views}}_analyst;

GRANT SELECT ON {{views}}.* TO {{views}}_analyst;

-- A view reads its tables with the rights of the user who asks, so that the row policies of the tables hold.
GRANT SELECT ON {{tables}}.* TO {{views}}_analyst;

-- An analyst sees no row until a policy of the analyst, which is added to this one by OR, names organizations: docs/reference/sql.md.
CREATE ROW POLICY IF NOT EXISTS {{views}}_nothing ON {{tables}}.*
FOR SELECT USING 0 TO {{views}}_analyst;

-- A table may be swapped for another one while a statement is planned, and then has its name of this database.
CREATE ROW POLICY IF NOT EXISTS {{views}}_no_copies ON {{copies}}.*
FOR SELECT USING 0 TO {{views}}_analyst;

-- A server may hide tables from users without a policy. One of these users is the account of Reachline.
CREATE ROW POLICY IF NOT EXISTS {{views}}_everything ON {{tables}}.*
FOR SELECT USING 1 TO ALL EXCEPT {{views}}_analyst;

CREATE ROW POLICY IF NOT EXISTS {{views}}_all_copies ON {{copies}}.*
FOR SELECT USING 1 TO ALL EXCEPT {{views}}_analyst;

-- apply_deleted_mask: erased contacts are masked until their tables are dropped.
CREATE SETTINGS PROFILE IF NOT EXISTS {{views}}_analyst
SETTINGS readonly = 2, max_execution_time = 60 MAX 300, max_memory_usage = 8000000000 MAX 16000000000,
    max_result_rows = 10000000 MAX 10000000, select_sequential_consistency = 1,
    apply_deleted_mask = 1 CONST
TO {{views}}_analyst;

CREATE QUOTA IF NOT EXISTS {{views}}_analyst KEYED BY user_name
FOR INTERVAL 1 hour MAX queries = 3000, execution_time = 3600, read_rows = 100000000000
TO {{views}}_analyst;
