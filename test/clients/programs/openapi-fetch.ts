import createClient from 'openapi-fetch';
import type { paths } from './generated/schema';

async function main() {
  const { REACHLINE_URL: baseUrl, REACHLINE_API_KEY: key = '' } = process.env;
  const api = createClient<paths>({ baseUrl, headers: { 'X-Api-Key': key } });
  const filters = { organization_id: 'org_demo', country: 'US', limit: 2 };
  const first = await api.POST('/api/contacts/search', { body: filters });
  const cursor = first.data?.next_cursor ?? undefined;
  const second = await api.POST('/api/contacts/search', { body: { ...filters, cursor } });
  const unknown = await api.POST('/api/contacts/get', {
    body: { organization_id: 'org_demo', contact_id: 'nobody' },
  });
  const campaigns = await api.POST('/api/advertising/network_a/campaigns', {
    body: {
      start_date: '2026-10-01',
      end_date: '2026-10-31',
      granularity: 'monthly',
      sort_by: 'clicks',
      page_size: 1,
    },
  });
  const ingested = await api.POST('/api/ingest/{stream}', {
    params: { path: { stream: 'website-visits' } },
    body: [{ id: 'visit_client', createdAt: '2026-10-01T12:00:00Z' }],
  });
  const ready = await api.GET('/readyz');
  const metrics = await api.GET('/metrics', { parseAs: 'text' });
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
