import {
  advertisingNetworkACampaigns,
  contactsGet,
  contactsSearch,
  ingest,
  metrics as readMetrics,
  readyz,
} from './generated';
import { client } from './generated/client.gen';

async function main() {
  const { REACHLINE_URL: baseUrl, REACHLINE_API_KEY: auth } = process.env;
  client.setConfig({ baseUrl, auth });
  const filters = { organization_id: 'org_demo', country: 'US', limit: 2 };
  const first = await contactsSearch({ body: filters });
  const cursor = first.data?.next_cursor ?? undefined;
  const second = await contactsSearch({ body: { ...filters, cursor } });
  const unknown = await contactsGet({ body: { organization_id: 'org_demo', contact_id: 'nobody' } });
  const campaigns = await advertisingNetworkACampaigns({
    body: {
      start_date: '2026-10-01',
      end_date: '2026-10-31',
      granularity: 'monthly',
      sort_by: 'clicks',
      page_size: 1,
    },
  });
  const ingested = await ingest({
    path: { stream: 'website-visits' },
    body: [{ id: 'visit_client', createdAt: '2026-10-01T12:00:00Z' }],
  });
  const ready = await readyz();
  const metrics = await readMetrics();
  console.log(
    JSON.stringify({
      contacts: first.data?.contacts.length,
      next: second.data?.contacts.length,
      problem: unknown.error?.code,
      points: campaigns.data?.items[0]?.timeseries.length,
      accepted: ingested.data?.accepted,
      ready: ready.data?.ready,
      metrics: metrics.data?.startsWith('# HELP'),
    }),
  );
}

void main();
