package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"client/generated"
)

func main() {
	configuration := generated.NewConfiguration()
	configuration.Servers = generated.ServerConfigurations{{URL: os.Getenv("REACHLINE_URL")}}
	client := generated.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), generated.ContextAPIKeys,
		map[string]generated.APIKey{"apiKey": {Key: os.Getenv("REACHLINE_API_KEY")}})

	request := generated.NewSearchContactsRequest("org_demo")
	request.SetCountry("US")
	request.SetLimit(2)
	found, _, err := client.ContactsAPI.ContactsSearch(ctx).SearchContactsRequest(*request).Execute()
	if err != nil {
		panic(err)
	}
	visit := generated.NewWebsiteVisitsRecord("visit_client", time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC))
	records := []generated.IngestRecord{{WebsiteVisitsRecord: visit}}
	ingested, _, err := client.IngestAPI.Ingest(ctx, "website-visits").IngestRecord(records).Execute()
	if err != nil {
		panic(err)
	}
	fmt.Printf("{\"contacts\":%d,\"accepted\":%d}\n", len(found.Contacts), ingested.Accepted)
}
