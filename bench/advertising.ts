/** What a list over HTTP costs beside the statements it sends, put straight through the client to the same engine. */

import { resolve } from 'node:path';
import { createClient } from '@clickhouse/client';
import { createChdbConnection } from 'chdb/connection';
import { issueKey } from '../services/accounts/keys.js';
import type { AnalyticsQuery, AnalyticsStore } from '../services/advertising/analytics-store.js';
import type { DeliveryRecord } from '../services/advertising/records.js';
import { startGateway } from '../services/gateway/server.js';
import { loadConfig } from '../services/shared/config.js';
import { createLogger } from '../services/shared/logger.js';
import { inOrder } from '../services/shared/record-order.js';
import { DAY_MS, utcDate } from '../services/shared/time.js';
import { openStores } from '../services/stores/open-stores.js';
import { type Comparison, compare } from './measure.js';
import { randomSource } from './synthetic-contacts.js';

const CAMPAIGNS = 200;
const CREATIVES = 20;
const COMPANIES = 2000;
const DAYS = 360;
const ORGANIZATION = 'org_bench';

const day = (ago: number) => utcDate(Date.now() - ago * DAY_MS);

/** About 2 million rows: every creative each day, and 1 500 companies each day. */
async function load(analytics: AnalyticsStore): Promise<number> {
  const random = randomSource(2);
  const count = (most: number) => Math.floor(random() * most);
  await analytics.insertCampaigns(
    inOrder(
      Array.from({ length: CAMPAIGNS }, (_, index) => ({
        organization_id: ORGANIZATION,
        id: `cmp_${index}`,
        name: `Campaign ${index}`,
        status: index % 3 === 0 ? 'PAUSED' : 'ACTIVE',
        objective_type: 'WEBSITE_VISITS',
        currency: 'USD',
      })),
      Date.now(),
    ),
  );
  let rows = 0;
  for (let ago = DAYS; ago >= 1; ago--) {
    const records: DeliveryRecord[] = [];
    const add = (breakdown: Partial<DeliveryRecord>) => {
      const impressions = count(1000);
      records.push({
        organization_id: ORGANIZATION,
        date: day(ago),
        campaign_id: `cmp_${count(CAMPAIGNS)}`,
        impressions,
        clicks: count(impressions / 20),
        engagements: count(impressions / 10),
        reported_at: new Date().toISOString(),
        ...breakdown,
      });
    };
    for (let creative = 0; creative < CAMPAIGNS * CREATIVES; creative++) {
      add({
        campaign_id: `cmp_${creative % CAMPAIGNS}`,
        creative_id: `cre_${creative}`,
        ad_spend: `${count(100)}.${count(90) + 10}`,
      });
    }
    for (let company = 0; company < 1500; company++) add({ company_id: `com_${count(COMPANIES)}` });
    await analytics.insertDeliveries(inOrder(records, Date.now()));
    rows += records.length;
  }
  return rows;
}

export async function benchAdvertising(
  dataDir: string,
  progress: (text: string) => void,
): Promise<Comparison[]> {
  const config = loadConfig({ PORT: '0', REACHLINE_DATA_DIR: dataDir, REACHLINE_RATE_LIMIT: '0' });
  const stores = await openStores(config);
  const rows = await load(stores.analytics);
  progress(`${rows} deliveries loaded`);

  const sent: AnalyticsQuery[] = [];
  const analytics: typeof stores.analytics = {
    ...stores.analytics,
    query(query, signal) {
      sent.push(query);
      return stores.analytics.query(query, signal);
    },
  };
  const gateway = await startGateway(config, { search: stores.search, analytics }, createLogger('silent'));
  const key = await issueKey(stores.search, { organizationId: ORGANIZATION });
  const client = createClient({
    connection: createChdbConnection({ path: resolve(dataDir, 'clickhouse') }) as never,
    database: 'default',
  });

  async function list(path: string, body: object): Promise<number> {
    const begun = performance.now();
    const response = await fetch(`${gateway.url}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Api-Key': key },
      body: JSON.stringify(body),
    });
    await response.json();
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
    return performance.now() - begun;
  }

  async function raw(queries: readonly AnalyticsQuery[]): Promise<number> {
    const begun = performance.now();
    for (const { sql, params } of queries) {
      const result = await client.query({
        query: sql,
        query_params: params,
        format: 'JSONCompact',
        clickhouse_settings: {
          exact_rows_before_limit: 1,
          max_threads: 2,
          do_not_merge_across_partitions_select_final: 1,
          join_use_nulls: 1,
        },
      });
      await result.json();
    }
    return performance.now() - begun;
  }

  const results: Comparison[] = [];
  const lists: [string, string, object][] = [
    [
      'campaigns over 90 days',
      '/api/advertising/network_a/campaigns',
      { start_date: day(90), end_date: day(1) },
    ],
    [
      'creatives over 90 days',
      '/api/advertising/network_a/creatives',
      { start_date: day(90), end_date: day(1) },
    ],
    [
      'companies over 300 days',
      '/api/advertising/network_a/companies',
      { start_date: day(300), end_date: day(1), granularity: 'monthly' },
    ],
  ];
  try {
    for (const [name, path, body] of lists) {
      sent.length = 0;
      await list(path, body);
      const queries = [...sent];
      results.push(
        await compare(
          `${name} of ${rows} deliveries, over HTTP ÷ its ${queries.length} statements through the client`,
          'ms',
          { atMost: 1.2 },
          15,
          () => list(path, body),
          () => raw(queries),
        ),
      );
    }
    return results;
  } finally {
    await gateway.stop();
    await client.close();
    await stores.close();
  }
}
