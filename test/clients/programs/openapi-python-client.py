import datetime
import json
import os

from generated.api.advertising import advertising_network_a_campaigns
from generated.api.contacts import contacts_get, contacts_search
from generated.api.ingest import ingest
from generated.api.operations import metrics, readyz
from generated.client import AuthenticatedClient
from generated.models import (
    ContactsGetBody,
    IngestResponse,
    IngestStream,
    Problem,
    Readiness,
    AdvertisingNetworkACampaignsBody,
    AdvertisingNetworkACampaignsBodyGranularityType0,
    AdvertisingNetworkACampaignsBodySortByType0,
    SearchCampaignsResponse,
    ContactsSearchBody,
    SearchContactsResponse,
    WebsiteVisitsRecord,
)

client = AuthenticatedClient(
    base_url=os.environ["REACHLINE_URL"],
    token=os.environ["REACHLINE_API_KEY"],
    prefix="",
    auth_header_name="X-Api-Key",
)
filters = ContactsSearchBody(organization_id="org_demo", country="US", limit=2)
first = contacts_search.sync(client=client, body=filters)
assert isinstance(first, SearchContactsResponse)
assert first.next_cursor is not None
filters.cursor = first.next_cursor
second = contacts_search.sync(client=client, body=filters)
assert isinstance(second, SearchContactsResponse)
unknown = contacts_get.sync(
    client=client,
    body=ContactsGetBody(organization_id="org_demo", contact_id="nobody"),
)
assert isinstance(unknown, Problem)
campaigns = advertising_network_a_campaigns.sync(
    client=client,
    body=AdvertisingNetworkACampaignsBody(
        start_date=datetime.date(2026, 10, 1),
        end_date=datetime.date(2026, 10, 31),
        granularity=AdvertisingNetworkACampaignsBodyGranularityType0.MONTHLY,
        sort_by=AdvertisingNetworkACampaignsBodySortByType0.CLICKS,
        page_size=1,
    ),
)
assert isinstance(campaigns, SearchCampaignsResponse)
ingested = ingest.sync(
    IngestStream.WEBSITE_VISITS,
    client=client,
    body=[
        WebsiteVisitsRecord(
            id="visit_client",
            created_at=datetime.datetime(2026, 10, 1, 12, tzinfo=datetime.timezone.utc),
        )
    ],
)
assert isinstance(ingested, IngestResponse)
ready = readyz.sync(client=client)
assert isinstance(ready, Readiness)
text = metrics.sync(client=client)
print(
    json.dumps(
        {
            "contacts": len(first.contacts),
            "next": len(second.contacts),
            "problem": unknown.code,
            "points": len(campaigns.items[0].timeseries),
            "accepted": ingested.accepted,
            "ready": ready.ready,
            "metrics": str(text).startswith("# HELP"),
        }
    )
)
