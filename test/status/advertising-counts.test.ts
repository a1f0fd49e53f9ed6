import { expect } from 'chai';
import type { AnalyticsQuery, AnalyticsStore } from '../../services/advertising/analytics-store.js';
import { readAdvertisingCounts, readDeliveryCounts } from '../../services/status/advertising-counts.js';
import { openTemporaryStore, type TemporaryStore } from '../advertising/helper.js';
import { accepted } from '../support/accepted.js';
import { rawSql } from '../support/raw-sql.js';

const T0 = Date.parse('2026-11-21T12:00:00.123Z');
const EMPTY = { records: 0, lastAcceptedAt: null };

const readAll = async (store: AnalyticsStore, organizationId: string) => ({
  campaigns: await readAdvertisingCounts.campaigns(store, organizationId),
  creatives: await readAdvertisingCounts.creatives(store, organizationId),
  companies: await readAdvertisingCounts.companies(store, organizationId),
  deliveries: await readAdvertisingCounts.deliveries(store, organizationId),
});

describe('Counts of advertising streams', () => {
  let opened: TemporaryStore;
  before(async () => {
    opened = await openTemporaryStore();
  });
  after(() => opened.dispose());

  it('are zero and null before the first record', async () => {
    expect(await readAll(opened.store, 'org_none')).to.deep.equal({
      campaigns: EMPTY,
      creatives: EMPTY,
      companies: EMPTY,
      deliveries: { ...EMPTY, lastDate: null },
    });
  });

  it('count each record once, and name the newest acceptance and day', async () => {
    const { store } = opened;
    const campaign = { organization_id: 'org', id: 'cam' };
    const delivery = (date: string, organization_id = 'org') => ({
      organization_id,
      date,
      campaign_id: 'cam',
      company_id: 'co',
    });
    await store.insertCampaigns(accepted([campaign], T0));
    await store.insertCampaigns(accepted([{ ...campaign, name: 'Renamed' }], T0 + 7));
    const days = [delivery('2026-11-19'), delivery('2026-10-01')];
    await store.insertDeliveries(accepted(days, T0 + 1));
    const byBoth = { ...delivery('2026-11-17'), creative_id: 'cre' };
    const byCreative = { ...byBoth, company_id: null };
    await store.insertDeliveries(accepted([byBoth, byCreative], T0 + 2));
    // The newest acceptance belongs to the oldest report.
    await store.insertDeliveries(
      accepted([{ ...delivery('2026-11-18'), reported_at: '2026-11-01T00:00:00.000123Z' }], T0 + 5),
    );
    await store.insertDeliveries(accepted([delivery('2026-11-20', 'org_other')], T0 + 9));
    expect(await readAll(store, 'org')).to.deep.equal({
      campaigns: { records: 1, lastAcceptedAt: T0 + 7 },
      creatives: EMPTY,
      companies: EMPTY,
      deliveries: { records: 5, lastAcceptedAt: T0 + 5, lastDate: '2026-11-19' },
    });
  });

  it('read a bounded number of rows of an organization with many deliveries', async () => {
    const { store } = opened;
    const deliveries = Array.from({ length: 25_000 }, (_, index) => ({
      organization_id: 'org_large',
      date: '2026-10-05',
      campaign_id: `campaign_${index}`,
      company_id: 'company',
    }));
    await store.insertDeliveries(accepted(deliveries, T0));
    const limited: AnalyticsStore = {
      ...store,
      query: <Row>(query: AnalyticsQuery, signal?: AbortSignal) =>
        store.query<Row>(
          { ...query, sql: rawSql(`${query.sql.text}\nSETTINGS max_rows_to_read = 20000`) },
          signal,
        ),
    };
    const { records, isApproximate, lastAcceptedAt, lastDate } = await readDeliveryCounts(
      limited,
      'org_large',
      undefined,
      24_000,
    );
    // Includes a mark.
    expect(records).to.equal(25_001);
    expect(isApproximate).to.equal(true);
    expect(lastDate).to.equal('2026-10-05');
    expect((lastAcceptedAt as number) % 1000).to.equal(0);
    const counted = await readDeliveryCounts(limited, 'org_large').catch((error: Error) => error.name);
    expect(counted).to.equal('StoreUnavailableError');
  });
});
