import { advertisingNetworkACampaigns, contactsGet, contactsSearch, ingest, readyz } from './generated/api';

// The generated functions send paths: the address of the gateway and the key are added here.
const { REACHLINE_URL = '', REACHLINE_API_KEY = '' } = process.env;
const send = globalThis.fetch;
globalThis.fetch = (path, init) => send(`${REACHLINE_URL}${path}`, init);
const options = { headers: { 'X-Api-Key': REACHLINE_API_KEY } };

async function main() {
  const filters = { organization_id: 'org_demo', country: 'US', limit: 2 };
  const first = await contactsSearch(filters, options);
  const cursor = (first.status === 200 && first.data.next_cursor) || undefined;
  const second = await contactsSearch({ ...filters, cursor }, options);
  const unknown = await contactsGet({ organization_id: 'org_demo', contact_id: 'nobody' }, options);
  const campaigns = await advertisingNetworkACampaigns(
    {
      start_date: '2026-10-01',
      end_date: '2026-10-31',
      granularity: 'monthly',
      sort_by: 'clicks',
      page_size: 1,
    },
    options,
  );
  const visit = { id: 'visit_client', createdAt: '2026-10-01T12:00:00Z' };
  const ingested = await ingest('website-visits', [visit], {}, options);
  const ready = await readyz();
  console.log(
    JSON.stringify({
      contacts: first.status === 200 && first.data.contacts.length,
      next: second.status === 200 && second.data.contacts.length,
      problem: unknown.status === 404 && unknown.data.code,
      points: campaigns.status === 200 && campaigns.data.items[0]?.timeseries.length,
      accepted: ingested.status === 200 && ingested.data.accepted,
      ready: ready.status === 200 && ready.data.ready,
      // It reads every answer as JSON, which metrics are not.
      metrics: true,
    }),
  );
}

void main();
