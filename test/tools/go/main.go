// What Grafana's data source calls through clickhouse-go. Arguments: address, password, compression.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
)

func call(title string, run func() (any, error)) {
	detail, err := run()
	if err != nil {
		fmt.Printf("not ok\t%s\t%s\n", title, strings.Join(strings.Fields(err.Error()), " "))
		return
	}
	fmt.Printf("ok\t%s\t%v\n", title, detail)
}

// rows reads every value into the type that the driver reports for its column.
func rows(db *sql.DB, query string, args ...any) (int, error) {
	results, err := db.QueryContext(context.Background(), query, args...)
	if err != nil {
		return 0, err
	}
	defer results.Close()
	types, err := results.ColumnTypes()
	if err != nil {
		return 0, err
	}
	values := make([]any, len(types))
	for index, column := range types {
		values[index] = reflect.New(column.ScanType()).Interface()
	}
	count := 0
	for results.Next() {
		if err := results.Scan(values...); err != nil {
			return count, err
		}
		count++
	}
	return count, results.Err()
}

func main() {
	methods := map[string]clickhouse.CompressionMethod{
		"none": clickhouse.CompressionNone, "gzip": clickhouse.CompressionGZIP, "lz4": clickhouse.CompressionLZ4,
		"zstd": clickhouse.CompressionZSTD, "br": clickhouse.CompressionBrotli,
	}
	db := clickhouse.OpenDB(&clickhouse.Options{
		Addr:        []string{os.Args[1]},
		Auth:        clickhouse.Auth{Database: "default", Username: "default", Password: os.Args[2]},
		Protocol:    clickhouse.HTTP,
		Compression: &clickhouse.Compression{Method: methods[os.Args[3]]},
		Settings:    clickhouse.Settings{"max_execution_time": 20},
		DialTimeout: 10 * time.Second,
	})
	text := func(query string, args ...any) (any, error) {
		var value string
		err := db.QueryRow(query, args...).Scan(&value)
		return value, err
	}
	count := func(query string, args ...any) func() (any, error) {
		return func() (any, error) { return rows(db, query, args...) }
	}
	some := func(query string) func() (any, error) {
		return func() (any, error) {
			found, err := rows(db, query)
			if err == nil && found == 0 {
				err = fmt.Errorf("no rows")
			}
			return found > 0, err
		}
	}
	call("ping", func() (any, error) { return true, db.PingContext(context.Background()) })
	call("version", func() (any, error) { return text("SELECT version()") })
	call("current database", func() (any, error) { return text("SELECT currentDatabase()") })
	call("databases", some("SHOW DATABASES"))
	call("tables", count("SELECT database, name FROM system.tables WHERE database = 'reachline' ORDER BY database, name"))
	call("raw tables", count("SELECT database, name FROM system.tables WHERE database = 'default'"))
	call("columns", some("SELECT database, table, name, type, comment FROM system.columns WHERE (database, table) IN (('reachline', 'campaigns'))"))
	call("describe", some(`DESCRIBE TABLE "reachline"."campaign_daily"`))
	call("values of a filter", some("SELECT DISTINCT status FROM reachline.campaigns LIMIT 1000 SETTINGS max_execution_time=10"))
	for _, view := range []string{"campaigns", "creatives", "companies", "campaign_daily", "creative_daily", "company_daily", "contacts", "audiences", "memberships", "website_visits"} {
		call("every value of "+view, some("SELECT * FROM reachline."+view))
	}
	call("a series", some("SELECT toDateTime(date) AS time, toFloat64(sum(ad_spend)) AS spend FROM campaign_daily GROUP BY time ORDER BY time"))
	call("parameters", func() (any, error) {
		return text("SELECT {word:String}", clickhouse.Named("word", "it's"))
	})
	call("positional parameters", func() (any, error) { return text("SELECT concat(?, 'x')", "it's") })
	call("types", some(`SELECT [1, NULL], ('a', toDate('2026-01-01')), map('a', [1]), toLowCardinality('x'), [toLowCardinality(toNullable('y')), NULL],
		toDecimal256(1.5, 12), toUUID('00000000-0000-0000-0000-000000000001'), toDateTime64(1, 3, 'UTC'), CAST('a', 'Enum8(\'a\' = 1)'), toFixedString('ab', 2), true, [[('x', 1)]], NULL, toIPv4('1.2.3.4')
		FROM numbers(5000)`))
	call("nothing found", func() (any, error) { return rows(db, "SELECT campaign_id FROM campaigns WHERE 0") })
	call("an error", func() (any, error) {
		_, err := text("SELECT nothing FROM campaigns")
		if err == nil || !strings.Contains(err.Error(), "nothing") {
			return nil, fmt.Errorf("not the error of the statement: %v", err)
		}
		return true, nil
	})
	call("a rejection", func() (any, error) {
		_, err := db.Exec("INSERT INTO reachline.campaigns (campaign_id) VALUES ('x')")
		if err == nil || !strings.Contains(err.Error(), "164") {
			return nil, fmt.Errorf("not rejected: %v", err)
		}
		return true, nil
	})
}
