-- Statements, one on each line, as JSON where it holds other white space, with its parameters as JSON behind a tab.
-- Writes and definitions.
INSERT INTO default.deliveries (organization_id, impressions) VALUES ('x', 1)
INSERT INTO default.deliveries SELECT * FROM default.creative_deliveries
INSERT INTO FUNCTION file('x.csv') SELECT 1
"INSERT INTO default.deliveries FORMAT TabSeparated\nx"
CREATE TABLE default.x (a UInt8) ENGINE = Memory
CREATE TEMPORARY TABLE x (a UInt8)
CREATE DATABASE x
CREATE VIEW reachline.x AS SELECT 1
CREATE FUNCTION f AS x -> file('x')
CREATE DICTIONARY default.d (a UInt64) PRIMARY KEY a SOURCE(FILE(PATH '/etc/passwd' FORMAT 'TSV')) LAYOUT(FLAT()) LIFETIME(0)
CREATE NAMED COLLECTION c AS a = '1'
CREATE USER x IDENTIFIED BY 'x'
GRANT ALL ON *.* TO default
ALTER TABLE default.deliveries DELETE WHERE 1
DELETE FROM default.deliveries WHERE 1
UPDATE default.deliveries SET impressions = 0 WHERE 1
TRUNCATE TABLE default.deliveries
DROP TABLE default.deliveries
DROP DATABASE reachline SYNC
RENAME TABLE default.deliveries TO default.x
EXCHANGE TABLES default.deliveries AND default.campaigns
OPTIMIZE TABLE default.deliveries FINAL
DETACH TABLE default.deliveries
ATTACH TABLE x FROM '/etc' (a UInt8) ENGINE = MergeTree ORDER BY a
BACKUP DATABASE default TO File('/tmp/x')
RESTORE DATABASE default FROM File('/tmp/x')
-- The engine.
SET max_memory_usage = 0
SET readonly = 0
SYSTEM SHUTDOWN
SYSTEM DROP MARK CACHE
SYSTEM STOP MERGES
KILL QUERY WHERE 1
USE system
CHECK TABLE default.deliveries
BEGIN TRANSACTION
EXECUTE AS default SELECT 1
SHOW PROCESSLIST
SHOW GRANTS
SHOW USERS
-- Files, hosts and programs.
SELECT * FROM file('@secret@', 'CSV', 'a String')
SELECT * FROM FiLe('@secret@', LineAsString)
SELECT * FROM `file`('@secret@', LineAsString)
SELECT * FROM "file"('@secret@', LineAsString)
SELECT * /**/ FROM /* x */ file /**/ ('@secret@', LineAsString)
SELECT file('@secret@')
SELECT (SELECT file('@secret@'))
SELECT 1 WHERE 'x' IN (SELECT a FROM file('@secret@', 'CSV', 'a String'))
WITH f AS (SELECT * FROM file('@secret@', LineAsString)) SELECT * FROM f
WITH file('@secret@') AS f SELECT f
SELECT * FROM numbers(1) AS n JOIN (SELECT * FROM file('@secret@', LineAsString)) AS f ON 1
SELECT 1 UNION ALL SELECT 1 FROM file('@secret@', LineAsString)
SELECT arrayMap(x -> file('@secret@'), [1])
SELECT number FROM numbers(3) ORDER BY number WITH FILL FROM length(file('@secret@'))
SELECT number FROM numbers(3) LIMIT length(file('@secret@'))
SELECT * APPLY(file) FROM (SELECT '@secret@')
SELECT * REPLACE (file('@secret@') AS number) FROM numbers(1)
SELECT 1 QUALIFY file('@secret@') != ''
SELECT count() OVER w FROM numbers(1) WINDOW w AS (ORDER BY file('@secret@'))
SELECT number FROM numbers(3) ORDER BY number WITH FILL INTERPOLATE (number AS file('@secret@'))
SELECT quantile(length(file('@secret@')) / 100)(number) FROM numbers(3)
SELECT number FROM numbers(length(file('@secret@')))
SELECT * FROM values('a String', file('@secret@'))
SELECT 1 FROM numbers(1) ARRAY JOIN [file('@secret@')] AS a
SELECT 1 FROM numbers(1) AS n JOIN numbers(1) AS m ON n.number = length(file('@secret@'))
SELECT 1 FROM numbers(1) PREWHERE file('@secret@') != ''
SELECT count() FROM numbers(1) GROUP BY GROUPING SETS ((file('@secret@')))
SELECT number FROM numbers(1) LIMIT 1 BY file('@secret@')
SELECT sum(number) FILTER (WHERE file('@secret@') != '') FROM numbers(1)
SELECT sum(number) OVER (PARTITION BY file('@secret@')) FROM numbers(1)
WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT length(file('@secret@')) FROM r) SELECT * FROM r
SELECT fileOrNull('@secret@'), fileIf('@secret@', 1)
"SELECT 1 AS `x (alias y)\nFunction sum`, file('@secret@')"
FROM file('@secret@', LineAsString) SELECT *
SELECT * FROM url('@address@', LineAsString)
SELECT * FROM urlCluster('x', '@address@', LineAsString)
SELECT * FROM s3('@address@', 'CSV', 'a String')
SELECT * FROM executable('cat /etc/passwd', TabSeparated, 'a String')
SELECT * FROM remote('127.0.0.1', system.one)
SELECT * FROM mysql('127.0.0.1:3306', 'a', 'b', 'c', 'd')
SELECT * FROM postgresql('127.0.0.1:5432', 'a', 'b', 'c', 'd')
SELECT * FROM sqlite('/tmp/x.db', 't')
SELECT * FROM mongodb('127.0.0.1', 'a', 'b', 'c', 'd', 'e String')
SELECT * FROM python('x')
SELECT * FROM input('a String')
SELECT * FROM filesystem('/etc')
SELECT * FROM merge('system', 'processes')
SELECT * FROM cluster(default, system.one)
SELECT * FROM loop(numbers(1))
SELECT * FROM view(SELECT * FROM system.processes)
SELECT * FROM eval('DROP TABLE default.deliveries')
SELECT * FROM dictionary('x')
SELECT * FROM iceberg('file:///etc')
SELECT dictGet('x', 'a', 1)
SELECT joinGet('default.deliveries', 'a', 1)
SELECT addressToLine(1)
SELECT getServerSetting('max_server_memory_usage'), hostName(), serverUUID()
SELECT catboostEvaluate('/etc/passwd', 1)
SELECT AIGenerate('x')
SELECT sleep(3)
SELECT 1 INTO OUTFILE '@folder@/written'
SELECT 1 INTO OUTFILE '@folder@/written' TRUNCATE FORMAT CSV
DESCRIBE TABLE file('@secret@')
DESCRIBE TABLE (SELECT * FROM file('@secret@', LineAsString))
SHOW TABLES WHERE name IN (SELECT * FROM file('@secret@', LineAsString))
-- What others ask, and where things lie.
SELECT * FROM system.processes
SELECT query FROM `system`.`processes`
SELECT * FROM SYSTEM.processes
SELECT 1 WHERE 1 IN system.processes
SELECT query FROM processes	{"database":"system"}
SELECT query FROM {t:Identifier}	{"param_t":"system.processes"}
SELECT query FROM {d:Identifier}.{t:Identifier}	{"param_d":"system","param_t":"processes"}
SELECT * FROM system.server_settings
SELECT * FROM system.named_collections
SELECT * FROM system.disks
SELECT * FROM system.parts
SELECT t.metadata_path FROM system.tables AS t
SELECT COLUMNS('path') FROM system.databases
SELECT system.databases.data_path FROM system.databases
DESCRIBE TABLE nowhere.processes
-- What takes seconds for two texts, and cannot be interrupted.
SELECT levenshteinDistance('a', 'b')
SELECT editDistanceUTF8('a', 'b'), DAMERAULEVENSHTEINDISTANCE('a', 'b')
SELECT jaroWinklerSimilarity('a', 'b')
SELECT arrayLevenshteinDistance([1], [2]), arraySimilarity([1], [2], [1], [1])
SELECT arrayMap(x -> multiMatchAny(x, ['a']), ['b'])
SELECT multiFuzzyMatchAnyIndex('a', 1, ['a'])
SELECT multiSearchAllPositionsCaseInsensitiveUTF8('a', ['a'])
SELECT 'a' LIKE repeat('%a', 20000)
WITH repeat('a?', 9999) AS p SELECT match('a', p)
SELECT replaceRegexpAll('a', materialize('a'), 'b')
SELECT REGEXP_REPLACE('a', repeat('(a?)', 3000), 'b')
SELECT arrayMap(x -> splitByRegexp(x, 'a'), ['a'])
-- Several statements, and limits.
SELECT 1; DROP TABLE default.deliveries
SELECT 1;;SELECT 2
SELECT '\'; DROP TABLE default.deliveries; --' ; SELECT 1
SELECT 1 SETTINGS max_execution_time = 0
SELECT * FROM (SELECT 1 SETTINGS readonly = 0)
SELECT 1 FORMAT JSON SETTINGS max_memory_usage = 0
"SELECT 1 settings\u00a0readonly=0"
ＳＥＬＥＣＴ 1
SELECT 1	{"readonly":"0"}
SELECT 1	{"allow_ddl":"1"}
SELECT 1	{"max_rows_to_read":"0"}
SELECT 1	{"format_schema":"/etc/passwd"}
SELECT 1	{"output_format_schema":"/tmp/x"}
SELECT 1	{"max_threads = 1, readonly":"0"}
SELECT 1	{"param_x = '1', readonly":"0"}
SELECT 1 FORMAT Template
SELECT 1	{"default_format":"Protobuf"}
SELECT number FROM numbers(2000000)
SELECT groupArray(toString(number)) FROM numbers(100000000)
SELECT count() FROM numbers(1000000000000) WHERE cityHash64(number) = 1	{"max_execution_time":"0.5"}
-- EXPLAIN and DESCRIBE run nothing that SELECT may not.
EXPLAIN SELECT * FROM file('@secret@', LineAsString)
EXPLAIN SELECT (SELECT file('@secret@'))
EXPLAIN SYNTAX SELECT file('@secret@')
EXPLAIN AST SELECT * FROM url('@address@', LineAsString)
EXPLAIN SELECT * FROM system.processes
EXPLAIN SELECT * FROM default.deliveries
EXPLAIN ESTIMATE SELECT * FROM campaign_daily
EXPLAIN indexes = 1 SELECT * FROM campaign_daily
EXPLAIN projections = 1 SELECT * FROM campaign_daily
EXPLAIN TABLE OVERRIDE mysql() PARTITION BY x
EXPLAIN CURRENT TRANSACTION
EXPLAIN AST DROP TABLE default.deliveries
EXPLAIN PLAN INSERT INTO default.deliveries (organization_id) VALUES ('x')
EXPLAIN SELECT 1 SETTINGS readonly = 0
EXPLAIN SELECT 1 INTO OUTFILE '@folder@/written'
SELECT * FROM (EXPLAIN SELECT 1)
SELECT * FROM viewExplain('EXPLAIN', '', (SELECT * FROM default.deliveries))
DESCRIBE (SELECT * FROM (SELECT file('@secret@')))
DESCRIBE (SELECT 1 WHERE 1 IN (SELECT 1 FROM url('@address@', LineAsString)))
DESCRIBE (SELECT * FROM system.processes)
DESCRIBE default.deliveries
DESCRIBE TABLE system.processes
DESCRIBE remote('127.0.0.1', system.one)
DESCRIBE (SELECT 1 SETTINGS readonly = 0)
-- A clause of settings lowers limits only.
SELECT 1 SETTINGS readonly = 0
SELECT 1 SETTINGS max_memory_usage = 900000000
SELECT 1 SETTINGS max_execution_time = 31
SELECT 1 SETTINGS additional_table_filters = {'system.tables': '1'}
SELECT 1 SETTINGS query_plan_merge_filters = 1
SELECT 1 SETTINGS format_avro_schema_registry_url = 'http://127.0.0.1'
SELECT 1 SETTINGS max_threads = 1, log_comment = 'a\'b', readonly = 0
(SELECT 1 SETTINGS allow_ddl = 1) UNION ALL SELECT 2 SETTINGS max_threads = 1
SELECT 1 SETTINGS max_threads = 1 FORMAT Template
SELECT 1	{"additional_table_filters":"{}"}
SELECT 1	{"result_overflow_mode":"any"}
SELECT number FROM numbers(2000000)	{"result_overflow_mode":"break"}
SELECT 1	{"decompress":"1"}
-- Tables are out of sight, by any name.
SELECT * FROM default.deliveries
SELECT * FROM deliveries	{"database":"default"}
SELECT 1 IN default.creative_deliveries
SELECT default.creative_deliveries.clicks FROM campaign_daily
SELECT system.processes.query FROM system.tables
SELECT * FROM {t:Identifier}	{"param_t":"default.deliveries"}
SHOW CREATE TABLE default.deliveries
EXISTS TABLE default.deliveries
SHOW CREATE TABLE system.processes
SHOW TABLES WHERE 1
SHOW COLUMNS FROM campaigns WHERE name = 'x'
SHOW CLUSTERS
SHOW ENGINES INTO OUTFILE 'x'
SHOW SETTING readonly SETTINGS readonly = 0
SELECT * FROM system.databases
SELECT t.*, d.* FROM system.tables AS t JOIN system.databases AS d ON d.name = t.database
SELECT d.data_path FROM system.tables AS t JOIN system.databases AS d ON d.name = t.database
-- the structure of values is a text with expressions
SELECT y FROM values('x String, y String ALIAS file(''@secret@'')', 'a')
SELECT y FROM values('x String, y String MATERIALIZED file(''@secret@'')', 'a')
SELECT y FROM values('x String, y String DEFAULT file(''@secret@'')', ('a', 'b'))
SELECT y FROM VALUES('x String, y String ALIAS arrayMap(file, [''@secret@''])[1]', 'a')
SELECT y FROM values('x String, y String ALIAS hostName()', 'a')
DESCRIBE TABLE values('x String DEFAULT file(''@secret@'')', 'a')
EXPLAIN SELECT y FROM values('x String, y String ALIAS file(''@secret@'')', 'a')
SELECT y FROM values(concat('x String, y String AL', 'IAS file(''@secret@'')'), 'a')
SELECT y FROM values(('x String, y String ALIAS hostName()'), 'a')
SELECT y FROM sqlStandardValues('x String, y String ALIAS hostName()', 'a')
SELECT y FROM `values`('x String, y String ALIAS hostName()', 'a')
SELECT y FROM values({s:String}, 'a')	{"param_s":"x String, y String ALIAS hostName()"}
WITH 'x String, y String ALIAS hostName()' AS s SELECT y FROM values(s, 'a')
-- states of aggregate functions, whose bytes the client would choose
SELECT finalizeAggregation(CAST(unhex('00'), 'AggregateFunction(sum, UInt64)'))
SELECT finalizeAggregation(unhex('00')::AggregateFunction(sum, UInt64))
SELECT CAST([unhex('00')], 'Array(AggregateFunction(sum, UInt64))')
SELECT finalizeAggregation({x:AggregateFunction(sum, UInt64)})	{"param_x":"a"}
SELECT CAST(unhex('00'), {t:String})	{"param_t":"AggregateFunction(sum, UInt64)"}
SELECT CAST(unhex('00'), concat('Aggregate', 'Function(sum, UInt64)'))
SELECT CAST(unhex('00'), concat('Aggre', 'gateFunct', 'ion(sum, UInt64)'))
WITH concat('Aggre', 'gateFunct', 'ion(sum, UInt64)') AS t SELECT CAST(unhex('00'), t)
SELECT accurateCast(unhex('00'), reverse(')46tnIU ,mus(noitcnuFetagerggA'))
SELECT reinterpret(unhex('00'), concat('Aggre', 'gateFunct', 'ion(sum, UInt64)'))
SELECT JSONExtract('{"a":"x"}', 'a', concat('Aggre', 'gateFunct', 'ion(sum, UInt64)'))
SELECT arrayMap(CAST, ['x'], [concat('Aggre', 'gateFunct', 'ion(sum, UInt64)')])
