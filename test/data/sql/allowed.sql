-- Statements, one on each line, with the answer, as JSON or as a regular expression, and parameters, if any, each behind a tab.
SELECT impressions FROM campaign_daily	"7\n"
SELECT 'a;b' /* ; DROP TABLE x */ -- ; end	"a;b\n"
SELECT count(), sum(impressions) FROM reachline.creative_daily;	"1\t7\n"
select Count() from `reachline`.`campaigns`	"0\n"
WITH x AS (SELECT 'settings; file() into outfile' AS y) SELECT y FROM x	"settings; file() into outfile\n"
SELECT sum(number) FROM numbers(10) WHERE number IN (SELECT toUInt64(2))	"2\n"
SELECT sumIf(number, number > 8), quantilesExactIf(0.5)(number, number < 3), uniqExactIf(number, 1) FROM numbers(10)	"9\t[1]\t10\n"
SELECT arrayMap(x -> x + 1, [1]), CASE WHEN 1 THEN 2 ELSE 3 END, toDate32(0)::String, CAST(1, 'String')	"[2]\t2\t1970-01-01\t1\n"
SELECT row_number() OVER (PARTITION BY number % 2 ORDER BY number) AS r FROM numbers(2) ORDER BY r LIMIT 1 BY r	"1\n"
SELECT 1 UNION ALL SELECT 1	"1\n1\n"
SELECT 'Spring sale' ILIKE {p:String}, match('abc', concat('^', lower('AB'))), 'x' NOT LIKE '%y%', 'a-b' REGEXP 'a.b'	"1\t1\t1\t1\n"	{"param_p":"%SALE%"}
SELECT splitByRegexp('[,;]', 'a,b;c'), countMatches('aXbX', 'X')	"['a','b','c']\t2\n"
(SELECT 1) EXCEPT (SELECT 2)	"1\n"
SELECT {x:Array(UInt8)}[2]	"6\n"	{"param_x":"[5,6]"}
SELECT impressions FROM {t:Identifier}	"7\n"	{"param_t":"campaign_daily"}
SELECT 1 AS a FORMAT JSONCompactEachRow	"[1]\n"
SELECT [1, 2], toDecimal256(1.5, 3)	"[1,2]\t1.5\n"	{"output_format_json_quote_decimals":"1","max_threads":"1"}
SHOW TABLES	/^audiences\ncampaign_daily\ncampaigns\n/
SHOW TABLES FROM reachline LIKE 'comp%'	"companies\ncompany_daily\n"
SHOW DATABASES	/reachline/
SHOW CREATE TABLE reachline.campaign_daily	/^CREATE VIEW/
DESCRIBE TABLE reachline.campaign_daily	/^organization_id\tString/
DESC campaigns	/^organization_id\t/
EXISTS TABLE reachline.campaigns	"1\n"
SELECT name, comment FROM system.columns WHERE database = 'reachline' AND table = 'campaigns' LIMIT 1	/^organization_id\t/
SELECT name FROM system.tables WHERE database = 'reachline' ORDER BY name LIMIT 1	"audiences\n"
SELECT value FROM system.settings WHERE name = 'readonly'	"1\n"
SELECT value FROM system.settings WHERE name = 'max_block_size'	"1024\n"	{"max_block_size":"65536"}
SELECT value FROM system.settings WHERE name = 'max_block_size'	"10\n"	{"max_block_size":"10"}
-- What drivers and BI tools ask.
SELECT displayName(), timezone(), revision() > 54460	"reachline\tUTC\t1\n"
SELECT database(), CURRENT_DATABASE(), schema(), user()	"reachline\treachline\treachline\tdefault\n"
SELECT currentDatabase()	"reachline\n"	{"database":"default"}
SELECT 1	"1\n"	{"async_insert":"0","select_sequential_consistency":"1","wait_end_of_query":"0"}
SELECT number FROM numbers(3000)	/^0\n/	{"max_result_rows":"10","result_overflow_mode":"break"}
DESCRIBE (SELECT impressions FROM campaign_daily)	/^impressions\tUInt64/
DESCRIBE TABLE (SELECT 1 AS a) FORMAT JSONCompactEachRow	/^\["a", "UInt8"/
EXPLAIN SELECT 1	/ReadFrom/
EXPLAIN PLAN actions = 1, header = 1 SELECT clicks FROM campaign_daily WHERE clicks > 1	/ReadFrom/
EXPLAIN SYNTAX SELECT 1 + 1	/SELECT/
EXPLAIN PIPELINE WITH 1 AS x SELECT x	/\w/
SELECT DISTINCT campaign_id FROM campaigns SETTINGS max_execution_time = 10	""
SELECT value FROM system.settings WHERE name = 'max_threads' SETTINGS max_threads = 1 FORMAT JSONCompactEachRow	"[\"1\"]\n"
SELECT 'a SETTINGS b = 1' AS `SETTINGS c = 1` SETTINGS max_threads = 1	"a SETTINGS b = 1\n"
SHOW FUNCTIONS LIKE 'sumKahan'	/^sumKahan\t/
SHOW SETTINGS LIKE 'max_result_rows'	"max_result_rows\tUInt64\t1000000\n"
SHOW INDEXES FROM campaigns	/PRIMARY/
SHOW INDEXES FROM deliveries FROM default	""
SHOW TABLES FROM default	""
SHOW COLUMNS FROM deliveries FROM default	""
SELECT count() FROM system.columns WHERE database = 'default'	"0\n"
SELECT count() FROM information_schema.tables WHERE table_schema = 'default'	"0\n"
SELECT DISTINCT data_paths FROM system.tables	"[]\n"
SELECT system.tables.name FROM system.tables WHERE system.tables.database = 'reachline' AND empty(system.tables.data_paths) ORDER BY 1 LIMIT 1	"audiences\n"
SELECT t.name FROM system.tables t JOIN system.databases d ON system.tables.database = system.databases.name WHERE t.name = 'creatives'	"creatives\n"
SELECT name AS TABLE_NAME, * FROM system.tables WHERE database = 'reachline' LIMIT 1	/^audiences/
SELECT CAST(name, 'Nullable(String)') AS TABLE_NAME FROM system.tables WHERE (1 == 1) AND coalesce(TABLE_NAME, '') LIKE 'campaigns'	/campaigns/	{"default_format":"ODBCDriver2"}
SELECT table_name FROM information_schema.tables WHERE table_schema = 'reachline' AND table_name = 'campaigns'	"campaigns\n"
SELECT * FROM values((1, 'a'), (2, 'b')) FORMAT CSV	"1,\"a\"\n2,\"b\"\n"
SELECT * FROM (VALUES (1, 'a')) FORMAT CSV	"1,\"a\"\n"
SELECT sum(c1) FROM values(1, 2, 3)	"6\n"
SELECT * FROM values(tuple(1, upper('a'))) FORMAT CSV	"1,\"A\"\n"
SELECT sumMerge(s) FROM (SELECT sumState(number) AS s FROM numbers(4))	"6\n"
SELECT finalizeAggregation(sumState(number)) FROM numbers(4)	"6\n"
SELECT '7'::UInt8 + JSONExtract('{"a":1}', 'a', 'UInt8') + CAST('1', {t:String})	"9\n"	{"param_t":"UInt8"}
