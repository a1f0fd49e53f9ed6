"""Queries the SQL endpoint at the given address as `clickhouse-connect` does, and prints what it got as JSON."""

import json
import sys
from datetime import date
from urllib.parse import urlsplit

import clickhouse_connect
from clickhouse_connect.driver.exceptions import DatabaseError

address, password = sys.argv[1:]
target = {"host": "127.0.0.1", "port": urlsplit(address).port, "database": "reachline"}


def rejection(action):
    try:
        action()
    except DatabaseError as error:
        return f"{type(error).__name__}: {error}"
    return "let in"


def stream_rows(client):
    with client.query_rows_stream("SELECT number, toString(number) AS text FROM numbers(200000)") as rows:
        count = total = 0
        for number, text in rows:
            count += 1
            total += number if text == str(number) else 0
        return [count, total]


with clickhouse_connect.get_client(**target, password=password) as client:
    day = client.query(
        "SELECT date, campaign_id, ad_spend, impressions FROM campaign_daily "
        "WHERE organization_id = {organization:String} AND date >= {day:Date} ORDER BY ALL LIMIT 2",
        parameters={"organization": "org_demo", "day": date(2026, 11, 1)},
    )
    result = {
        "timezone": str(client.server_tz),
        "columns": day.column_names,
        "types": [type(value).__name__ for value in day.result_rows[0]],
        "first": [str(value) for value in day.result_rows[0]],
        "parameters": client.query(
            "SELECT {list:Array(String)}, {none:Nullable(String)}, {text:String}",
            parameters={"list": ["it's", "b\\"], "none": None, "text": "a\tb\n'é"},
        ).result_rows,
        "streamed": stream_rows(client),
        "tables": [name for (name,) in client.query("SHOW TABLES").result_rows],
        "command": client.command("SELECT count() FROM creatives"),
        "parquet": client.raw_query("SELECT 1 AS a", fmt="Parquet")[:4].decode(),
        "rejections": [
            rejection(lambda: client.command("INSERT INTO default.campaigns (id) VALUES ('x')")),
            rejection(lambda: client.insert("default.campaigns", [["x"]], column_names=["id"])),
            rejection(lambda: client.query("SELECT * FROM file('/etc/passwd')")),
            rejection(lambda: clickhouse_connect.get_client(**target, password="wrong")),
        ],
    }
print(json.dumps(result))
