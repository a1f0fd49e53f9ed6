import datetime
import json
import os

import generated

configuration = generated.Configuration(host=os.environ["REACHLINE_URL"])
configuration.api_key["apiKey"] = os.environ["REACHLINE_API_KEY"]
with generated.ApiClient(configuration) as client:
    found = generated.ContactsApi(client).contacts_search(
        generated.SearchContactsRequest(organization_id="org_demo", country="US", limit=2)
    )
    visit = generated.WebsiteVisitsRecord(
        id="visit_client",
        createdAt=datetime.datetime(2026, 10, 1, 12, tzinfo=datetime.timezone.utc),
    )
    ingested = generated.IngestApi(client).ingest("website-visits", [generated.IngestRecord(visit)])
    print(json.dumps({"contacts": len(found.contacts), "accepted": ingested.accepted}))
