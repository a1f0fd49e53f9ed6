"""What notebooks and BI tools call. Arguments: client, URL, password. Prints a line for each call."""
import sys
from io import BytesIO
from urllib.request import urlopen
from urllib.parse import urlsplit

client_name, url, password = sys.argv[1:4]
host, port = urlsplit(url).hostname, urlsplit(url).port
VIEWS = ['campaigns', 'creatives', 'companies', 'campaign_daily', 'creative_daily', 'company_daily', 'contacts', 'audiences', 'memberships', 'website_visits']


def call(title, run):
    try:
        print(f'ok\t{title}\t{run()}'.replace('\n', ' '))
    except BaseException as error:  # Panics of polars are no Exception.
        message = ' '.join(f'{type(error).__name__}: {error}'.split())
        print(f'not ok\t{title}\t{message[:2000]}')


def rejects(run, words):
    try:
        run()
    except Exception as error:
        if words in str(error):
            return True
        raise
    raise AssertionError('not rejected')


def connect():
    import clickhouse_connect
    from clickhouse_connect import common

    common.set_setting('invalid_setting_action', 'send')
    client = clickhouse_connect.get_client(host=host, port=port, password=password)
    call('query', lambda: client.query('SELECT count() FROM reachline.campaigns').result_rows[0][0] > 0)
    for view in VIEWS:
        call(f'query_df of {view}', lambda view=view: len(client.query_df(f'SELECT * FROM reachline.{view}')) > 0)
    call('query_df_stream', lambda: sum(len(df) for df in stream(client)))
    call('query_np', lambda: client.query_np('SELECT number FROM numbers(3)').shape)
    call('query_arrow', lambda: client.query_arrow('SELECT * FROM campaigns').num_columns)
    call('money as floats', lambda: client.query_df('SELECT ad_spend FROM campaign_daily')['ad_spend'].astype(float).sum() > 0)
    call('parameters', lambda: client.query('SELECT {word:String}', parameters={'word': "it's"}).result_rows)
    call('settings', lambda: client.query('SELECT 1', settings={'max_execution_time': 10, 'max_threads': 1}).result_rows)
    call('types', lambda: client.query(
        "SELECT [1, NULL], ('a', toDate('2026-01-01')), map('a', [1]), toLowCardinality('x'), [toLowCardinality(toNullable('y')), NULL], "
        "toDecimal256(1.5, 12), toDateTime64(1, 3, 'UTC'), CAST('a', 'Enum8(\\'a\\' = 1)'), toFixedString('ab', 2), true, NULL, toIPv4('1.2.3.4')"
    ).result_rows)
    for compression in ['lz4', 'zstd', 'gzip', False]:
        other = clickhouse_connect.get_client(host=host, port=port, password=password, compress=compression)
        call(f'compress={compression}', lambda other=other: len(other.query('SELECT * FROM campaigns').result_rows) > 0)
    call('command', lambda: client.command('EXISTS TABLE reachline.campaigns'))
    call('raw tables', lambda: client.query("SELECT count() FROM system.tables WHERE database = 'default'").result_rows[0][0])
    call('rejection', lambda: rejects(lambda: client.command('DROP TABLE reachline.campaigns'), '164'))


def stream(client):
    with client.query_df_stream('SELECT number FROM numbers(200000)') as frames:
        yield from frames


def sqlalchemy():
    from sqlalchemy import MetaData, Table, create_engine, func, inspect, select, text

    engine = create_engine(f'clickhousedb://default:{password}@{host}:{port}/reachline')
    inspector = inspect(engine)
    call('get_schema_names', lambda: inspector.get_schema_names())
    call('get_table_names', lambda: inspector.get_table_names(schema='reachline'))
    call('get_view_names', lambda: inspector.get_view_names(schema='reachline'))
    call('get_columns', lambda: [column['name'] for column in inspector.get_columns('campaigns', schema='reachline')])
    call('get_pk_constraint', lambda: inspector.get_pk_constraint('campaigns', schema='reachline'))
    call('get_foreign_keys', lambda: inspector.get_foreign_keys('campaigns', schema='reachline'))
    call('get_indexes', lambda: inspector.get_indexes('campaigns', schema='reachline'))
    call('get_table_comment', lambda: inspector.get_table_comment('campaigns', schema='reachline'))
    call('has_table', lambda: inspector.has_table('campaigns', schema='reachline'))

    def reflected():
        table = Table('campaign_daily', MetaData(schema='reachline'), autoload_with=engine)
        with engine.connect() as connection:
            return connection.execute(select(func.sum(table.c.clicks))).scalar() > 0

    def scalar(sql, **parameters):
        with engine.connect() as connection:
            return connection.execute(text(sql), parameters).scalar()

    call('a reflected table', reflected)
    call('text with parameters', lambda: scalar('SELECT count() FROM campaigns WHERE organization_id = :id', id='org_demo') > 0)
    call('the preview of a BI tool', lambda: scalar('SELECT * FROM `reachline`.`campaigns` LIMIT 101'))
    call('a virtual data set', lambda: scalar('SELECT count(*) FROM (SELECT * FROM reachline.campaigns) AS virtual_table LIMIT 1000') > 0)
    call('EXPLAIN', lambda: scalar('EXPLAIN SELECT * FROM reachline.campaigns'))


def ibis():
    import ibis

    connection = ibis.clickhouse.connect(host=host, port=port, password=password, database='reachline')
    call('version', lambda: connection.version)
    call('list_databases', lambda: connection.list_databases())
    call('list_tables', lambda: connection.list_tables())
    call('list_tables of a database', lambda: connection.list_tables(database='reachline', like='camp'))
    daily = connection.table('campaign_daily')
    call('schema', lambda: list(daily.schema().names))
    call('aggregate', lambda: len(daily.group_by('campaign_id').aggregate(clicks=daily.clicks.sum()).execute()) > 0)
    call('join', lambda: len(daily.join(connection.table('campaigns'), ['organization_id', 'campaign_id']).limit(5).execute()))
    call('to_pyarrow', lambda: daily.limit(3).to_pyarrow().num_rows)
    call('to_polars', lambda: daily.limit(3).to_polars().height)


def polars():
    import polars as pl
    from sqlalchemy import create_engine

    engine = create_engine(f'clickhousedb://default:{password}@{host}:{port}/reachline')
    source = f'http://{host}:{port}/?password={password}&query=SELECT+*+FROM+reachline.campaign_daily&default_format='

    def read(reader, format):
        return reader(BytesIO(urlopen(source + format).read())).height > 0

    call('read_database', lambda: pl.read_database('SELECT campaign_id, clicks FROM campaign_daily LIMIT 5', engine.connect()).height)
    call('read_parquet', lambda: read(pl.read_parquet, 'Parquet'))
    call('read_ipc', lambda: read(pl.read_ipc, 'Arrow'))
    call('read_csv', lambda: read(pl.read_csv, 'CSVWithNames'))


{'connect': connect, 'sqlalchemy': sqlalchemy, 'ibis': ibis, 'polars': polars}[client_name]()
