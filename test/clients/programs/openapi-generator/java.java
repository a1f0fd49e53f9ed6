import generated.ApiClient;
import generated.api.ContactsApi;
import generated.api.IngestApi;
import generated.model.IngestRecord;
import generated.model.SearchContactsRequest;
import generated.model.WebsiteVisitsRecord;
import java.time.OffsetDateTime;
import java.util.List;

class Main {
  public static void main(String[] args) throws Exception {
    var client = new ApiClient();
    client.updateBaseUri(System.getenv("REACHLINE_URL"));
    client.setRequestInterceptor(request -> request.header("X-Api-Key", System.getenv("REACHLINE_API_KEY")));
    var search = new SearchContactsRequest().organizationId("org_demo").country("US").limit(2);
    var found = new ContactsApi(client).contactsSearch(search, null);
    var visit =
        new WebsiteVisitsRecord().id("visit_client").createdAt(OffsetDateTime.parse("2026-10-01T12:00:00Z"));
    var ingested = new IngestApi(client).ingest("website-visits", List.of(new IngestRecord(visit)), null, null, null, null, null, null);
    System.out.printf("{\"contacts\":%d,\"accepted\":%d}%n", found.getContacts().size(), ingested.getAccepted());
  }
}
