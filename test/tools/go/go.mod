module reachline/tools

go 1.25.0

require github.com/ClickHouse/clickhouse-go/v2 v2.50.0
